"""What `stethoscope describe` prints for people: a model, weights without one, whether they fit; one line of each of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.sizes import human_bytes
from stethoscope.types import CompileSettings, TensorSpec

if TYPE_CHECKING:
    from stethoscope.models.weights.fitting import WeightsFit
    from stethoscope.tasks.describe import Description

_SHOWN_LAYERS = 200
_WIDE = 110


def description(described: Description) -> None:
    """Prints the answer of `describe`."""
    console = Console(highlight=False)
    parameters = described.parameters
    trainable = "" if parameters.trainable is None else f" ({parameters.trainable:,} trainable)"
    console.print(
        f"[bold]{escape(described.format)}[/]  {escape(described.framework_version)}  {human_bytes(described.size_bytes)}"
    )
    console.print(f"{parameters.total:,} parameters{trainable}")
    for title, specs in (("input", described.inputs), ("output", described.outputs)):
        for spec in specs:
            console.print(f"{title:>6}  {escape(spec.name)}  {shape(spec.shape)}  {spec.dtype}")
    if described.compile:
        console.print("compiled  " + escape(compiled(described.compile)))
    if described.weights:
        _tensors(console, described)
    else:
        _layers(console, described)
    for warning in described.warnings:
        console.print(f"[yellow]note[/]  {escape(warning)}")
    for hazard in described.hazards:
        console.print(f"[red]code[/]  {escape(hazard.message)}")
    if described.runnable:
        console.print(f"[yellow]cannot run here[/]  {escape(described.runnable)}")


def _layers(console: Console, described: Description) -> None:
    table = Table("layer", "type", "output shape", "parameters", box=None, pad_edge=False)
    for layer in described.layers[:_SHOWN_LAYERS]:
        table.add_row(escape(layer.path), escape(layer.type), shape(layer.output_shape), f"{layer.parameters:,}")
    console.print(table)
    if len(described.layers) > _SHOWN_LAYERS:
        console.print(f"… and {len(described.layers) - _SHOWN_LAYERS:,} more (--json has all)")


def _tensors(console: Console, described: Description) -> None:
    """Weights without a graph, one array a line."""
    wide = console.width >= _WIDE
    table = Table(box=None, pad_edge=False)
    for name in (
        "array",
        *(("is", "dtype") if wide else ()),
        "shape",
        "mean",
        "std",
        *(("min", "max") if wide else ()),
        "NaN, ∞",
    ):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for one, layer in zip(described.weights[:_SHOWN_LAYERS], described.layers, strict=False):
        kind = (escape(layer.type), escape(one.dtype)) if wide else ()
        numbers = (one.mean, one.std, *((one.min, one.max) if wide else ()))
        values = ["" if each is None else f"{each:.3g}" for each in numbers]
        bad = "[yellow]not read[/]" if one.unreadable else f"[red]{one.nonfinite:,}[/]" if one.nonfinite else "0"
        table.add_row(escape(one.name), *kind, shape(one.shape), *values, bad)
    console.print(table)
    if len(described.weights) > _SHOWN_LAYERS:
        console.print(f"… and {len(described.weights) - _SHOWN_LAYERS:,} more (--json has all, with histograms)")


def compiled(settings: CompileSettings) -> str:
    """For people: "loss binary_crossentropy, optimizer Adam, learning_rate 0.01, metrics accuracy"."""
    said = {name: getattr(settings, name) for name in ("loss", "optimizer", "learning_rate", "metrics")}
    return ", ".join(f"{name} {_words(value)}" for name, value in said.items() if value)


def _words(value: Any) -> str:
    """A setting as Keras serialises it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        if "class_name" in value:
            return _called(str(value["class_name"]), value.get("config"))
        return " and ".join(f"{_words(one)} of {name}" for name, one in value.items() if one)
    if isinstance(value, list | tuple):
        return " and ".join(_words(one) for one in value if one is not None)
    return str(value)


_USUAL = {"name", "dtype", "reduction", "fn"}


def _called(name: str, config: Any) -> str:
    """A class with what it was made with, a function by its name."""
    if isinstance(config, str):
        return config
    inner = config if isinstance(config, Mapping) else {}
    said = [
        f"{key}={_words(one)}"
        for key, one in inner.items()
        if key not in _USUAL and one not in (None, False, 0, {}, [])
    ]
    return f"{name}({', '.join(said)})" if said else name


_SHOWN_MISFITS = 40


def fit(found: WeightsFit) -> None:
    """Prints whether weights fit the model."""
    console = Console(highlight=False)
    console.print(f"[green]{escape(verdict(found))}[/]" if found.fits else f"[red]{escape(verdict(found))}[/]")
    lines = list(misfits(found))
    for one in lines[:_SHOWN_MISFITS]:
        console.print(f"  {escape(one)}", soft_wrap=True)
    if len(lines) > _SHOWN_MISFITS:
        console.print(f"  … and {len(lines) - _SHOWN_MISFITS:,} more (--json has all)")


def verdict(found: WeightsFit) -> str:
    """One sentence: they fit, or how much does not."""
    how = {
        "name": "",
        "order": ", matched in their order: the names of their layers differ",
        "size": ", matched by size: the model has operators and no layers",
    }[found.matched_by]
    if found.fits:
        return f"{found.weights} fits this model: {found.arrays:,} arrays{how}"
    apart = len(found.misfits) + len(found.missing) + len(found.unexpected)
    return f"{found.weights} does not fit this model: {apart:,} differences, {found.arrays:,} arrays fit{how}"


def misfits(found: WeightsFit) -> Iterator[str]:
    """What does not fit, a line each."""
    yield from (one.sentence for one in found.misfits)
    yield from (f"{layer}: nothing is stored for it" for layer in found.missing)
    yield from (f"{layer}: the model has no such layer" for layer in found.unexpected)


def line(described: Description, found: WeightsFit | None = None) -> str:
    """One of many models: what it is, how large, and whether it runs here."""
    parts = [described.format, human_bytes(described.size_bytes), f"{described.parameters.total:,} parameters"]
    bad = sum(one.nonfinite or 0 for one in described.weights)
    if described.weights:
        parts += [f"{len(described.weights):,} arrays", *([f"{bad:,} NaN or infinite"] if bad else [])]
    else:
        parts += [f"{' '.join(map(_spec, described.inputs))} → {' '.join(map(_spec, described.outputs))}"]
        parts += ["cannot run here"] if described.runnable else []
    if found is not None:
        parts.append("fits" if found.fits else "does not fit")
    return "  ".join(parts)


def _spec(spec: TensorSpec) -> str:
    return f"{shape(spec.shape)} {spec.dtype}".strip()


def printable(text: str) -> str:
    """On one line, without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text.replace("\n", " "))


def shape(sizes: Sequence[int | None] | None) -> str:
    """Returns (?, 28, 28, 1): a question mark for a dynamic dimension."""
    if sizes is None:
        return "unknown"
    inner = ", ".join("?" if size is None else str(size) for size in sizes)
    return f"({inner},)" if len(sizes) == 1 else f"({inner})"
