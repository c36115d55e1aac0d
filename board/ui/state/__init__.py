"""What a session holds: the view in the link, choices, filters, cached results."""
