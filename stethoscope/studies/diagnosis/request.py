"""What a diagnosis is asked to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.evidence.fit import FitSettings
from stethoscope.types import ModelFile


@dataclass(frozen=True)
class Request:
    """One model with what its user has of data, logs and knowledge of its training."""

    model: ModelFile
    data: ModelFile | None = None
    preparation: tuple[Mapping[str, Any], ...] = ()
    """Steps that prepare the data, as JSON."""
    data_options: Mapping[str, Any] = field(default_factory=dict)
    """What the user said about the data: {"target": column} …"""
    logs: ModelFile | None = None
    second: ModelFile | None = None
    """Another model, scored on the same rows."""
    fit: FitSettings | None = None
    """How it was trained; None leaves training evidence out, an empty one means: as the file says."""
    prove: bool = False
    only: frozenset[str] = frozenset()
    """Ids of the checks to run; empty for all."""
    trusted: bool = False
    memory_bytes: int = 4 << 30
    """What each job may add to its worker."""
    train_s: float = 10.0
    """Seconds for the short training run and its trials."""
    prove_s: float = 45.0
    owner: str = ""
    entry_id: str = ""
    beside: dict[str, ModelFile] = field(default_factory=dict)
    """Files that belong to the model (external data), by role."""

    @property
    def data_params(self) -> dict[str, Any]:
        """Params of every job that reads the data; empty where nothing was asked."""
        found: dict[str, Any] = {"preparation": list(self.preparation)} if self.preparation else {}
        return found | ({"data_options": dict(self.data_options)} if self.data_options else {})

    def summary(self) -> dict[str, Any]:
        """What was asked, for the report."""
        return {
            "model": self.model.name,
            "data": self.data.name if self.data else None,
            **self.data_params,
            "logs": self.logs.name if self.logs else None,
            "second": self.second.name if self.second else None,
            "fit": None if self.fit is None else self.fit.to_json(),
            "prove": self.prove,
            "only": sorted(self.only),
        }
