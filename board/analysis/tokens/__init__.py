"""Statistics of tokens: positions, extremes, colour ranges, segments of a response."""
