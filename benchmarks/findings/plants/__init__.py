"""What can be planted into a run: one class for each kind, by the words of its definition."""
