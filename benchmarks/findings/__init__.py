"""How well findings are found: runs written by a generator, with one fault planted into each and the truth kept beside it.

What is planted follows the definitions of the kinds, not how the detector looks for them: nothing here imports `board.findings`, which is
run as a reader would run it, by its command.
"""
