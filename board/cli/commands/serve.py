"""The command `serve`: pass folders and options to `board.serving`."""

import os
import stat
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

import click

from board.cli.endings import Command
from board.cli.options import MAPPING, PADS, SCALARS, TOKENIZER, name_pads
from board.cli.printing import listed, say
from board.errors import BoardError
from board.sources.remote import addresses
from board.text.format_number import size

if TYPE_CHECKING:
    from board.serving.downloads import ExportFile
    from board.serving.streamlit_options import Settings

SAMPLES: Final = Path(__file__).parents[3] / "rollout_samples"
"""The runs that come with the board: next to the package in a clone as where it is installed."""

_FOLDERS: Final = ("RL_BOARD_SETTINGS", "RL_BOARD_CACHE", "RL_BOARD_STATE")
"""Variables that name a folder."""


@click.command(
    cls=Command, context_settings={"ignore_unknown_options": True}, options_metavar="[OPTIONS] [--SECTION.OPTION VALUE]..."
)
@click.option("--host", metavar="ADDRESS", help="Where to listen: 127.0.0.1 unless given; 0.0.0.0 for every interface.")
@click.option("--port", metavar="PORT", help="8901 unless given, or the next that is free; 0 for any that is free.")
@click.option(
    "--token/--no-token",
    default=None,
    help="Ask for a token, which the printed link carries. On wherever other machines can reach the board.",
)
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    help="One more name the board is reached by; '*' for any (with a token only). May be repeated.",
)
@click.option(
    "--login",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_LOGIN",
    help="Have readers log in by the OpenID Connect provider in this file of secrets; a .streamlit/secrets.toml with an [auth] counts, too.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser, though there is one.")
@click.option("--no-login", is_flag=True, help="Serve without a log-in, though there is such a file.")
@SCALARS
@click.option(
    "--findings/--no-findings",
    default=None,
    help="Look through open runs for findings in the background (RL_BOARD_FINDINGS). On unless turned off; off, the page Findings asks.",
)
@TOKENIZER
@MAPPING
@PADS
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ROOT]")
def serve(
    host: str | None,
    port: str | None,
    token: bool | None,
    allow_host: tuple[str, ...],
    login: Path | None,
    no_browser: bool,
    no_login: bool,
    scalars: Path | None,
    findings: bool | None,
    tokenizer: Path | None,
    mapping: Path | None,
    extra_pads: tuple[str, ...],
    arguments: tuple[str, ...],
) -> None:
    """Serve the runs under the folder ROOT (unless given: rollout_samples here, or else the samples that come with the board).

    ROOT holds one folder per run, or is itself a run. Nothing outside of it can be read. It may lie elsewhere: s3://bucket/prefix, gs://,
    hf://, https:// and ssh:// are read as folders are, and followed as they grow.

    Streamlit's own options follow as --SECTION.OPTION VALUE, for example --theme.base dark.

    On a machine with other users give --token: without it, all of them can open an address on loopback.
    """
    places, options = split_arguments(arguments)
    root = _root(places)
    for name, file in (("RL_BOARD_TOKENIZER", tokenizer), ("RL_BOARD_MAPPING", mapping), ("RL_BOARD_SCALARS", scalars)):
        if file:
            os.environ[name] = str(file.resolve())
    name_pads(extra_pads)
    if findings is not None:
        os.environ["RL_BOARD_FINDINGS"] = "on" if findings else "off"
    if port is not None:
        options = ["--server.port", port, *options]
    if host is not None:
        options = ["--server.address", host, *options]

    from board.serving import app, streamlit_options

    here, login = Path.cwd(), login and login.absolute()
    _leave_folder(app.ENTRY.parent)
    try:
        settings = _absolute(streamlit_options.parsed_options(options), here)
    except BoardError as error:
        raise click.UsageError(str(error)) from error
    if "server.port" not in settings:
        settings["server.port"] = _free_port(settings)
    secrets = None if no_login else _log_in(login, settings)
    try:
        announce = partial(_announce, browser=not no_browser)
        app.serve(root, announce, settings, token=token, allow_hosts=allow_host, login=secrets, exported=_exported)
    except KeyboardInterrupt:
        say("Stopped.")


def tidy_cache() -> None:
    """Remove from the cache what is of no use any more, while the server runs: a large one takes seconds to look through."""
    from board.runs.cache import cache_care
    from board.settings import user_folders

    try:
        removed = cache_care.tidy(user_folders.cache(), cache_care.most_bytes())
    except BoardError as error:
        say(f"Nothing was removed from the cache: {error}", err=True)
        return
    if removed:
        say(f"Removed {size(sum(one.bytes for one in removed))} from the cache: `rl-logging-board cache` says what is there.")


def _exported(query: Mapping[str, str]) -> "ExportFile":
    """The file that an address requests. What makes it is imported at the first request: the server listens before."""
    from board.ui.frame import export_file

    return export_file.requested(query)


def _leave_folder(board: Path) -> None:
    """Work in the folder of the board itself, before Streamlit reads any option.

    It takes settings from the folder that it works in, which may be a run's: its author would rule the server.
    """
    for name in _FOLDERS:
        if given := os.environ.get(name):
            os.environ[name] = str(Path(given).absolute())
    os.chdir(board)


def _absolute(settings: "Settings", here: Path) -> "Settings":
    """Streamlit's options, with the files among them named from the root; they are those of the folder `here`."""
    files: Settings = {}
    for name in ("server.sslCertFile", "server.sslKeyFile", "theme.base"):
        given = str(settings.get(name, ""))
        if given and (name != "theme.base" or (given.endswith(".toml") and "://" not in given)):
            files[name] = str(here / given)
    if "secrets.files" in settings:
        files["secrets.files"] = [str(here / file) for file in settings["secrets.files"]]
    return settings | files


def _log_in(file: Path | None, settings: "Settings") -> Path | None:
    """The file of secrets by which readers log in, that was named or that Streamlit would take; None where there is none. Says it."""
    from board.serving import app, log_in

    file = file or log_in.found(app.secrets_files(settings))
    if file is None:
        return None
    say(f"Readers log in, by {file}.")
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        say(f"Others on this machine can read {file}, and with it log in as anybody: chmod 600 {file}")
    return file


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Places, and Streamlit's options with their values; raises UsageError for anything else that looks like an option.

    An option of Streamlit has a dot in its name and always takes a value, which is how `dark` in `--theme.base dark` is no place.
    """
    places: list[str] = []
    options: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, _ = argument.partition("=")
        if not argument.startswith("-"):
            places.append(argument)
        elif not (argument.startswith("--") and "." in name):
            raise click.NoSuchOption(name)
        elif equals:
            options.append(argument)
        elif (value := next(rest, None)) is None:
            raise click.UsageError(f"Option {name} needs a value.")
        else:
            options += [name, value]
    return places, options


def _root(places: Sequence[str]) -> Path:
    if len(places) > 1:
        raise click.UsageError(f"Give one ROOT, not {len(places)}: {', '.join(places)}.")
    given = places[0] if places else "rollout_samples" if Path("rollout_samples").is_dir() else str(SAMPLES)
    if addresses.is_address(given):
        say(f"Listing '{addresses.parsed(given)}'")
        return listed(given)
    root = Path(given).expanduser().resolve()
    if not root.is_dir():
        raise click.UsageError(f"ROOT is not a folder: {given} (rl-logging-board --help lists the commands)")
    return root


def _free_port(settings: "Settings") -> int:
    """The board's own port, or the next that is free, which is said. Raises BoardError where none of them is."""
    from board.serving import listening, streamlit_options

    own = streamlit_options.packaged_settings() | settings
    first = own["server.port"]
    port = listening.free_port(own["server.address"], first)
    if port != first:
        say(f"Port {first} is not free: this is {port}.")
    return port


def _announce(address: str, *, browser: bool) -> None:
    say(f"\n  RL Logging Board: {address}\n\n  Stop with Ctrl+C.")
    Thread(target=tidy_cache, name="cache", daemon=True).start()
    # A link with a token is not handed on: it would be in this machine's list of processes.
    if browser and "?token=" not in address and has_browser():
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    Thread(target=import_pages, daemon=True).start()


def has_browser() -> bool:
    """Whether a browser can open on a screen here: on Linux where there is a display, or where BROWSER names what opens links."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))


def import_pages() -> None:
    """Import what every page needs, which takes longer than all before, while the reader opens the link.

    `header` is what the entry script imports first: it waits there for what is left, and no two threads import in different orders.
    """
    from board.ui.frame import header  # noqa: F401
