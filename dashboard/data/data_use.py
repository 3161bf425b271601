"""Data as a run uses it: which upload, which steps prepare it, which column holds the labels. All of it stands in the address."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard import session
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import BadSetting
from stethoscope.jobs.store import Entry
from stethoscope.settings import settings
from stethoscope.types import ModelFile

PREPARATION, TARGET = "prep", "target"
NO_TARGET = "none"
_LONG = 1_500
"""Characters beyond which steps (the means of a thousand columns) are kept in a file and the address names it."""
_KEPT = re.compile(r"kept-([0-9a-f]{32})")


@dataclass(frozen=True)
class DataUse:
    """One choice of data, complete."""

    entry: Entry
    preparation: Preparation = field(default_factory=Preparation)
    target: str = ""
    """The column with the labels, as the user said; "" leaves it to the reader."""

    @property
    def file(self) -> ModelFile:
        """The file itself."""
        return self.entry.file

    @property
    def name(self) -> str:
        """What the user called it. Hostile."""
        return self.entry.name

    @property
    def options(self) -> dict[str, Any]:
        """What is said about the data itself, as `DataReader.open` takes it."""
        return {"target": self.target} if self.target else {}

    def params(self) -> dict[str, Any]:
        """What a job has to be told: "preparation" and "data_options", each only where there is something to say."""
        steps = {"preparation": self.preparation.to_json()} if self.preparation.steps else {}
        return steps | ({"data_options": self.options} if self.options else {})


def of_view(entry: Entry) -> DataUse:
    """The data in view with the steps and the labels of the address."""
    return DataUse(entry, preparation(), target())


def plain(entry: Entry) -> DataUse:
    """Data as it is."""
    return DataUse(entry)


def preparation() -> Preparation:
    """The steps in the address, else those of this tab for the same data and model; keeps both in step.

    What is not a preparation leaves the address.
    """
    text = _recalled(PREPARATION)
    if not text:
        return Preparation()
    try:
        return Preparation.from_address(_unfolded(text))
    except BadSetting:
        _remember(PREPARATION, None)
        return Preparation()


def prepare(steps: Preparation) -> None:
    """Puts steps into the address."""
    text = steps.to_address()
    _remember(PREPARATION, _folded(text) if len(text) > _LONG else text or None)


def target() -> str:
    """The column of labels in the address; "" where nothing is said."""
    return _recalled(TARGET) or ""


def choose_target(column: str | None) -> None:
    """Puts the column of labels into the address; None leaves it to the reader."""
    _remember(TARGET, column or None)


def command_options(params: Mapping[str, Any]) -> dict[str, str | None]:
    """A job's preparation and labels as options of the command line."""
    import json

    steps = params.get("preparation")
    return {
        "prepare": json.dumps(steps, separators=(",", ":"), ensure_ascii=False) if steps else None,
        "target": (params.get("data_options") or {}).get("target"),
    }


def _recalled(name: str) -> str | None:
    here = session.recalled(name)
    key = _tab_key(name)
    if here:
        st.session_state[key] = here
        return here
    kept = st.session_state.get(key)
    if kept:
        session.remember(name, str(kept))
    return kept


def _remember(name: str, value: str | None) -> None:
    if value is None:
        st.session_state.pop(_tab_key(name), None)
    else:
        st.session_state[_tab_key(name)] = value
    session.remember(name, value)


def _tab_key(name: str) -> str:
    """Of what this tab keeps while pages change: steps are made for one model, and labels for one data."""
    model = st.query_params.get("model", "") if name == PREPARATION else ""
    return f"_{name}-{session.data_in_view() or ''}-{model}"


def _folded(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    folder = settings().workspace / "preparations"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{digest}.txt"
    if not path.exists():
        temporary = path.with_suffix(".tmp")
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    return f"kept-{digest}"


def _unfolded(text: str) -> str:
    match = _KEPT.fullmatch(text)
    if match is None:
        return text
    path = settings().workspace / "preparations" / f"{match[1]}.txt"
    if not path.is_file():
        raise BadSetting(
            "Preparation: expected steps that are kept here, got a link whose steps are gone. Choose them again."
        )
    return path.read_text("utf-8")
