"""One module per trainer's dump: whose files these are, and how a record of theirs becomes rollouts."""
