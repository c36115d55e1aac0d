"""Options that several commands have. Knows no command and no run."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import click


class NamedElsewhere(click.Choice[str]):
    """A choice of what another module names, which is asked when it is needed: other commands need not load what knows it."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names = names
        self.case_sensitive = True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names, as click asks for them."""
        return self._names()


MAPPING = click.option(
    "--mapping",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_MAPPING",
    help="A TOML file that maps the rollouts' keys to our names; rollouts.toml beside them is found by itself.",
)

TOKENIZER = click.option(
    "--tokenizer",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_TOKENIZER",
    help="A tokenizer.json that makes text of token ids where rollouts have no more; RL_BOARD_TOKENIZER is the same.",
)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
