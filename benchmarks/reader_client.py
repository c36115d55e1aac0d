"""A reader as the server sees one, without a browser: a websocket that sends what a click sends, and has its answer when the script has ended.

What browsers do with the answer is measured by `first_view.py` and `browsing.py`. Knows no figure.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE: Final = 60.0
"""Seconds after which an answer counts as an error."""

PAGES: Final = ("Responses", "Tokens", "Rewards")
KINDS: Final = {"step": 6, "rollout": 2, "page": 2, "sort": 1, "filter": 1}
"""What a reader clicks, and how often of so many: mostly another step."""

STOP: Final = "Stop"
"""What stands on the button that stops a reading."""

SORTS: Final = ("reward", "response_length", "kl_k3_mean")
FILTERS: Final = (*(f"reward > {at / 10:.1f}" for at in range(-5, 10)), "")
"""Conditions that readers try, and none: readers who look at one run share most of theirs."""


@dataclass
class Click:
    """One answer that a reader waited for."""

    kind: str
    seconds: float
    size: int
    """Bytes of the answer."""
    error: str = ""


@dataclass
class Reader:
    """One reader's connection, where he is, and what he waited for."""

    socket: ClientConnection
    steps: Sequence[Sequence[str]]
    """The rollouts of each step, as a link names them."""
    dice: random.Random
    page: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=lambda: {"run": "run"})
    clicks: list[Click] = field(default_factory=list)
    saw_reading: bool = False
    """Whether a page said since that the run is still being read."""

    async def ask(self, kind: str) -> None:
        """Send a click and wait for the end of the script; what fails, or shows an exception, is an error."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(self.place)
        asked.rerun_script.page_script_hash = self.page
        began, click = time.perf_counter(), Click(kind, 0, 0)
        try:
            await self.socket.send(asked.SerializeToString())
            await asyncio.wait_for(self._answer(click), PATIENCE)
        except (TimeoutError, OSError, ConnectionClosed) as error:
            click.error = f"{type(error).__name__}: {error}"
        click.seconds = time.perf_counter() - began
        self.clicks.append(click)

    async def _answer(self, click: Click) -> None:
        while True:
            sent = await self.socket.recv(decode=False)
            click.size += len(sent)
            said = ForwardMsg()
            said.ParseFromString(sent)
            if said.HasField("navigation"):
                self.pages |= {page.page_name: page.page_script_hash for page in said.navigation.app_pages}
            if said.HasField("delta") and said.delta.new_element.HasField("exception"):
                click.error = said.delta.new_element.exception.message
            self.saw_reading |= said.delta.new_element.button.label == STOP
            if said.HasField("script_finished") and said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return

    async def click(self) -> None:
        """One of the kinds, each time something else than is on the screen as far as the dice allow."""
        kind = self.dice.choices([*KINDS], [*KINDS.values()])[0]
        if kind == "page":
            self.page = self.pages[self.dice.choice(PAGES)]
        elif kind == "sort":
            self.page, self.place["sort"] = self.pages["Responses"], self.dice.choice(SORTS)
        elif kind == "filter":
            self._filter(self.dice.choice(FILTERS))
        elif kind == "rollout" and "filter" not in self.place:
            self.page = self.page if self.page in (self.pages["Responses"], self.pages["Tokens"]) else self.pages["Responses"]
            self.place["rollout"] = self.dice.choice(self.steps[int(self.place.get("step", 0))])
        else:
            kind = "step"
            self.place["step"] = str(self.dice.randrange(len(self.steps)))
            self.place.pop("rollout", None)
        await self.ask(kind)

    def _filter(self, condition: str) -> None:
        self.place.pop("rollout", None)
        self.place.pop("filter", None)
        if condition:
            self.place["filter"] = condition


@asynccontextmanager
async def connected(address: str, steps: Sequence[Sequence[str]], seed: int) -> AsyncIterator[Reader]:
    """A reader at the door of the board at an address, who has not asked for anything yet. He leaves without a word, as browsers do.

    To say good-bye is to wait until all is taken that the board has still to say: ten seconds for each who no longer listens.
    """
    stream = f"{address.replace('http', 'ws', 1)}_stcore/stream"
    origin = address.rstrip("/")
    async with connect(stream, origin=origin, max_size=None, subprotocols=["streamlit"], ping_interval=None) as socket:  # type: ignore[arg-type, list-item]
        try:
            yield Reader(socket, steps, random.Random(seed))
        finally:
            socket.transport.abort()
