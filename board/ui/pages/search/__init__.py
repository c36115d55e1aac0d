"""Search: texts and tokens found in a run."""
