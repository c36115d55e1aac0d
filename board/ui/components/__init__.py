"""Browser parts with a Python face: each draws one thing and says what the reader did. Know no run and no place."""
