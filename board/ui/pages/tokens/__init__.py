"""Tokens: one response token by token."""
