"""Browser parts with a Python face: each draws one thing, and knows no run and no link."""
