"""What is true of all names of a trainer, and how single numbers of it differ from the board's; the names themselves stand with the metrics."""
