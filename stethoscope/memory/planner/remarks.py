"""What is worth knowing of one plan, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stethoscope.memory.planner.parallelism import Division, Estimate, Workload, estimate
from stethoscope.memory.planner.tiles import LANES, SUBLANES
from stethoscope.sizes import human_bytes

NO_PROGRAM = (
    "Not available in TensorFlow: what it computes again draws other dropout masks than the first time, and Keras computes "
    "again layer by layer, which keeps the input of each."
)


def notes_of(work: Workload, asked: int, needs: Estimate) -> Iterator[str]:
    """What to know of a layout: idle devices, uneven batches, what is split, padded or computed again.

    Args:
        work: the workload.
        asked: devices that there are.
        needs: what the layout needs.
    """
    layout = needs.layout
    if not layout.available:
        yield NO_PROGRAM
    if layout.devices < asked:
        yield f"Uses {layout.devices} of {asked} devices."
    if layout.data > work.batch_size:
        yield f"A batch of {work.batch_size} leaves {layout.data - work.batch_size} of {layout.data} replicas without samples."
    elif layout.data > 1 and work.batch_size % layout.data:
        yield f"{work.batch_size} samples do not divide by {layout.data}: some replicas get one more."
    yield from needs.division.split.notes
    if work.tiled:
        yield from _tiles(work, needs)
    if layout.recompute == "full":
        kept = len(needs.division.segments.cuts)
        yield f"Activations are kept at {kept} places and computed again between them."
    if layout.recompute == "selective":
        yield "The attention scores are computed again in the backward pass."
    if work.training and work.precision.cast_bytes:
        yield "Mixed precision keeps float32 variables; the 16-bit copies of the kernels are among the buffers."
    if work.optimizer is not None and work.optimizer.note:
        yield work.optimizer.note
    if work.training and not work.shape.trainable:
        yield "A file of this format cannot be trained: this is for a Keras model of the same shape."
    if work.training and not work.shape.trainable_known:
        yield "The format does not say what is trained: all parameters are taken as trainable."
    yield from work.shape.assumptions


def _tiles(work: Workload, needs: Estimate) -> Iterator[str]:
    """What the tiles of a TPU add."""
    plain = Division(replace(work, tiled=False), needs.layout.tensor)
    added = needs.bytes.total - estimate(plain.work, needs.layout, plain).bytes.total
    sizes = needs.division.kept if work.training else needs.division.live
    before = plain.kept if work.training else plain.live
    worst = max(range(len(sizes)), key=lambda place: sizes[place] - before[place], default=None)
    if added > 0 and worst is not None:
        yield (
            f"Tiles of {SUBLANES} × {LANES} add {human_bytes(added)} to {human_bytes(needs.bytes.total - added)}: the last "
            f"two axes of each tensor are filled up to them, most of all of {work.shape.layers[worst].path}. XLA may lay "
            "other axes there, which needs less."
        )
    rows = -(-work.batch_size // needs.layout.data)
    if rows % SUBLANES:
        yield f"{rows} samples on each core are filled up to a multiple of {SUBLANES} where the batch is one of those axes."


def milliseconds(seconds: float) -> str:
    """A time per step with its unit: "0.41 ms", "38 ms", "2.1 s"."""
    return f"{seconds:,.2g} s" if seconds >= 1 else f"{1000 * seconds:,.{2 if seconds < 0.1 else 3}g} ms"
