"""How fast the board is, beside its goals: `python benchmarks` measures everything. README.md says how, and what came of it."""
