"""The steps a user chose, in order: applied to what a data file gives, shown as one piece of code, kept in the address.

Steps as one short line of text that survives an address: "scale~x~factor~0.0039~~one_hot~y~classes~10".
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import all_steps
from stethoscope.data.preprocessing.parameter import Step
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


MAX_STEPS = 40
MAX_NAME = 200
_PART = re.compile(
    r"(?:(.+)_(?:train|test|val|valid|validation)|(?:train|test|val|valid|validation)_(.+))", re.IGNORECASE
)


@dataclass(frozen=True)
class Preparation:
    """Steps in the order in which they are applied."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def from_json(cls, value: Iterable[Mapping[str, Any]]) -> Preparation:
        """Reads a job's parameters.

        Raises:
            BadSetting: a step that does not exist, or with parameters that make no sense.
        """
        given = list(value)
        if len(given) > MAX_STEPS:
            raise BadSetting(f"Preparation: expected at most {MAX_STEPS} steps, got {len(given):,}. Leave some out.")
        return cls(tuple(_step(one) for one in given))

    @classmethod
    def from_address(cls, text: str) -> Preparation:
        """The inverse of `to_address`.

        Raises:
            BadSetting: not such a text, or not such steps.
        """
        return cls.from_json(read(text))

    def to_json(self) -> list[dict[str, Any]]:
        """As a job's parameter "preparation"."""
        return [step.to_json() for step in self.steps]

    def to_address(self) -> str:
        """A short text for the address, defaults left out; "" without steps."""
        return written(_without_defaults(step) for step in self.steps)

    def with_step(self, step: Step, place: int | None = None) -> Preparation:
        """The same with one more step, before the one at `place` (or last).

        Raises:
            BadSetting: as `from_json`.
        """
        at = len(self.steps) if place is None else place
        return Preparation.from_json([one.to_json() for one in (*self.steps[:at], step, *self.steps[at:])])

    def without(self, place: int) -> Preparation:
        """The same without the step at `place`; unchanged where there is none."""
        return Preparation(tuple(step for at, step in enumerate(self.steps) if at != place))

    def moved(self, place: int, by: int) -> Preparation:
        """The same with the step at `place` moved `by` places, as far as there are any."""
        steps = list(self.steps)
        if not 0 <= place < len(steps):
            return self
        step = steps.pop(place)
        steps.insert(min(max(place + by, 0), len(steps)), step)
        return Preparation(tuple(steps))

    def apply_to(self, name: str, values: Any) -> npt.NDArray[Any]:
        """The rows of the array `name` after its steps.

        Args:
            name: as in `Dataset.feed`.
            values: an array with the rows first, or a list of rows of several shapes, which are changed one by one and
                must then have one shape.

        Raises:
            BadInput: a step does not apply, or rows still differ in shape.
        """
        rows = self.rows_after(name, values)
        if isinstance(rows, list):
            shapes = sorted({row.shape for row in rows}, key=str)
            several = " and ".join(str(shape) for shape in shapes[:3])
            raise BadInput(
                f"{name!r}: expected every row to have one shape, got {several}. Add the step Resize (images) or Pad (sequences)."
            )
        return rows

    def rows_after(self, name: str, values: Any) -> npt.NDArray[Any] | list[npt.NDArray[Any]]:
        """As `apply_to`, where rows may still differ in shape: then a list of them.

        Raises:
            BadInput: a step does not apply.
        """
        rows: npt.NDArray[Any] | list[Any] = _stacked(values)
        for step in self.of(name):
            kind = all_steps()[step.kind]
            try:
                if isinstance(rows, list):
                    rows = _stacked([kind.apply(row[None], step.params)[0] for row in rows])
                else:
                    rows = kind.apply(rows, step.params)
            except BadInput as error:
                raise BadInput(f"Step {kind.title} of {name!r}: {error}") from error
        return rows

    def of(self, name: str) -> tuple[Step, ...]:
        """The steps that change the array `name`; those of "x" also change x_train, x_test and x_val."""
        return tuple(step for step in self.steps if covers(step.of, name))

    def code(self) -> str:
        """Python that does the same to variables of the arrays' names; "" without steps."""
        if not self.steps:
            return ""
        body = [
            all_steps()[step.kind].code(variable(step.of), all_steps()[step.kind].checked(step.params))
            for step in self.steps
        ]
        text = "\n".join(body)
        imports = ["import keras"] if "keras." in text else []
        return "\n".join([*imports, "import numpy as np", "", text]) + "\n"

    def words(self) -> list[str]:
        """Each step in a few words, in order: "÷255", "resize to 224×224", "y: one-hot, 10 classes"."""
        return [
            ("" if step.of == "x" else f"{step.of}: ")
            + all_steps()[step.kind].words(all_steps()[step.kind].checked(step.params))
            for step in self.steps
        ]


def covers(of: str, name: str) -> bool:
    """Whether a step of the array `of` changes the array `name`: itself, or another part of the same (x and x_test)."""
    if of == name:
        return True
    part = _PART.fullmatch(name)
    return part is not None and of == (part[1] or part[2])


def whole_of(name: str) -> str:
    """What to call the array `name` in a step, so that its held-out rows change too: "x" for x_train."""
    part = _PART.fullmatch(name)
    return name if part is None else part[1] or part[2]


def variable(name: str) -> str:
    """A Python name for an array: its own where that is one."""
    made = re.sub(r"\W", "_", name, flags=re.ASCII) or "array"
    return f"_{made}" if made[0].isdigit() or keyword.iskeyword(made) else made


def _without_defaults(step: Step) -> dict[str, Any]:
    defaults = {one.name: one.default for one in all_steps()[step.kind].parameters}
    said = {name: value for name, value in step.params.items() if value != defaults.get(name)}
    return Step(step.kind, step.of, said).to_json()


def _step(value: Mapping[str, Any]) -> Step:
    if not isinstance(value, Mapping) or not isinstance(value.get("step"), str):
        raise BadSetting(f'Preparation: expected steps like {{"step": "scale", "of": "x"}}, got {str(value)[:60]!r}.')
    kind = all_steps().get(value["step"])
    if kind is None:
        known = ", ".join(sorted(all_steps()))
        raise BadSetting(f"Step {value['step'][:40]!r}: no such step. Known: {known}.")
    of = value.get("of", "x")
    if not isinstance(of, str) or not 0 < len(of) <= MAX_NAME:
        raise BadSetting(f"Step {kind.id}: expected 'of' to be an array's name, got {str(of)[:40]!r}. Use x or y.")
    params = {name: item for name, item in value.items() if name not in ("step", "of")}
    return Step(kind.id, of, kind.checked(params))


def _stacked(values: Any) -> Any:
    """One array where rows have one shape, else the list of them."""
    import numpy as np

    if not isinstance(values, Sequence) or isinstance(values, str):
        return np.asarray(values)
    rows = [np.asarray(row) for row in values]
    return np.stack(rows) if rows and len({row.shape for row in rows}) == 1 else rows


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
