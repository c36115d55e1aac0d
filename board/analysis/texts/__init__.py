"""What is computed of texts: phrases, vocabulary, search, and the text metrics."""
