"""Steps as one short line of text that survives an address: "scale~x~factor~0.0039~~one_hot~y~classes~10"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stethoscope.errors import BadSetting

MAX_CHARACTERS = 200_000
_SAFE = {"%": "%25", "~": "%7E"}


def written(steps: Iterable[Mapping[str, Any]]) -> str:
    """The text for steps as JSON ({"step", "of", params…}); "" for none."""
    return "~~".join("~".join(_atoms(step)) for step in steps)


def read(text: str) -> list[dict[str, Any]]:
    """The inverse of `written`. Names and values are not checked.

    Raises:
        BadSetting: the text is not of this form.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadSetting(f"Preparation: expected a text of at most {MAX_CHARACTERS:,} characters. Leave steps out.")
    found = []
    for part in text.split("~~") if text else []:
        kind, *atoms = part.split("~")
        if len(atoms) % 2 != 1 or not kind:
            raise BadSetting(
                f"Preparation: expected step~array~name~value…, got {part[:60]!r}. Choose the steps again."
            )
        named = dict(zip(atoms[1::2], atoms[2::2], strict=True))
        found.append(
            {"step": _plain(kind), "of": _plain(atoms[0])}
            | {_plain(name): _value(value) for name, value in named.items()}
        )
    return found


def _atoms(step: Mapping[str, Any]) -> list[str]:
    atoms = [_escaped(str(step["step"])), _escaped(str(step["of"]))]
    for name, value in step.items():
        if name not in ("step", "of") and value is not None:
            atoms += [_escaped(name), _escaped(json.dumps(value, separators=(",", ":"), ensure_ascii=False))]
    return atoms


def _value(text: str) -> Any:
    try:
        return json.loads(_plain(text))
    except (ValueError, RecursionError) as error:
        raise BadSetting(
            f"Preparation: expected a value as JSON, got {text[:60]!r}. Choose the steps again."
        ) from error


def _escaped(text: str) -> str:
    return "".join(_SAFE.get(character, character) for character in text)


def _plain(text: str) -> str:
    return text.replace("%7E", "~").replace("%25", "%")
