"""Browser parts with a Python face: each draws one thing and reports what the reader did.

They know neither runs nor the link.
"""
