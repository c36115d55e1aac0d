"""Tests of the container's file: what can be held of it without an engine."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from board.settings import user_folders

REPOSITORY = Path(__file__).parent.parent
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "ARG", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def instructions() -> list[tuple[str, str]]:
    """The instructions of the file, each with the rest of its lines as one."""
    text = "\n".join(line for line in (REPOSITORY / "Containerfile").read_text().splitlines() if not line.startswith("#"))
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line)]


def told(name: str) -> list[str]:
    """What follows each instruction of a name."""
    return [rest for one, rest in instructions() if one == name]


def environment() -> dict[str, str]:
    """What ENV sets."""
    return dict(part.split("=", 1) for rest in told("ENV") for part in shlex.split(rest))


def copied() -> list[str]:
    """What COPY takes from the folder that the image is made of."""
    return [source for rest in told("COPY") for source in shlex.split(rest)[:-1]]


def test_every_instruction_is_one() -> None:
    """Nothing is misspelt, and it begins with what it is made of: a release by name, not whatever is newest."""
    assert {name for name, _ in instructions()} <= KNOWN
    ((first, base), *_) = instructions()
    assert first == "FROM"
    assert re.fullmatch(r"docker\.io/library/debian:[a-z]+-slim", base)


def test_not_root() -> None:
    """What comes last decides: a user by number, who is not root and owns the volume alone."""
    (user,) = told("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    number = user.partition(":")[0]
    made = " ".join(told("RUN"))
    assert f"useradd --uid {number} " in made
    assert re.findall(r"chown \S+ (\S+)", made) == ["/data"]
    after = [name for name, _ in instructions()][[name for name, _ in instructions()].index("USER") :]
    assert "RUN" not in after
    assert "COPY" not in after


def test_what_is_written_lies_in_the_volume() -> None:
    """Cache, settings and state, which are all that the board keeps, and the home folder; nothing else of the image need be writable."""
    (volume,) = map(json.loads, told("VOLUME"))
    kept = set(re.findall(r'_given\("(\w+)"\)', Path(user_folders.__file__).read_text())) | {"HOME"}
    assert kept == {"RL_BOARD_CACHE", "RL_BOARD_SETTINGS", "RL_BOARD_STATE", "HOME"}
    assert volume == ["/data"]
    assert all(Path(environment()[name]).is_relative_to("/data") for name in kept)


def test_what_is_copied_is_there_and_not_left_out() -> None:
    """Every source exists, and `.dockerignore` lets in those and nothing else."""
    lines = [line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    sources = {source.rstrip("/") for source in copied()}
    assert sources == let_in
    assert all((REPOSITORY / source).exists() for source in sources)
    assert not any(fnmatch(source, pattern) for source in sources for pattern in (".git*", "tests*", "*secret*"))


def test_starts_by_start_sh() -> None:
    """As outside of a container, with nothing left to install; on every interface of the container alone."""
    (entry,), (command,) = (map(json.loads, told(name)) for name in ("ENTRYPOINT", "CMD"))
    (folder,) = told("WORKDIR")
    assert [*entry, *command] == ["bash", f"{folder}/start.sh", "/runs"]
    begun = (REPOSITORY / "start.sh").read_text()
    (made,) = [rest for rest in told("RUN") if "start.sh" in rest]
    for function in ("make_venv", "install"):
        assert f"{function}()" in begun
        assert function in made
    assert '--host "${HOST:-127.0.0.1}" ${PORT:+--port "$PORT"}' in begun
    assert (environment()["HOST"], environment()["PORT"]) == ("0.0.0.0", *told("EXPOSE"))


def test_health(board_server: str) -> None:
    """The check is Python that asks the very address that the board answers without a token or log-in."""
    (check,) = told("HEALTHCHECK")
    python, option, code = json.loads(check.partition(" CMD ")[2])
    assert (python, option) == (".venv/bin/python", "-c")
    port = board_server.rstrip("/").rpartition(":")[2]
    for base, status in (("", 0), ("elsewhere", 1)):
        environment = {"PORT": port, "STREAMLIT_SERVER_BASE_URL_PATH": base}
        assert subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60).returncode == status


@pytest.mark.parametrize("extras", ["login", "login remote", ""])
def test_extras_are_those_of_the_package(extras: str) -> None:
    """The line that asks for them gives what `pip install '.[…]'` would, and the pins of the tests hold for it."""
    (made,) = [rest for rest in told("RUN") if "tomllib" in rest]
    code = next(part for part in shlex.split(made) if part.startswith("import"))
    ast.parse(code)
    said = subprocess.run(
        [sys.executable, "-c", code, *extras.split()], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    named = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert said.stdout.split("\n")[:-1] == [need for name in extras.split() for need in named[name]] or not extras
    assert "--constraint requirements-test.txt" in made
    assert told("ARG") == ['EXTRAS="login"']
