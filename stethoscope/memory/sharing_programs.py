"""The programs that put several models on one card: logical devices in one process, or a process for each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stethoscope.memory.card_programs import choose_card, named_devices
from stethoscope.memory.sharing import Share
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

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
    shares: Sequence[Share], batch_sizes: Mapping[str, int], architectures: Mapping[str, Architecture]
) -> tuple[SharingCode, ...]:
    """Returns the programs for a split: logical devices, one process per model on a card, and one per model on the CPU.

    Those for a card are left out where another runtime than TensorFlow runs one of the models.

    Args:
        shares: models by file name, with their sizes.
        batch_sizes: rows per call by name; 32 for a name that is missing.
        architectures: what `describe` gives, by name; each file is loaded and called as its format says.
    """
    models = tuple(
        _Printed(share, batch_sizes.get(share.name, 32), architectures[share.name], name)
        for share, name in zip(shares, _identifiers(shares).values(), strict=True)
    )
    others = [model for model in models if not model.on_tensorflow]
    if others:
        return (_processes(models, None, _not_on_a_card(others)),)
    return _logical_devices(models, 0), _processes(models, 0), _processes(models, None)


class _Printed:
    """One model in a program: how it is loaded and called, by its format."""

    def __init__(self, share: Share, batch_size: int, architecture: Architecture, identifier: str) -> None:
        self.share, self.batch_size, self.identifier = share, batch_size, identifier
        self.inputs = [spec.name for spec in architecture.inputs]
        self.format = format_of(architecture)
        self.on_tensorflow = self.format.runtime == "tensorflow"
        self._program = self.format.program(share.name, architecture)

    @property
    def imports(self) -> list[str]:
        """What is imported, TensorFlow once and first."""
        first = ["import tensorflow as tf"] if self.on_tensorflow else []
        return [*first, *(line for line in self._program.imports if line not in first)]

    def loading(self, before: Sequence[str] = (), *, measured: bool = False) -> str:
        """A function that loads the model and returns the function that calls it on arrays by input name.

        Args:
            before: lines between the imports and the loading.
            measured: returns as well what the process held with its runtime, before the model.
        """
        returned = ", and the bytes held before" if measured else ""
        if self.format.live:  # batches by itself: a call holds every layer's output
            calling = [
                "def predict(inputs, batch_size):",
                "    arrays = list(inputs.values())",
                "    given = arrays if len(arrays) > 1 else arrays[0]",
                "    return as_list(model.predict(given, batch_size=batch_size, verbose=0))",
            ]
        else:
            calling = [
                "def call(batch):",
                "    results = []",
                *_indented(self._program.call, 4),
                "    return as_list(results[0])",
                "",
                "def predict(inputs, batch_size):",
                "    return in_batches(call, inputs, batch_size)",
            ]
        lines = [
            f"def load_{self.identifier}(limit_mib):",
            f'    """Loads {_said(self.share.name)}; returns what predicts from arrays by input name{returned}."""',
            *_indented([*self.imports, "", *before, *(["held_bytes = data_bytes()"] if measured else [])], 4),
            *_indented([*self._program.load, "", *calling, ""], 4),
            f"    return predict{', held_bytes' if measured else ''}",
        ]
        return "\n".join(lines) + "\n\n\n"


def _said(name: str) -> str:
    """A file's name inside a docstring."""
    return re.sub(r"[^\w .()-]", "_", name, flags=re.ASCII)


def _indented(lines: Sequence[str], spaces: int) -> list[str]:
    return [" " * spaces + line if line else "" for line in lines]


def _not_on_a_card(others: Sequence[_Printed]) -> str:
    names = ", ".join(f"{model.share.name} ({model.format.runtime})" for model in others)
    return f" There is no program for a card: TensorFlow, which divides one, does not run {names}."


def _logical_devices(models: Sequence[_Printed], gpu_index: int) -> SharingCode:
    devices = "".join(
        f"        tf.config.LogicalDeviceConfiguration(memory_limit={model.share.share_bytes // _MIB}),  # MiB, "
        f"{_said(model.share.name)}\n"
        for model in models
    )
    loads = "".join(
        f'with tf.device("/GPU:{place}"):\n    {model.identifier} = load_{model.identifier}(None)\n'
        for place, model in enumerate(models)
    )
    calls = "".join(
        f'    with tf.device("/GPU:{place}"):\n'
        f"        outputs[{json.dumps(model.share.name)}] = {model.identifier}("
        f"inputs[{json.dumps(model.share.name)}], {model.batch_size})\n"
        for place, model in enumerate(models)
    )
    card = "\n".join(choose_card(gpu_index))
    called = named_devices([model.share.share_bytes for model in models])
    loaders = "".join(model.loading() for model in models)
    code = (
        "import numpy as np\nimport tensorflow as tf\n\n"
        "# Before TensorFlow's first operation: afterwards it refuses.\n"
        f"{card}\n"
        "tf.config.set_logical_device_configuration(\n    gpu,\n    [\n"
        f"{devices}    ],\n)\n{called}\n\n\n{loaders}{_IN_BATCHES}{loads}\n\n"
        "def predict(inputs):\n"
        '    """Takes arrays by input name for each model file, and returns the list of its outputs."""\n'
        f"    outputs = {{}}\n{calls}    return outputs\n"
    )
    note = (
        "One process, one CUDA context. A model that exceeds its logical device gets ResourceExhaustedError; the others "
        "keep their memory, but a crash ends all of them. Memory growth cannot be asked for as well: TensorFlow refuses "
        "it on a card that has logical devices."
    )
    return SharingCode("One process, a logical device for each model", code, note, True)


def _processes(models: Sequence[_Printed], gpu_index: int | None, more: str = "") -> SharingCode:
    table = "".join(
        f"    ({json.dumps(model.share.name)}, load_{model.identifier}, {model.inputs!r}, "
        f"{model.share.share_bytes // _MIB}, {model.batch_size}),\n"
        for model in models
    )
    on_gpu = gpu_index is not None
    on_card, off_card = [*choose_card(gpu_index or 0), *_WITHIN_LIMIT.splitlines()], _OFF_CARD.splitlines()
    loads = "".join(
        model.loading(on_card if on_gpu else off_card if model.on_tensorflow else (), measured=not on_gpu)
        for model in models
    )
    code = _PROCESSES.format(
        table=table,
        loads=loads + _IN_BATCHES,
        imports="" if on_gpu else "import resource\n",
        limit=_GPU_CALL if on_gpu else _CPU_LIMIT,
    )
    note = (
        "A process for each model: one that exceeds its share, or crashes, dies alone. Each has its own CUDA context "
        "(some hundred MiB beyond the limit): leave room for it."
        if on_gpu
        else "A process for each model, each with a hard limit on the memory it adds (Linux). One that exceeds it dies "
        "alone. The limit is set after loading: set earlier, TensorFlow aborts instead of raising an error. It counts what is "
        "mapped, touched or not: without oneDNN, convolutions map several times what they touch, and need larger shares."
    )
    where = "on a card" if on_gpu else "on the CPU"
    return SharingCode(f"A process for each model, {where}", code, note + more, on_gpu)


_WITHIN_LIMIT = """tf.config.set_logical_device_configuration(
    gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=limit_mib)]
)"""
_OFF_CARD = 'tf.config.set_visible_devices([], "GPU")'
_GPU_CALL = "    predict = load(limit_mib)\n"
_CPU_LIMIT = """    predict, held_bytes = load(limit_mib)
    first = {name: array[:1] for name, array in inputs.items()}
    predict(first, 1)  # starts the runtime's threads before the limit holds
    left = max(0, (limit_mib << 20) - (data_bytes() - held_bytes))
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + left, resource.RLIM_INFINITY))
"""
_IN_BATCHES = '''def as_list(made):
    """A model's outputs, whatever holds them."""
    made = list(made.values()) if isinstance(made, dict) else made
    return [np.asarray(item) for item in (made if isinstance(made, (list, tuple)) else [made])]


def in_batches(call, inputs, batch_size):
    """The list of a model's outputs for all rows."""
    parts = []
    for start in range(0, len(next(iter(inputs.values()))), batch_size):
        parts.append(call({name: array[start : start + batch_size] for name, array in inputs.items()}))
    return [np.concatenate(output) for output in zip(*parts, strict=True)]


'''
_PROCESSES = '''"""Runs each model in a process of its own, none with more memory than its share."""

import multiprocessing
{imports}import sys

import numpy as np


{loads}MODELS = [  # file, how it is loaded, its inputs, MiB, batch size
{table}]


def data_bytes():
    """Memory this process has asked for and can write to."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))


def serve(place, path):
    """Predicts what is in `path` (.npz: one array per input, in the model's order); writes outputs beside it."""
    _, load, names, limit_mib, batch_size = MODELS[place]
    with np.load(path) as given:
        inputs = dict(zip(names, given.values(), strict=True))
{limit}    np.savez(path + ".outputs.npz", *predict(inputs, batch_size))


def main(paths):
    """One .npz of inputs per model, in the order of MODELS."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=serve, args=(place, path), name=model[0])
        for place, (model, path) in enumerate(zip(MODELS, paths, strict=True))
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
