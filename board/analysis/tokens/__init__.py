"""What is computed of tokens: places, extremes, colour ranges, segments of a response."""
