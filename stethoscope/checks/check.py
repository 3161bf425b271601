"""What a check is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stethoscope.checks.findings import Finding
from stethoscope.evidence.kinds import Evidence, EvidenceSet

LITTLE_LEARNED = frozenset({"loss-flat", "loss-slow", "worse-than-baseline"})
"""These six: symptoms that many causes have in common, for `Check.explains`."""
BADLY_TRAINED = LITTLE_LEARNED | {"constant-output", "per-class-error", "underfitting"}
NOTHING_FITTED = frozenset({"constant-output", "fit-small-batch", "loss-flat", "null-input"})
UNSTEADY_LOSS = frozenset({"loss-diverging", "loss-oscillating", "nonfinite-training"})
WILD_UPDATES = frozenset({"dead-relu", "exploding-gradient", "update-ratio"})
IDLE_WEIGHTS = frozenset({"unchanged-weights", "vanishing-gradient"})


@dataclass(frozen=True)
class Check:
    """One rule. Its module's docstring is its page: title, Why, Example, Fix, Source.

    `run` is a generator: what it found before it broke survives. It reads only the evidence in `needs`, `needs_any` and `uses`.
    """

    run: Callable[[EvidenceSet], Iterator[Finding]]
    needs: frozenset[Evidence] = field(default_factory=frozenset)
    """What must be there; otherwise the check is SKIPPED with the reason."""
    needs_any: frozenset[Evidence] = field(default_factory=frozenset)
    """Of these at least one must be there (curves come from a log or from the short run); empty: no such condition."""
    uses: frozenset[Evidence] = field(default_factory=frozenset)
    """What it reads too when it is there; it must cope with None."""
    explains: frozenset[str] = field(default_factory=frozenset)
    """Ids of checks whose findings are symptoms of this one: they become evidence under it."""
    setting: bool = False
    """Whether it judges a setting by what another one would have given. While a graver cause stands, that says little."""
    symptom: bool = False
    """Whether this check sees an effect that other checks may explain. Symptoms never outrank a cause that explains them."""
    outcome: bool = False
    """Whether it measures how well the whole works: a cause that explains it at HIGH or above is as severe as it."""
    id: str = ""
    """Kebab-case, the file's name with dashes: filled from it."""
    title: str = ""
    """Where empty, the first line of its page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", self.id or self.run.__module__.rpartition(".")[2].replace("_", "-"))
        object.__setattr__(self, "title", self.title or self.page.partition("\n")[0].rstrip("."))

    @property
    def page(self) -> str:
        """The docstring of its module: what the dashboard shows under “why”."""
        module = inspect.getmodule(self.run)
        return inspect.cleandoc(module.__doc__ or "") if module else ""
