"""Opens runs: what stands in a run's files becomes one frame and its token arrays.

Rooms: `parsing` (files to parts), `cache` (parts on the disk), `loading` (a run while it is read), `indexed` (slices of an index),
`summaries` (numbers for the list of runs). What a script uses stands at the top: `opening`, `run`, `library`, `export`.
"""
