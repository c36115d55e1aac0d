"""What a lab adds to the board: the format of its own trainer, and a kind of finding."""
