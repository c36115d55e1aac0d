"""Takes a picture of an example of each kind of finding, for docs/findings.md: `python assets/take_finding_pictures.py [KIND ...]`.

Plants each kind into a run (`benchmarks.findings`), serves them all, and photographs what the page Findings says of each. A kind that the
board does not find there has no picture, and is named at the end.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, sync_playwright
from take_pictures import HERE, READY, board

from benchmarks.findings.plants.all_plants import PLANTS
from board.findings.all_kinds import KINDS

SIZE = {"width": 1240, "height": 1000}
HEIGHT = 520
"""Of a picture: the card, its curves and the first rows of its evidence."""
LOOK_MILLISECONDS = 90_000


def write_runs(folder: Path, kinds: list[str]) -> dict[str, str]:
    """Plant each kind into a run of its own; the runs' names by kind."""
    options = ["--kinds", ",".join(kinds), "--seeds", "1", "--shape", "sudden", "--strength", "medium"]
    subprocess.run([sys.executable, "-m", "benchmarks.findings", "--write", folder, *options], cwd=HERE.parent, check=True)
    return {path.name.partition("-")[0]: path.name for path in sorted(folder.iterdir()) if path.is_dir()}


def photograph(page: Page, address: str, run: str, kind: str) -> bool:
    """Write the picture of a kind; False where the page does not show a finding of it."""
    page.goto(f"{address}findings?run={run}&finding={kind}")
    try:
        page.wait_for_selector(".st-key-finding_panes canvas", timeout=LOOK_MILLISECONDS)
    except TimeoutError:
        return False
    page.wait_for_selector(READY)
    page.wait_for_timeout(1_500)
    chosen = page.locator('[class*="st-key-finding_card_chosen"]').inner_text()
    if next(one.title for one in KINDS if one.name == kind) not in chosen:
        return False
    top = page.locator(".st-key-finding_panes").bounding_box()
    assert top is not None
    clip = {"x": top["x"] - 8, "y": top["y"] - 8, "width": top["width"] + 16, "height": HEIGHT}
    page.screenshot(path=HERE / "findings" / f"{kind}.png", clip=clip)
    return True


def main() -> None:
    """Write the pictures of the kinds named, or of all."""
    kinds = sys.argv[1:] or sorted(PLANTS)
    (HERE / "findings").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        runs = write_runs(Path(folder), kinds)
        with board(folder) as address:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = chromium.new_page(viewport=SIZE, color_scheme="light")
            missed = [kind for kind, run in runs.items() if kind in kinds and not photograph(page, address, run, kind)]
            chromium.close()
    if missed:
        sys.exit(f"Not found, so without a picture: {', '.join(missed)}")


if __name__ == "__main__":
    main()
