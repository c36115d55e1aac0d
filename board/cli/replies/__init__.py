"""Replies to scripts and agents about a run as plain data: the same few requests in the terminal, in Python and over MCP."""
