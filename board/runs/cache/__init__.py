"""Parts of a run, in memory and on the disk, and the tables derived from them."""
