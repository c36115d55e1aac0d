"""Writes `docs/findings.md` and its Chinese page out of what the kinds of findings declare: `python docs/findings.py`.

The kinds are declared in English. `zh-CN/findings.json` has the Chinese of each English text: a sentence that is changed or new is missing
there, and a test names it. Tests compare both pages with the output.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

REPOSITORY: Final = Path(__file__).parents[1]
DOCS: Final = REPOSITORY / "docs"
CHINESE: Final = DOCS / "zh-CN" / "findings.json"
PICTURES: Final = REPOSITORY / "assets" / "findings"
"""An example of each kind: `python assets/take_finding_pictures.py`."""

sys.path.insert(0, str(REPOSITORY))

from board.findings.all_kinds import KINDS  # noqa: E402
from board.findings.checks.all_checks import CHECKS  # noqa: E402
from board.findings.contract import Kind, Threshold  # noqa: E402
from board.serving.page_addresses import TABS  # noqa: E402
from board.text.format_number import exact  # noqa: E402

Language = Literal["en", "zh"]

MARK: Final = "<!-- below: written by python docs/findings.py -->\n"
END: Final = "<!-- above: written by python docs/findings.py -->\n"
"""The table between the two is generated; the text around it, up to the second MARK, is written by hand."""


@dataclass(frozen=True)
class Frame:
    """The words around the declared texts in one language."""

    page: Path
    assets: str
    """The way from the page to the folder of pictures."""
    kinds: str
    """The heading of the table of kinds, and the heads of its columns."""
    checks: str
    """The note below it on those that are checks."""
    check: str
    """Around what a check finds and why it matters."""
    sections: str
    """The heading of the sections, one for each kind."""
    title: str
    """Around title, severity and what a kind says."""
    picture: str
    formula: str
    needs: str
    thresholds: str
    """The heads of the columns."""
    means: str
    looks_like: str
    next: str
    where: str
    """Around the page and what to look for."""
    between: str
    signs: str
    severities: dict[str, str]


FRAMES: Final[dict[Language, Frame]] = {
    "en": Frame(
        page=DOCS / "findings.md",
        assets="../assets/findings",
        kinds="## Rules\n\n| rule | severity | finding |",
        checks='<a id="checks-of-the-data"></a>\n\nRules without a link are checks of the data. What a check finds is taken for the '
        "cause of findings that start with it; the page Data and `rl-logging-board check` run only the checks.",
        check="{title}. {why}",
        sections="## Each rule",
        title="**{title}** ({severity}). {says}",
        picture="An example of {name}, planted into a healthy run, as the page Findings shows it",
        formula="How it is computed: {}",
        needs="Needs {}.",
        thresholds="| threshold | default | compared quantity | source |",
        means="May mean: {}",
        looks_like="Could also be: {}",
        next="Where to look next: {}.",
        where="**{page}**, {what}",
        between="; ",
        signs="May explain {}.",
        severities={"error": "error", "warning": "warning", "note": "note"},
    ),
    "zh": Frame(
        page=DOCS / "zh-CN" / "findings.md",
        assets="../../assets/findings",
        kinds="## 规则\n\n| 规则 | 严重程度 | 发现 |",
        checks='<a id="checks-of-the-data"></a>\n\n没有链接的是数据检查。检查查出的问题视为与它同时开始的发现的原因；'
        "“Data”页与命令 `rl-logging-board check` 单独运行它们。",
        check="{title}。{why}",
        sections="## 逐条规则",
        title="**{title}**（{severity}）。{says}",
        picture="{name} 的示例：植入一个正常的 run，如 Findings 页所示",
        formula="计算方法：{}",
        needs="需要 {}。",
        thresholds="| 阈值 | 默认值 | 所比较的量 | 出处 |",
        means="可能意味着：{}",
        looks_like="也可能是：{}",
        next="接下来看哪里：{}。",
        where="**{page}**：{what}",
        between="；",
        signs="可以解释 {}。",
        severities={"error": "错误 error", "warning": "警告 warning", "note": "附注 note"},
    ),
}


@cache
def _chinese() -> dict[str, str]:
    texts: dict[str, str] = json.loads(CHINESE.read_text(encoding="utf-8"))
    return texts


def declared() -> Iterator[str]:
    """Every text of the kinds and checks that a page shows, in English; some more than once."""
    for kind in _kinds():
        yield from (kind.title, kind.says, kind.formula, kind.means, kind.looks_like)
        yield from (what for _, what in kind.next)
        for one in kind.thresholds:
            yield from (one.meaning, one.source)
    for check in CHECKS:
        yield from (check.title, check.why)


def _kinds() -> list[Kind]:
    checks = {check.name for check in CHECKS}
    return [kind for kind in KINDS if kind.name not in checks]


def page(language: Language = "en") -> str:
    """The whole page, its head as it is there. Raises KeyError for a text that has no Chinese."""
    return _Page(language).whole()


class _Page:
    def __init__(self, language: Language) -> None:
        self._frame = FRAMES[language]
        self._texts = None if language == "en" else _chinese()

    def whole(self) -> str:
        frame, kinds = self._frame, _kinds()
        rows = [(f"[`{kind.name}`](#{kind.name})", kind.severity, self._cell(kind.says)) for kind in kinds]
        for one in CHECKS:
            words = {"title": self._cell(one.title), "why": self._cell(one.why)}
            rows.append((f"`{one.name}`", one.severity, frame.check.format(**words)))
        listed = "\n".join(f"| {name} | {self._severity(severity)} | {says} |" for name, severity, says in rows)
        by_hand = [part.rpartition(END)[2] for part in frame.page.read_text(encoding="utf-8").split(MARK)[:2]]
        table = f"{frame.kinds}\n|---|---|---|\n{listed}\n\n{frame.checks}\n"
        return "\n".join([by_hand[0] + MARK, table, END + by_hand[1] + MARK, f"{frame.sections}\n", *map(self._section, kinds)])

    def _section(self, kind: Kind) -> str:
        words = {"title": self._plain(kind.title), "severity": self._severity(kind.severity), "says": self._plain(kind.says)}
        return "\n\n".join([f"### {kind.name}", self._frame.title.format(**words), *self._parts(kind)]) + "\n"

    def _parts(self, kind: Kind) -> Iterator[str]:
        frame = self._frame
        if (PICTURES / f"{kind.name}.png").is_file():
            yield f"![{frame.picture.format(name=kind.name)}]({frame.assets}/{kind.name}.png)"
        yield frame.formula.format(self._plain(kind.formula))
        if kind.needs:
            yield frame.needs.format(_named(kind.needs))
        yield f"{frame.thresholds}\n|---|---|---|---|\n" + "\n".join(map(self._row, kind.thresholds))
        yield frame.means.format(self._plain(kind.means))
        yield frame.looks_like.format(self._plain(kind.looks_like))
        titles = {Path(tab.file).stem: tab.title for tab in TABS}
        where = (frame.where.format(page=titles.get(name, name), what=self._plain(what)) for name, what in kind.next)
        yield frame.next.format(frame.between.join(where))
        if kind.explains:
            yield frame.signs.format(_named(kind.explains))

    def _row(self, one: Threshold) -> str:
        return f"| `{one.name}` | {exact(one.value)} | {self._cell(one.meaning)} | {self._cell(one.source)} |"

    def _severity(self, severity: str) -> str:
        return self._frame.severities[severity]

    def _cell(self, text: str) -> str:
        return self._plain(text).replace("|", "\\|").replace("\n", " ")

    def _plain(self, text: str) -> str:
        """Text of the page's language in which Markdown finds neither tags nor emphasis."""
        said = text if self._texts is None else self._texts[text]
        return said.replace("<", "\\<").replace("*", "\\*").replace("`", "\\`")


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    for one in ("en", "zh"):
        FRAMES[one].page.write_text(page(one), encoding="utf-8")
