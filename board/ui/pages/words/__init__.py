"""Words: phrases and vocabulary, and what they are paid."""
