"""Tests of what is left out of Streamlit's start: it is not done then, and what charts need of it is there when they are drawn."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def run(code: str) -> str:
    """What a new Python in the repository's folder prints."""
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


SERVER = "from board.serving import lean_start\nwith lean_start.without_plotly():\n    from board.serving import app\n"
LOOK = "\nimport plotly.io as io, json\nprint(io.templates.default, json.dumps(io.templates['streamlit'].to_plotly_json(), sort_keys=True))"


def test_the_server_is_imported_without_charts_and_frames() -> None:
    """What answers a browser first needs neither Plotly nor pandas."""
    heavy = "print({'plotly', 'pandas', 'pyarrow', 'duckdb'} & {name.partition('.')[0] for name in sys.modules})"
    assert run(f"import sys\n{SERVER}{heavy}") == "set()"


def test_plotly_is_there_again_afterwards() -> None:
    """What is left out of one import is not missing for the next."""
    assert run(f"{SERVER}import plotly.graph_objects as go\nprint(len(go.Figure().data))") == "0"


def test_a_loaded_plotly_stays() -> None:
    """Where Plotly is loaded already it is the same module, within as after."""
    code = "import sys, plotly\nfrom board.serving import lean_start\nwith lean_start.without_plotly():\n    import plotly as within\n"
    assert run(f"{code}print(plotly is within is sys.modules['plotly'])") == "True"


def test_charts_have_the_look_they_have_with_plotly_there() -> None:
    """The look put in later is, to the letter, the one that Streamlit puts in itself."""
    assert run(f"{SERVER}lean_start.put_in_plotly_look(){LOOK}") == run(f"import streamlit{LOOK}")


def test_garbage_is_collected_again_afterwards() -> None:
    """What came up within is kept for good, what comes later is collected, and so it is when something within fails."""
    code = """
import gc, weakref
from board.serving import lean_start
class Ring: pass
def ring():
    one = Ring()
    one.self = one
    return weakref.ref(one)
within = []
try:
    with lean_start.without_collecting():
        within = [ring(), gc.isenabled()]
        raise ValueError
except ValueError:
    later = ring()
gc.collect()
print(within[1], gc.isenabled(), within[0]() is None, later() is None)
"""
    assert run(code) == "False True False True"


def test_no_package_is_searched_for_components(tmp_path: Path) -> None:
    """A component that an installed package declares is found by Streamlit, and not looked for by the board."""
    package, info = tmp_path / "fake_component", tmp_path / "fake_component-1.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "assets").mkdir()
    manifest = (
        "[project]\nname = 'fake-component'\n[[tool.streamlit.component.components]]\nname = 'fake'\nasset_dir = 'assets'\n"
    )
    (package / "pyproject.toml").write_text(manifest)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-component\nVersion: 1\nSummary: for streamlit\n")
    (info / "RECORD").write_text("fake_component/pyproject.toml,,\nfake_component/__init__.py,,\n")
    find = "\nfrom streamlit.components.v2 import component_manager\nmanager = component_manager.BidiComponentManager()\n"
    find += "manager.discover_and_register_components(start_file_watching=False)\nprint(manager.get_metadata('fake-component.fake') is not None)"
    on_path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    assert run(f"{on_path}{find}") == "True"
    assert run(f"{on_path}from board.serving import lean_start\nlean_start.leave_out_component_search(){find}") == "False"
