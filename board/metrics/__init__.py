"""Every metric once: what it is, what trainers call it, and the formulas and statistics it is made of. Numpy in, numpy out; knows no run."""
