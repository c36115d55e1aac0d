"""A reader's query over a run, answered in a process that can touch nothing else."""
