"""A run while it is read: which ranges first, what is there so far, what is missing."""
