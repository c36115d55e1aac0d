"""Widgets and panels of several pages."""
