"""What components of ours are sent, and what they report to the server, as the browser sends it: Streamlit's AppTest knows neither."""

import json
from dataclasses import dataclass
from typing import Any

from streamlit.components.v2.bidi_component.constants import EVENT_DELIM
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.testing.v1 import AppTest


def sent(test: AppTest, key: str) -> dict[str, Any]:
    """What the component with that key is sent, where no table is in it."""
    found: dict[str, Any] = json.loads(_component(test, key).json)
    return found


def told(test: AppTest, key: str, what: str, value: object) -> AppTest:
    """The page after the component with that key reported `value` under the name `what`."""
    return Report(test, key, what, value).run()


@dataclass(frozen=True)
class Report:
    """A report that is to be sent."""

    test: AppTest
    key: str
    what: str
    value: object

    def run(self) -> AppTest:
        """The page after it."""
        states = self.test._tree.get_widget_states()
        report = states.widgets.add()
        report.id = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{_component(self.test, self.key).id}{EVENT_DELIM}events"
        report.json_trigger_value = json.dumps([{"event": self.what, "value": self.value}])
        return self.test._run(states)


def _component(test: AppTest, key: str) -> Any:
    return next(one.proto for one in test.get("bidi_component") if str(one.proto.id).endswith(f"-{key}"))
