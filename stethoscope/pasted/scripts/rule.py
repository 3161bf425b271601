"""What a rule about training scripts is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from stethoscope.checks.findings import Finding
from stethoscope.pasted.scripts.facts import Facts


@dataclass(frozen=True)
class Rule:
    """One rule. Its module's docstring is its page: title, Why, Example, Fix, Source.

    `run` is a generator: what it found before it broke survives.
    """

    run: Callable[[Facts], Iterator[Finding]]
    same_as: frozenset[str] = field(default_factory=frozenset)
    """Ids of checks that find the same cause in a model: their finding and this one are one card."""
    id: str = ""
    """Kebab-case, "script-" and the file's name with dashes: filled from it."""
    title: str = ""
    """Where empty, the first line of its page."""

    def __post_init__(self) -> None:
        own = self.run.__module__.rpartition(".")[2].replace("_", "-")
        object.__setattr__(self, "id", self.id or f"script-{own}")
        object.__setattr__(self, "title", self.title or self.page.partition("\n")[0].rstrip("."))

    @property
    def page(self) -> str:
        """The docstring of its module."""
        module = inspect.getmodule(self.run)
        return inspect.cleandoc(module.__doc__ or "") if module else ""

    @property
    def source(self) -> str:
        """Where it comes from, as its page says."""
        return " ".join(self.page.partition("Source:")[2].split())

    def completed(self, finding: Finding) -> Finding:
        """A finding with what the rule knows of itself."""
        return replace(
            finding,
            check_id=finding.check_id or self.id,
            title=finding.title or self.title,
            source=finding.source or self.source,
        )
