"""The library that curves are drawn with is the one that its makers published, letter for letter."""

import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from board.ui.components import curves

VENDORED = Path(curves.__file__).parent / "vendored"
VERSION = "1.6.32"
FILES = {
    "uPlot.esm.js": ("dist/uPlot.esm.js", "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba"),
    "uPlot.min.css": ("dist/uPlot.min.css", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"),
    "LICENSE": ("LICENSE", "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd"),
}
"""Name here → place in the package, and SHA-256."""


@pytest.mark.parametrize("name", FILES)
def test_nothing_of_the_library_is_changed(name: str) -> None:
    """A file has the hash that it has in the registry."""
    assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == FILES[name][1]


def test_the_version_is_noted() -> None:
    """Beside the files stands which release they are of, which the library says of itself too; nothing else lies there but its types."""
    assert VERSION in (VENDORED / "README.md").read_text(encoding="utf-8")
    assert f"(v{VERSION})" in (VENDORED / "uPlot.esm.js").read_text(encoding="utf-8")[:400]
    assert {path.name for path in VENDORED.iterdir()} == {*FILES, "README.md", "uPlot.esm.d.ts"}


@pytest.mark.installs
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_registry_has_the_same_files(tmp_path: Path) -> None:
    """The package of that version, as the registry gives it, holds these very bytes."""
    subprocess.run(["npm", "pack", "--silent", f"uplot@{VERSION}"], cwd=tmp_path, check=True, timeout=120)
    with tarfile.open(tmp_path / f"uplot-{VERSION}.tgz") as package:
        for name, (place, digest) in FILES.items():
            file = package.extractfile(f"package/{place}")
            assert file is not None
            assert hashlib.sha256(file.read()).hexdigest() == digest, name
