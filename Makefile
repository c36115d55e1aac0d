# Needs .venv, which `bash start.sh` and `bash tests/run.sh` make.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: check format lint types test serve

check:  ## everything continuous integration checks
	bash tests/run.sh

format:  ## rewrite what ruff can
	ruff check --fix
	ruff format

lint:
	ruff check
	ruff format --check
	lint-imports --no-logo

types:
	mypy

test:
	pytest -q -n 2 --dist loadfile

serve:
	bash start.sh
