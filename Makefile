# Needs .venv, which `bash start.sh` and `bash tests/run.sh` make, and where there is Node node_modules, which the latter makes.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
NPM_RUN := $(if $(shell command -v npm),npm run --silent,@echo JavaScript skipped, there is no npm:)

.PHONY: check fast format lint types test newest serve

check:  ## everything continuous integration checks
	bash tests/run.sh

fast: export OMP_NUM_THREADS := 1
fast: lint types  ## and the tests that need neither browser nor server, in two minutes
	pytest -q -n 2 --dist loadfile -m "not browser and not server and not slow and not installs"

format:  ## rewrite what ruff and Biome can
	ruff check --fix
	ruff format
	$(NPM_RUN) format

lint:
	ruff check
	ruff format --check
	lint-imports --no-logo
	$(NPM_RUN) lint

types:
	mypy
	$(NPM_RUN) types

test:
	pytest -q -n 2 --dist loadfile

newest:  ## pages and server with the newest Streamlit that the index has: reports, and blocks nothing
	python -m venv .venv-newest
	.venv-newest/bin/pip install --quiet --requirement requirements.txt --requirement requirements-test.txt
	.venv-newest/bin/pip install --quiet --upgrade streamlit
	-.venv-newest/bin/python -m pytest -q -n 2 --dist loadfile -m "not installs" tests/pages tests/serving tests/browser

serve:
	bash start.sh
