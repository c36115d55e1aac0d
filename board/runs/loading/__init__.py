"""A run while it is read: which ranges come first, what is read, what is missing."""
