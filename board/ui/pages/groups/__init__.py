"""Groups: the responses to one prompt at one step."""
