"""Feature map pooled away.

Why: every pooling and every convolution without padding shrinks the image. Once it is 1 × 1 there is nothing left to look
for patterns in: a 3 × 3 convolution there sees one pixel and eight zeros, and all positions are already lost.
Example: five `MaxPooling2D` on 28 × 28 images with convolutions still to come.
Fix: fewer poolings, or `padding="same"`.
Limits: 1 × 1 with many channels (VGG on small images) is a usual end; with fewer than 64 it is named when training on the
data ends short of what is possible.
Source: Theia (2024), rules on kernel and pooling sizes; Dumoulin and Visin, A guide to convolution arithmetic (2016).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.short_run import learns_well, listed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_settings import SetPadding
from stethoscope.checks.fixes.layers import RemoveLayer
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import DROPPING, Connections
from stethoscope.types import Layer

_WINDOWS = ("Conv1D", "Conv2D", "Conv3D", "SeparableConv1D", "SeparableConv2D", "DepthwiseConv1D", "DepthwiseConv2D")
_FEW_CHANNELS = 64
_LEAST_IMAGE = 16
_POOLS = tuple(f"{kind}Pooling{n}D" for kind in ("Max", "Average") for n in (1, 2, 3))


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    for layer in graph.layers.values():
        if layer.type not in (*_WINDOWS, *_POOLS):
            continue
        sizes = _spatial(layer)
        if any(size is not None and size <= 0 for size in sizes):
            yield _finding(evidence, layer, _path_to(graph, layer), Severity.CRITICAL, empty=True)
            return
        before = graph.before(layer.path)
        window = _window(layer)
        if layer.type in _WINDOWS and before is not None and window and max(window) > 1:
            reaching = _spatial(before)
            # Images only: a kernel wider than a short sequence is common and harmless.
            if len(reaching) > 1 and all(size == 1 for size in reaching):
                way = _path_to(graph, layer)
                if any(any(size and size > 1 for size in _spatial(step)) for step in way):
                    usual = Severity.LOW if learns_well(evidence.training) else Severity.MEDIUM
                    yield _finding(evidence, layer, way, usual, empty=False)
                    return
    yield from _pooled_away(evidence)


def _pooled_away(evidence: EvidenceSet) -> Iterator[Finding]:
    """One pixel of few channels is all that a classifier gets of an image."""
    graph = evidence.connections
    for layer in graph.layers.values():
        if layer.type not in ("Flatten", "Reshape"):
            continue
        _, pool = graph.preceding(layer.path, (*DROPPING, "Activation", "BatchNormalization"))
        if pool is None or pool.type not in _POOLS or not pool.output_shape:
            continue
        sizes, channels, way = _spatial(pool), pool.output_shape[-1] or 0, _path_to(graph, layer)
        start = next((_spatial(step) for step in way if _spatial(step)), ())
        before = graph.before(pool.path)
        shrinks = before is not None and any((size or 0) > 1 for size in _spatial(before))
        image = len(sizes) > 1 and all((size or 0) >= _LEAST_IMAGE for size in start)
        if image and shrinks and all(size == 1 for size in sizes) and channels < _FEW_CHANNELS:
            known = evidence.training is not None and bool(evidence.training.base)
            poor = known and not learns_well(evidence.training)
            yield _finding(
                evidence, layer, way, Severity.MEDIUM if poor else Severity.LOW, empty=False, values=channels
            )
            return


def _spatial(layer: Layer) -> tuple[int | None, ...]:
    shape = layer.output_shape or ()
    if len(shape) < 3:
        return ()
    first = layer.config.get("data_format") == "channels_first"
    return tuple(shape[2:] if first else shape[1:-1])


def _window(layer: Layer) -> tuple[int, ...]:
    value = layer.config.get("kernel_size") or layer.config.get("pool_size")
    if isinstance(value, int):
        return (value,)
    return tuple(size for size in value if isinstance(size, int)) if isinstance(value, list | tuple) else ()


def _path_to(graph: Connections, layer: Layer) -> list[Layer]:
    """The layers on the way to `layer`, from the input on, as far as there is one way."""
    way: list[Layer] = []
    step = graph.before(layer.path)
    while step is not None and len(way) < 500:
        way.append(step)
        step = graph.before(step.path)
    return way[::-1]


def _finding(
    evidence: EvidenceSet, layer: Layer, way: list[Layer], severity: Severity, *, empty: bool, values: int = 0
) -> Finding:
    shrinking = [step for step in way if step.type in (*_WINDOWS, *_POOLS)]
    pools = [step for step in shrinking if step.type in _POOLS]
    unpadded = [step.path for step in shrinking if step.type in _WINDOWS and step.config.get("padding") == "valid"]
    fix: Fix | None = None
    if pools:
        fix = RemoveLayer(layer=pools[-1].path, why="the feature map is 1 × 1 after it")
    elif unpadded:
        fix = SetPadding(layers=tuple(unpadded), padding="same")
    shown = [(step.path, _spatial(step)[0]) for step in [*way, layer] if _spatial(step)]
    if empty:
        said = (
            f"{layer.path} has nothing left to look at: its output has no positions ({list(layer.output_shape or ())})."
        )
    elif values:
        said = (
            f"Pooling has shrunk the image to 1 × 1 before {layer.path}: {values} numbers are all that is left of it. "
            f"Use fewer or smaller poolings ({listed([step.path for step in pools])})."
        )
    else:
        window = " × ".join(str(size) for size in _window(layer))
        said = (
            f"The image has shrunk to 1 × 1 before {layer.path}, whose {window} window sees one pixel and padding. "
            f"{len(pools)} poolings come before it: use fewer, so that patterns keep a place."
        )
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=0.95 if empty else 0.7,
        where=layer.path,
        message=said,
        evidence=(
            Bars(
                "Height of the feature map",
                "pixels",
                tuple(name for name, _ in shown),
                tuple(float(size or 0) for _, size in shown),
                (Mark(1.0, "one pixel"),),
            ),
        ),
        fix=fix,
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=BADLY_TRAINED | {"dead-relu"},
)
