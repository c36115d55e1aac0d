#!/usr/bin/env bash
# Runs every check: lint, format, types, the import contract, the JavaScript and the tests, browser tests included.
#
#   bash tests/run.sh                          all of it
#   bash tests/run.sh tests/serving/test_app.py -k token   these tests only (pytest's arguments); `-m ""` adds the slow ones among them
#
# WITH_TORCH=1 installs PyTorch for the tests that need it; CI=true does too, and makes a missing browser or Node a failure.
# TEST_WORKERS is the number of test processes (3). LOWEST=1 runs the tests alone, with the oldest releases that pyproject.toml allows.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../start.sh"
cd "$here"

# Debian's Chromium, where there is none and we may install it; says on the way why it could not.
install_chromium() {
    if command -v chromium >/dev/null || ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then return; fi
    echo "Installing Chromium for the browser tests."
    {
        apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core fonts-liberation
    } >/tmp/rl-board-apt.log 2>&1 || { tail -n 5 /tmp/rl-board-apt.log; }
}

# Node checks the JavaScript and runs its tests; the board never needs it.
have_node() { command -v node >/dev/null && command -v npm >/dev/null; }

# What package-lock.json names, unless what was installed last was the same, byte for byte.
install_node_modules() {
    local installed="$here/node_modules/installed-package-lock.json"
    if cmp -s "$here/package-lock.json" "$installed"; then return; fi
    echo "Installing package-lock.json, which takes some seconds."
    npm ci --silent --no-audit --no-fund --ignore-scripts || { echo "npm could not install package-lock.json." >&2; return 1; }
    cp "$here/package-lock.json" "$installed"
}

# mypy, which takes a minute where it has not run before, beside the other checks: its process, once that ends, and what it said.
check_types() {
    local status=0
    wait "$1" || status=$?
    cat "$venv/mypy.txt"
    return "$status"
}

check_javascript() { install_node_modules && npm run --silent lint && npm run --silent types; }

# Of requirements-test.txt, with the oldest releases, what fits them: newer releases of the Hub's client ask for a newer click.
test_requirements() {
    if [ "${LOWEST:-}" != 1 ]; then echo requirements-test.txt; return; fi
    sed 's/^huggingface_hub==.*/huggingface_hub==1.16.1/' requirements-test.txt >"$venv/requirements-test.txt"
    echo "${venv#"$here"/}/requirements-test.txt"
}

failed=()
check() {
    local name="$1"
    shift
    echo "== $name"
    "$@" || failed+=("$name")
}

requirements=requirements.txt
if [ "${LOWEST:-}" = 1 ]; then
    venv="$here/.venv-lowest"
    requirements=requirements-lowest.txt
fi
make_venv
if [ "${LOWEST:-}" = 1 ]; then
    # As an address: pip takes this variable for several files where a path has spaces.
    PIP_CONSTRAINT="$("$venv/bin/python" -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$here/$requirements")"
    export PIP_CONSTRAINT
fi
install "$requirements"
install "$(test_requirements)"
export PATH="$venv/bin:$PATH"
if [ "${CI:-}" = true ] || [ "${WITH_TORCH:-}" = 1 ]; then
    python -c 'import torch' 2>/dev/null || python -m pip install --quiet --disable-pip-version-check torch==2.13.0
fi
install_chromium

if [ $# -eq 0 ] && [ "${LOWEST:-}" != 1 ]; then
    mypy >"$venv/mypy.txt" 2>&1 &
    typing=$!
    check "lint" ruff check
    check "format" ruff format --check --quiet
    check "import contract" lint-imports --no-logo
    if have_node; then check "JavaScript" check_javascript; fi
    check "types" check_types "$typing"
fi
# Numeric libraries would otherwise start a thread per core in every worker.
export OMP_NUM_THREADS=1
# In the order of tests/conftest.py: files with few and slow tests would otherwise come last and leave the other workers idle.
run_tests() { python -m pytest -q -n "${TEST_WORKERS:-3}" --dist loadfile --no-loadscope-reorder "$@"; }

# A browser among three busy processes may be late by half a minute: where nothing but browser tests failed these are run once more, alone,
# and that is said.
run_part() {
    local status=0
    run_tests -m "$1" || status=$?
    if [ "$status" -ne 1 ] || [ -n "$(failed_tests | grep -v "'tests/browser/")" ]; then return "$status"; fi
    echo "== browser tests that failed, again and alone"
    python -m pytest -q -m "$1" --last-failed --last-failed-no-failures none --maxfail 3 tests/browser
}
failed_tests() { python -m pytest --cache-show cache/lastfailed | grep "'tests/"; }

if [ $# -eq 0 ]; then
    check "tests" run_part "not slow and not installs"
    check "slow tests" run_part "slow and not installs"
else
    check "tests" run_tests "$@"
fi

if [ ${#failed[@]} -gt 0 ]; then
    printf 'Failed: %s\n' "${failed[@]}"
fi
skipped=
if ! command -v chromium >/dev/null; then
    echo "Browser tests were skipped: there is no chromium, and it could not be installed."
    skipped=yes
fi
if ! have_node; then
    echo "JavaScript was not checked and its tests were skipped: there is no Node.js with npm."
    skipped=yes
fi
if [ "${CI:-}" = true ] && [ -n "$skipped" ]; then exit 1; fi
[ ${#failed[@]} -eq 0 ]
