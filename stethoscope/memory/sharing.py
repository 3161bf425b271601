"""One card for several models: what each needs, what it may use, and whether all of it fits.

The programs that put several models on one card: logical devices in one process, or a process for each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stethoscope.errors import BadSetting
from stethoscope.sizes import human_bytes


@dataclass(frozen=True)
class SharingCode:
    """A program to copy."""

    title: str
    code: str
    """Valid Python."""
    note: str
    needs_gpu: bool
    """A program that needs a card was generated here, not run."""


def sharing_codes(
    shares: Sequence[Share], batch_sizes: Mapping[str, int], *, gpu_index: int = 0
) -> tuple[SharingCode, ...]:
    """Returns the programs for a split: logical devices, one process per model on a card, and one per model on the CPU.

    Args:
        shares: models by file name, with their sizes.
        batch_sizes: rows per call by name; 32 for a name that is missing.
        gpu_index: which card.
    """
    return (
        _logical_devices(shares, batch_sizes, gpu_index),
        _processes(shares, batch_sizes, gpu_index),
        _processes(shares, batch_sizes, None),
    )


def _logical_devices(shares: Sequence[Share], batch_sizes: Mapping[str, int], gpu_index: int) -> SharingCode:
    names = _identifiers(shares)
    devices = "".join(
        f"        tf.config.LogicalDeviceConfiguration(memory_limit={share.share_bytes // _MIB}),  # MiB, {share.name}\n"
        for share in shares
    )
    loads = "".join(
        f'with tf.device("/GPU:{place}"):\n    {names[share.name]} = keras.models.load_model({json.dumps(share.name)})\n'
        for place, share in enumerate(shares)
    )
    calls = "".join(
        f'    with tf.device("/GPU:{place}"):\n'
        f"        outputs[{json.dumps(share.name)}] = {names[share.name]}.predict("
        f"inputs[{json.dumps(share.name)}], batch_size={batch_sizes.get(share.name, 32)})\n"
        for place, share in enumerate(shares)
    )
    code = (
        "import keras\nimport tensorflow as tf\n\n"
        "# Before TensorFlow's first operation: afterwards it refuses.\n"
        f'gpu = tf.config.list_physical_devices("GPU")[{gpu_index}]\n'
        'tf.config.set_visible_devices([gpu], "GPU")\n'
        "tf.config.set_logical_device_configuration(\n    gpu,\n    [\n"
        f"{devices}    ],\n)\n\n{loads}\n\n"
        "def predict(inputs):\n"
        '    """Takes and returns one array (or list of arrays) per model file."""\n'
        f"    outputs = {{}}\n{calls}    return outputs\n"
    )
    note = (
        "One process, one CUDA context. A model that exceeds its logical device gets ResourceExhaustedError; the others "
        "keep their memory, but a crash ends all of them. Memory growth cannot be asked for as well: TensorFlow refuses "
        "it on a card that has logical devices."
    )
    return SharingCode("One process, a logical device for each model", code, note, True)


def _processes(shares: Sequence[Share], batch_sizes: Mapping[str, int], gpu_index: int | None) -> SharingCode:
    table = "".join(
        f"    ({json.dumps(share.name)}, {share.share_bytes // _MIB}, {batch_sizes.get(share.name, 32)}),\n"
        for share in shares
    )
    on_gpu = gpu_index is not None
    limit = _GPU_LIMIT.format(index=gpu_index) if on_gpu else _CPU_LIMIT
    code = _PROCESSES.format(table=table, imports="" if on_gpu else "import resource\n", limit=limit)
    note = (
        "A process for each model: one that exceeds its share, or crashes, dies alone. Each has its own CUDA context "
        "(some hundred MiB beyond the limit): leave room for it."
        if on_gpu
        else "A process for each model, each with a hard limit on the memory it adds (Linux). One that exceeds it dies "
        "alone. The limit is set after loading: set earlier, TensorFlow aborts instead of raising an error. It counts what is "
        "mapped, touched or not: without oneDNN, convolutions map several times what they touch, and need larger shares."
    )
    where = "on a card" if on_gpu else "on the CPU"
    return SharingCode(f"A process for each model, {where}", code, note, on_gpu)


_GPU_LIMIT = """    gpu = tf.config.list_physical_devices("GPU")[{index}]
    tf.config.set_visible_devices([gpu], "GPU")
    tf.config.set_logical_device_configuration(
        gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=limit_mib)]
    )
    model = keras.models.load_model(name)
"""
_CPU_LIMIT = """    tf.config.set_visible_devices([], "GPU")
    before = data_bytes()
    model = keras.models.load_model(name)
    model.predict(as_inputs([array[:1] for array in rows]), batch_size=1, verbose=0)  # starts TensorFlow's threads before the limit holds
    left = max(0, (limit_mib << 20) - (data_bytes() - before))
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + left, resource.RLIM_INFINITY))
"""
_PROCESSES = '''"""Runs each model in a process of its own, none with more memory than its share."""

import multiprocessing
{imports}import sys

import numpy as np

MODELS = [  # file, MiB, batch size
{table}]


def data_bytes():
    """Memory this process has asked for and can write to."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))


def as_inputs(arrays):
    """What `predict` takes: the array of a model with one input, else the list."""
    return arrays if len(arrays) > 1 else arrays[0]


def serve(name, limit_mib, batch_size, path):
    """Predicts what is in `path` (.npz: one array per input, in the model's order); writes outputs beside it."""
    import keras  # inside the process: each has a TensorFlow of its own
    import tensorflow as tf

    rows = list(np.load(path).values())
{limit}    outputs = model.predict(as_inputs(rows), batch_size=batch_size, verbose=0)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    np.savez(path + ".outputs.npz", *outputs)


def main(paths):
    """One .npz of inputs per model, in the order of MODELS."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=serve, args=(*model, path), name=model[0])
        for model, path in zip(MODELS, paths, strict=True)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        print(process.name, "done" if process.exitcode == 0 else f"ended with {{process.exitcode}}")


if __name__ == "__main__":
    main(sys.argv[1:])
'''


def _identifiers(shares: Sequence[Share]) -> dict[str, str]:
    found: dict[str, str] = {}
    for share in shares:
        stem = re.sub(r"\W+", "_", share.name.rsplit(".", 1)[0], flags=re.ASCII).strip("_").lower() or "model"
        base = f"model_{stem}" if not stem[0].isalpha() else stem
        name, number = base, 2
        while name in found.values() or name in ("keras", "tf", "gpu", "predict", "inputs", "outputs"):
            name, number = f"{base}_{number}", number + 1
        found[share.name] = name
    return found


HEADROOM_FRACTION = 0.1
"""For fragmentation and for what no estimate sees."""
HEADROOM_BYTES = 32 << 20
"""The least headroom: allocators grow in steps of this order, whatever the model's size."""
_MIB = 1 << 20


@dataclass(frozen=True)
class Share:
    """One model's part of a card. Sizes in bytes."""

    name: str
    predicted_bytes: int
    """The peak expected of it."""
    needed_bytes: int
    """The same with headroom."""
    share_bytes: int
    """What it may use: at least `needed_bytes` when all fit, in whole MiB."""


@dataclass(frozen=True)
class Split:
    """A card divided between models. Sizes in bytes."""

    device_bytes: int
    reserved_bytes: int
    """Kept for the runtime: on a GPU the CUDA context and the libraries' workspaces."""
    headroom_fraction: float
    shares: tuple[Share, ...]
    needed_bytes: int
    """All models together, with headroom."""
    fits: bool
    fitting: tuple[str, ...]
    """A largest set of models that fit together: all of them when `fits`."""
    sentence: str

    def share_of(self, name: str) -> Share:
        """The share of a model by name."""
        return next(share for share in self.shares if share.name == name)


def split(
    predicted_bytes: Mapping[str, int],
    device_bytes: int,
    *,
    headroom_fraction: float = HEADROOM_FRACTION,
    reserved_bytes: int = 0,
    own_shares: Mapping[str, int] | None = None,
) -> Split:
    """Divides a card: each model gets its expected peak with headroom, and what is left in proportion to that.

    When they do not fit, every model's share is smaller than it needs, in proportion.

    Args:
        predicted_bytes: the expected peak of each model by name.
        device_bytes: the card's memory, or the budget on a CPU.
        headroom_fraction: on top of each expected peak; 0.1 is a tenth.
        reserved_bytes: kept for the runtime.
        own_shares: sizes chosen by hand for some of the models; the others divide the rest.

    Raises:
        BadSetting: no model, an unknown name, a headroom or size that makes no sense, or chosen shares beyond the card.
    """
    own = dict(own_shares or {})
    _check(predicted_bytes, device_bytes, headroom_fraction, reserved_bytes, own)
    usable = device_bytes - reserved_bytes
    needed = {name: size + max(HEADROOM_BYTES, int(size * headroom_fraction)) for name, size in predicted_bytes.items()}
    rest = usable - sum(own.values())
    others = sum(size for name, size in needed.items() if name not in own)
    given = {
        name: own.get(name, int(rest * size / others) if others else 0) // _MIB * _MIB for name, size in needed.items()
    }
    shares = tuple(Share(name, predicted_bytes[name], needed[name], given[name]) for name in needed)
    total = sum(needed.values())
    fits = total <= usable and all(share.share_bytes >= share.predicted_bytes for share in shares)
    fitting = tuple(needed) if fits else _fitting(needed, usable)
    return Split(
        device_bytes,
        reserved_bytes,
        headroom_fraction,
        shares,
        total,
        fits,
        fitting,
        _sentence(shares, total, usable, fits, fitting),
    )


def _check(
    predicted: Mapping[str, int], device_bytes: int, headroom: float, reserved_bytes: int, own: Mapping[str, int]
) -> None:
    if not predicted:
        raise BadSetting("Models on one card: expected at least one model, got none. Choose the models.")
    if not 0 <= headroom <= 10:
        raise BadSetting(f"Headroom {headroom:g}: expected a fraction from 0 to 10, for example 0.1. Correct it.")
    if device_bytes <= 0 or not 0 <= reserved_bytes < device_bytes:
        raise BadSetting(
            f"The card: expected more memory than the {human_bytes(reserved_bytes)} kept for the runtime, got "
            f"{human_bytes(device_bytes)}. Choose a larger card."
        )
    unknown = set(own) - set(predicted)
    if unknown or any(size <= 0 for size in own.values()):
        raise BadSetting(
            f"Shares: expected more than 0 bytes for some of {', '.join(predicted)}, got {dict(own)}. Correct them."
        )
    if sum(own.values()) > device_bytes - reserved_bytes or (
        len(own) < len(predicted) and sum(own.values()) >= device_bytes - reserved_bytes
    ):
        raise BadSetting(
            f"Shares: the chosen ones take {human_bytes(sum(own.values()))} of the card's "
            f"{human_bytes(device_bytes - reserved_bytes)} and leave nothing for the others. Choose smaller ones."
        )


def _fitting(needed: Mapping[str, int], usable: int) -> tuple[str, ...]:
    """The most models that fit: smallest first is optimal for their number."""
    chosen: list[str] = []
    left = usable
    for name, size in sorted(needed.items(), key=lambda item: item[1]):
        if size <= left:
            chosen.append(name)
            left -= size
    return tuple(name for name in needed if name in chosen)


def _sentence(shares: tuple[Share, ...], total: int, usable: int, fits: bool, fitting: tuple[str, ...]) -> str:
    small = [share for share in shares if share.share_bytes < share.predicted_bytes]
    if fits:
        return f"{'Both' if len(shares) == 2 else f'All {len(shares)}'} fit: {human_bytes(total)} with headroom, of {human_bytes(usable)}."
    if total <= usable:
        names = ", ".join(f"{share.name} ({human_bytes(share.predicted_bytes)})" for share in small)
        return f"The card is large enough, but these shares are smaller than the expected peak: {names}."
    largest = max(shares, key=lambda share: share.needed_bytes)
    alone = f" Together fit: {', '.join(fitting)}." if fitting else " Not one of them fits alone."
    return (
        f"They do not fit: {human_bytes(total)} with headroom, {human_bytes(total - usable)} more than "
        f"{human_bytes(usable)}. The largest is {largest.name}; lower its batch size or precision.{alone}"
    )
