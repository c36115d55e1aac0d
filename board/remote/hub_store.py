"""Repositories of the Hugging Face Hub (`datasets/owner/name[@revision]/path`), by huggingface_hub, which finds the token as its own tools do.

A range is bound to a version by the tag of the answer that it comes with. Knows no run.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

import huggingface_hub
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

from board.remote.fsspec_store import trouble_of
from board.remote.object_store import RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

_KINDS: Final = {"datasets": "dataset", "spaces": "space", "models": "model"}
_LONG_REVISIONS: Final = ("refs/convert/", "refs/pr/")
"""Revisions that have slashes of their own, and one name behind these."""

_SECONDS: Final = 30.0


class _Place:
    """A key cut into the repository and what lies in it."""

    def __init__(self, key: str) -> None:
        parts = key.split("/")
        begin = 1 if parts[0] in _KINDS else 0
        self.kind = _KINDS.get(parts[0], "model")
        if len(parts) < begin + 2 or not all(parts[begin : begin + 2]):
            raise RemoteTrouble("it names no repository of the Hub, such as datasets/owner/name")
        name, _, revision = parts[begin + 1].partition("@")
        inside = begin + 2
        if revision and "/".join([revision, *parts[inside:]]).startswith(_LONG_REVISIONS):
            revision, inside = "/".join([revision, *parts[inside : inside + 2]]), inside + 2
        self.repo, self.revision = f"{parts[begin]}/{name}", unquote(revision)
        self.root, self.path = "/".join(parts[:inside]), "/".join(parts[inside:])

    @property
    def options(self) -> dict[str, Any]:
        """As huggingface_hub takes them."""
        return {"repo_type": self.kind, "revision": self.revision or None}


class HubStore:
    """All of the Hub: an address names the repository."""

    def __init__(self) -> None:
        self._api = huggingface_hub.HfApi()

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files of one commit below a prefix; none where the repository has no such folder. Raises RemoteTrouble."""
        place = _Place(prefix)

        def listed() -> list[RepoFile]:
            try:
                commit = self._api.repo_info(place.repo, timeout=_SECONDS, **place.options).sha
                return [
                    one
                    for one in self._api.list_repo_tree(
                        place.repo, place.path or None, recursive=True, revision=commit, repo_type=place.kind
                    )
                    if isinstance(one, RepoFile)
                ]
            except Exception as error:
                if "EntryNotFound" in type(error).__name__:
                    return []
                raise trouble_of(error) from error

        for one in with_retries(listed):
            yield _described(place, one)

    def look(self, key: str) -> RemoteObject:
        """As the repository has it now. Raises RemoteTrouble."""
        place = _Place(key)
        try:
            found = self._api.get_paths_info(place.repo, [place.path], **place.options)
        except Exception as error:
            raise trouble_of(error) from error
        for one in found:
            if isinstance(one, RepoFile) and one.path == place.path:
                return _described(place, one)
        raise Vanished("the Hub has nothing there")

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """A range of the file whose tag is that version's; the Hub may lead to its storage for it, without the token. Raises RemoteTrouble."""
        place = _Place(found.key)
        url = huggingface_hub.hf_hub_url(place.repo, place.path, **place.options, endpoint=self._api.endpoint)
        headers = build_hf_headers(headers={"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"})
        try:
            answer = http_backoff("GET", url, headers=headers, timeout=_SECONDS, max_retries=0)
            if answer.status_code == 416:
                raise Replaced("was changed while it was being read: look again")
            hf_raise_for_status(answer)
        except RemoteTrouble:
            raise
        except Exception as error:
            raise trouble_of(error) from error
        first = next(iter(answer.history), answer)
        tag = str(first.headers.get("X-Linked-Etag") or first.headers.get("ETag") or "").removeprefix("W/").strip('"')
        if tag != found.version:
            raise Replaced("was changed while it was being read: look again")
        if answer.status_code == 200 and (start, stop) != (0, found.size):
            raise RemoteTrouble("the Hub serves no ranges of it")
        yield answer.content


def _described(place: _Place, one: RepoFile) -> RemoteObject:
    """Large files go by the sum of their content, others by git's name for it: as the tags of answers do."""
    version = one.lfs.sha256 if one.lfs is not None else one.blob_id
    return RemoteObject(f"{place.root}/{one.path}", int(one.size), 0, str(version))
