"""What is computed per step: curves, tables, histograms, the list of metrics."""
