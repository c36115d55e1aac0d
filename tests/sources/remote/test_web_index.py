"""Tests of pages that list a folder: what is directly below counts, and nothing else."""

from board.sources.remote.web_store import names_listed

AT = "http://host/runs/"


def page(*links: str) -> str:
    """A page with these links."""
    return "".join(f'<a href="{link}">x</a>' for link in links)


def test_files_and_folders() -> None:
    """Names are decoded; what ends with a slash is a folder; each counts once."""
    assert names_listed(page("a.jsonl", "my%20run/", "a.jsonl", "/runs/b.jsonl", "http://host/runs/c/"), AT) == (
        ["a.jsonl", "b.jsonl"],
        ["my run", "c"],
    )


def test_what_leads_elsewhere_is_left() -> None:
    """Other hosts, folders above, deeper paths, queries and what is no address."""
    away = [
        "http://other/runs/a",
        "https://host/runs/a",
        "../secret",
        "/etc/passwd",
        "a/b.jsonl",
        "?C=M;O=A",
        "#top",
        "./",
        "..",
        "http://[",
        "%2e%2e/",
    ]
    assert names_listed(page(*away), AT) == ([], [])


def test_no_page_at_all() -> None:
    """Broken HTML has what links it has."""
    for end in ("<<<<a", "<![foo[x]]>", "<![", "<![[[ &#x]>"):
        assert names_listed(f"<a href=a.jsonl>{end}", AT) == (["a.jsonl"], [])
