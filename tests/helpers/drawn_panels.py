"""The panels of curves that a page sends to the browser, and the step that is marked in them."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from board.ui.components.curves import CurvesPayload


@dataclass(frozen=True)
class SentPanel:
    """A panel as it is sent, with its numbers in place."""

    sent: dict[str, Any]
    curves: dict[str, dict[str, NDArray[np.float64]]]
    """Name → array name → numbers: "steps" and "values", and what else there is of "low", "high", "raw" and "count"."""

    @property
    def values(self) -> dict[str, list[float]]:
        """Name → the values by step."""
        return {name: arrays["values"].tolist() for name, arrays in self.curves.items()}

    @property
    def said(self) -> str:
        """Everything that stands around the plot."""
        texts = self.sent["texts"]
        helps = [f"{what} {text}" for what, text in texts["help"]]
        return "\n".join([self.sent["title"], texts["gloss"], *helps, *texts["said"], texts["look"], texts["note"]])


def of_payload(payload: CurvesPayload) -> list[SentPanel]:
    """The panels of a payload, in their order."""
    return _panels(payload.data["meta"], payload.data["numbers"])


def panels(test: AppTest, key: str = "") -> dict[str, SentPanel]:
    """The panels of a page by title; those of the component with that key alone, where one is given."""
    found = [one for name, panels in by_component(test).items() if key in ("", name) for one in panels]
    return {panel.sent["title"]: panel for panel in found}


def by_component(test: AppTest) -> dict[str, list[SentPanel]]:
    """Key of the component → its panels."""
    found = {}
    for element in test.get("bidi_component"):
        proto = element.proto
        if proto.component_name.endswith("rl_logging_board.curves"):
            mixed = json.loads(proto.mixed.json)
            blob = proto.mixed.arrow_blobs[mixed["numbers"]["__streamlit_arrow_ref__"]].data
            found[str(proto.id).rsplit("-", 1)[-1]] = _panels(mixed["meta"], pa.ipc.open_stream(blob).read_all())
    return found


def chosen(test: AppTest) -> dict[str, Any]:
    """What the page's curves are told of the reader's choices."""
    (sent,) = (
        json.loads(one.proto.json)
        for one in test.get("bidi_component")
        if one.proto.component_name.endswith("rl_logging_board.curves_choice")
    )
    return dict(sent)


def _panels(meta: dict[str, Any], numbers: pa.Table) -> list[SentPanel]:
    flat = numbers.column(0).to_numpy()
    names = ("steps", "values", "low", "high", "raw", "count")
    return [
        SentPanel(
            card,
            {
                curve["name"]: {name: flat[curve[name][0] : curve[name][0] + curve[name][1]] for name in names if name in curve}
                for curve in card["curves"]
            },
        )
        for card in meta["cards"]
    ]
