"""What a script or an agent asks of a run, answered as plain data: the same few questions in the terminal, in Python and over MCP."""
