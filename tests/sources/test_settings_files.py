"""Settings beside a run: found where trainers leave them, read as plain values, and never more than they may be."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from board.sources.settings_files import HIDDEN, MOST_BYTES, find_settings


def written(root: Path, files: dict[str, str]) -> Path:
    """A root with these files by path, and the folder of the run in it."""
    (root / "exp" / "rollouts").mkdir(parents=True)
    for name, text in files.items():
        path = root / "exp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "exp" / "rollouts"


FOUND: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "nothing": ({"notes.yaml": "a: 1"}, {}),
    "beside the rollouts": ({"rollouts/config.yaml": "lr: 1e-6"}, {"config.yaml": {"lr": 1e-6}}),
    "in the folder above": ({"args.json": '{"lr": 1e-06, "x": NaN}'}, {"../args.json": {"lr": 1e-6, "x": "NaN"}}),
    "the nearest alone": ({"config.yaml": "a: 1", "rollouts/args.json": '{"a": 2}'}, {"args.json": {"a": 2}}),
    "Hydra": (
        {".hydra/config.yaml": "actor: {lr: 1e-6}", ".hydra/overrides.yaml": "- actor.lr=1e-6"},
        {"../.hydra/config.yaml": {"actor": {"lr": 1e-6}}},
    ),
    "Hydra two above": ({"../.hydra/config.yaml": "a: 1", "../config.yaml": "b: 1"}, {"../../.hydra/config.yaml": {"a": 1}}),
    "what Hydra's command line overrode": (
        {".hydra/overrides.yaml": "- +actor.lr=1e-6\n- ~x\n- a=[1,b]\n- c=${oc.env:[}"},
        {"../.hydra/overrides.yaml": {"actor.lr": 1e-6, "a": [1, "b"], "c": "${oc.env:[}"}},
    ),
    "W&B, the last run begun": (
        {
            "wandb/run-20250101_000000-old/files/config.yaml": "lr: {value: 1}",
            "wandb/offline-run-20250202_000000-new/files/config.yaml": "wandb_version: 1\n_wandb: {value: {}}\nlr: {desc: null, value: 2}",
        },
        {"../wandb/offline-run-20250202_000000-new/files/config.yaml": {"lr": 2}},
    ),
    "TRL": ({"training_args.json": '{"beta": 0.1}'}, {"../training_args.json": {"beta": 0.1}}),
    "TOML": (
        {"config.toml": "day = 2025-01-01\n[optim]\nlr = 1e-6"},
        {"../config.toml": {"day": "2025-01-01", "optim": {"lr": 1e-6}}},
    ),
    "keys and passwords": (
        {"config.yaml": "{hub_token: x, a: {wandb_api_key: y, eos_token: '</s>', max_token: 3, password: null}}"},
        {
            "../config.yaml": {
                "hub_token": HIDDEN,
                "a": {"wandb_api_key": HIDDEN, "eos_token": "</s>", "max_token": 3, "password": None},
            }
        },
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(tmp_path: Path, name: str) -> None:
    """In the run's folder, else in the nearest above it that has any."""
    files, expected = FOUND[name]

    found = find_settings(written(tmp_path, files), tmp_path)

    values = json.loads(json.dumps({one.name: one.values for one in found}), parse_constant=str)
    assert (values, [one.refused for one in found]) == (expected, [""] * len(expected))


REFUSED: dict[str, tuple[str, str, str]] = {
    "a pickle": ("training_args.bin", "x", "is a pickle"),
    "no YAML": ("config.yaml", "a: [", "is not YAML: line"),
    "no JSON": ("args.json", "{", "is not JSON"),
    "deep JSON": ("args.json", '{"a":' * 100_000, "nested too deeply"),
    "no TOML": ("config.toml", "=", "is not TOML"),
    "TOML of very many dots": ("config.toml", "a" + ".a" * 50_000 + " = 1", "has more than 20,000 dots, or 2,000 in a line"),
    "a list": ("args.json", "[1]", "holds no settings by name, but a list"),
    "empty": ("config.yaml", "", "holds no settings by name, but nothing"),
    "a long name above many values": (
        "args.json",
        json.dumps({"x" * 400_000: dict.fromkeys(map(str, range(50_000)), 1)}),
        "letters",
    ),
    "a long text repeated by aliases": ("config.yaml", f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 40_000)}]", "letters"),
    "too large": ("config.yaml", "#" * (MOST_BYTES + 1), "no more than 1,048,576 are read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path: Path, name: str) -> None:
    """What cannot be read is named, with the reason."""
    file, text, reason = REFUSED[name]

    (found,) = find_settings(written(tmp_path, {f"rollouts/{file}": text}), tmp_path)

    assert (found.name, found.values) == (file, None)
    assert reason in found.refused


def test_what_cannot_be_read_hides_nothing(tmp_path: Path) -> None:
    """A pickle beside the rollouts leaves what Hydra composed above them to be found, and is named after it."""
    run = written(tmp_path, {"rollouts/training_args.bin": "x", ".hydra/config.yaml": "a: 1"})

    assert [one.name for one in find_settings(run, tmp_path)] == ["../.hydra/config.yaml", "training_args.bin"]


def test_nothing_outside_the_root(tmp_path: Path) -> None:
    """Neither folders above the root nor links out of it, nor what is no file, are read."""
    run = written(tmp_path, {"config.yaml": "a: 1", "../secret/.hydra/config.yaml": "a: 1"})
    (run / "config.yaml").symlink_to(tmp_path / "exp" / "config.yaml")
    (run / ".hydra").symlink_to(tmp_path / "secret" / ".hydra")
    os.mkfifo(run / "args.json")

    assert find_settings(run, run) == ()
