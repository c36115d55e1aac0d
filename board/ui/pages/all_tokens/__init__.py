"""All tokens: how token numbers are spread, over a step or the run."""
