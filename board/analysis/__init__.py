"""What the pages and findings show of a run, computed: frames in, frames out.

Rooms: `stats` (arrays alone), `rollouts`, `texts`, `steps`, `tokens`, `prompts`, `compare`. Nothing here draws or judges: that is `board.ui`,
`board.figures` and `board.findings`.
"""
