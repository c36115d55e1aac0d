#!/usr/bin/env bash
# Serves the board: makes .venv, installs requirements.txt when it has changed, starts the server.
#
#   bash start.sh [ROOT] [streamlit options]      ROOT is rollout_samples unless given
#   HOST=0.0.0.0 PORT=9000 bash start.sh ~/runs   listen elsewhere than on 127.0.0.1:8901
#
# tests/run.sh sources this file for make_venv and install.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$here/.venv"

fail() { echo "start.sh: $*" >&2; exit 1; }

# The first Python on this machine that is new enough, or nothing. PYTHON names another.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

make_venv() {
    if "$venv/bin/python" -c 'import pip' 2>/dev/null; then return; fi
    local python
    python="$(find_python)"
    [ -n "$python" ] || fail "Python 3.11 or newer is needed, found: $(python3 --version 2>&1 || true). Name one with PYTHON=/path/to/python3."
    echo "Making $venv with $("$python" --version)."
    rm -rf "$venv"
    "$python" -m venv "$venv" || {
        rm -rf "$venv"
        fail "python3 -m venv did not work. On Debian and Ubuntu: apt-get install python3-venv"
    }
}

# Installs a requirements file unless the one installed last was the same, byte for byte.
install() {
    local wanted="$here/$1" installed="$venv/installed-${1##*/}"
    if cmp -s "$wanted" "$installed"; then return; fi
    echo "Installing $1, which takes about a minute."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$wanted" || fail "pip could not install $1."
    cp "$wanted" "$installed"
}

main() {
    make_venv
    install requirements.txt
    if [ $# -eq 0 ] || [ "${1#-}" != "$1" ]; then set -- "$here/rollout_samples" "$@"; fi
    # -P: the folder this was called from may hold anything, pandas.py included, and is no place to import from.
    PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "$venv/bin/python" -P -m board serve --host "${HOST:-127.0.0.1}" ${PORT:+--port "$PORT"} "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
