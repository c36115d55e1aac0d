"""Responses: the list of rollouts, and one of them in full."""
