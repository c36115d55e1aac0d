"""One module for each kind of finding, found by itself: it holds `KIND`, and the pure functions that look for it."""
