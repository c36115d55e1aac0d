"""How fast the board is, beside its goals: `python benchmarks` measures everything and writes the table in README.md."""
