"""The programs that put several models on one card: logical devices in one process, or a process for each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stethoscope.memory.sharing import Share

_MIB = 1 << 20


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
