"""Statistics of arrays, without a run: bootstrap, log-odds, differences of texts."""
