"""A run and its padded copy are one run on every page: what is sent to the browser is the same."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.json_format import MessageToDict
from opened_pages import every_page
from padded_copies import NAMED, place
from streamlit.testing.v1 import AppTest

from board import open_run

OF_FILES = re.compile(r"/\S+/(plain|copy)\b|[0-9.,]+ [kM]?B\b|[0-9a-f]{32}|-?[0-9]{12,}")
"""Paths, sizes and fingerprints of files, and what is made of them."""


def test_a_padded_copy_gives_the_same_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts, lists, tables and curves of every page, with a search for the pad and with another run beside."""
    monkeypatch.setenv("RL_BOARD_FINDINGS", "off")
    where: dict[str, str | int] = {"run": "ppo", "beside": "agent", "q": "extra_0"}
    pages = []
    for folder, copy in (("plain", None), ("copy", (NAMED, "both"))):
        for one in ("ppo", "agent"):
            place(tmp_path / folder, one, "padded", copy)
            open_run(tmp_path / folder / one)  # so that no page is drawn while it is read
        monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path / folder))
        pages.append({page: elements(test) for page, test in every_page(**where)})

    assert len(pages[0]) == 13
    assert {page for page in pages[0] if pages[0][page] != pages[1][page]} == set()


def elements(test: AppTest) -> list[str]:
    """All that is sent of a page, in order, with the tables in it."""
    assert not test.exception
    protos: list[Any] = [proto for one in test.main if (proto := getattr(one, "proto", None)) is not None]
    return [OF_FILES.sub("…", json.dumps(MessageToDict(one) | tables(one), ensure_ascii=False)) for one in protos]


def tables(proto: Any) -> dict[str, Any]:
    """The tables of a component, in place of their bytes."""
    blobs = proto.mixed.arrow_blobs if hasattr(proto, "mixed") else {}
    read = [pa.ipc.open_stream(blob.data).read_all().to_pydict() for blob in blobs.values()]
    return {"id": "", "mixed": proto.mixed.json, "tables": read} if blobs else {"id": ""}
