"""What a session holds: the view in the link, choices, filters, and what was computed for it."""
