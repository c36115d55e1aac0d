"""Results of evaluations, a module each: what `board.formats.contract` says."""
