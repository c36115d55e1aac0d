"""Hosts the pages: one process, one port, addresses, who may speak to it, and what a browser may do."""
