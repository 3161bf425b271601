"""The program for a plan, to copy: tf.distribute or keras.distribution.

Rules of a `keras.distribution.LayoutMap` for a tensor-parallel plan: which axis of which variable is split.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import LayerShape, ModelShape
from stethoscope.memory.card_programs import limit_card, need_cards
from stethoscope.memory.planner.plan import Plan, Settings
from stethoscope.memory.planner.states import Optimizer, Precision
from stethoscope.memory.planner.step_time import DEVICES_PER_HOST
from stethoscope.memory.planner.tensor_parallel import How, TensorSplit, tensor_split

_CLASSES = {
    "sgd": "SGD()",
    "momentum": "SGD(momentum=0.9)",
    "adam": "Adam()",
    "adamw": "AdamW()",
    "amsgrad": "Adam(amsgrad=True)",
    "nadam": "Nadam()",
    "adamax": "Adamax()",
    "rmsprop": "RMSprop()",
    "adagrad": "Adagrad()",
    "adadelta": "Adadelta()",
    "adafactor": "Adafactor()",
    "ftrl": "Ftrl()",
    "lamb": "Lamb()",
    "lion": "Lion()",
    "muon": "Muon()",
    "schedulefreeadamw": "ScheduleFreeAdamW()",
}
_POLICIES = ("mixed_float16", "mixed_bfloat16", "bfloat16", "float16")
_TPU = """resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")  # or the name of the TPU
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
"""


@dataclass(frozen=True)
class StrategyCode:
    """A program, and what it runs on."""

    title: str
    code: str
    """Valid Python."""
    runs_on: str
    """What must be installed: "TensorFlow" or "Keras with the JAX backend"."""
    note: str = ""


def strategy_codes(
    plan: Plan,
    settings: Settings,
    shape: ModelShape,
    model_file: str = "model.keras",
    loss: str = "",
    *,
    as_compiled: bool = False,
    tied_by_xla: bool = False,
    limit_bytes: int | None = None,
) -> tuple[StrategyCode, ...]:
    """Returns programs for a plan, the one to prefer first; none for what neither TensorFlow nor Keras can run.

    Args:
        plan: one of `plan(…)`.
        settings: what it was made with.
        shape: the model it was made for.
        model_file: the name of the file to load.
        loss: the name of the loss to compile with; a placeholder when not given.
        as_compiled: whether the file holds the loss and optimizer it is to be trained with.
        tied_by_xla: whether the file was compiled with jit_compile=True, so that `fit` fails on several devices as it is.
        limit_bytes: what the process may take of the one card it runs on; all of it when not given.
    """
    layout = plan.layout
    if not plan.available:
        return ()
    body = _Body(settings, model_file, loss, live=shape.live, as_compiled=as_compiled)
    body.tied_by_xla = tied_by_xla and layout.devices > 1
    if layout.tensor > 1:
        return (_model_parallel(plan, settings, shape, body),)
    if layout.data > 1:
        jax = _data_parallel(layout.data, body)
        if settings.device.is_tpu:
            return _tpu(body), jax
        if settings.training and layout.data > DEVICES_PER_HOST:
            return (jax,)
        return _mirrored(layout.data, body), jax
    return (_one_device(settings, body, limit_bytes),)


class _Body:
    """What is done with the model, whatever the strategy."""

    def __init__(
        self, settings: Settings, model_file: str, loss: str, *, live: bool, as_compiled: bool = False
    ) -> None:
        self.settings = settings
        self.tied_by_xla = False
        self.as_compiled = as_compiled and live and not _policy(settings.precision)
        self.loss = json.dumps(loss or "YOUR_LOSS")
        self.policy = _policy(settings.precision)
        if not live:
            self.make = "build_model()  # your own function: strategies and layouts take a Keras model, not this file"
        elif self.policy:
            self.make = "build_model()  # your own function: a loaded file keeps the policy it was saved with"
        else:
            self.make = f"keras.models.load_model({json.dumps(model_file)})"
        self.before = f'keras.config.set_dtype_policy("{self.policy}")\n' if self.policy else ""

    def make_lines(self, *, on_tensorflow: bool) -> str:
        """The model made (and compiled), within a strategy's scope on TensorFlow."""
        indent = "    " if on_tensorflow else ""
        lines = [f"model = {self.make}{'  # with its loss and optimizer' if self._compiled else ''}"]
        if self.settings.training and not self.as_compiled:
            name = _optimizer_class(self.settings.optimizer)
            lines.append(f"model.compile(optimizer=keras.optimizers.{name}, loss={self.loss})")
        if self._compiled and self.tied_by_xla and on_tensorflow:
            lines.append(
                "model.compile(optimizer=model.optimizer, loss=model.loss, jit_compile=False)  # XLA: one device only"
            )
        return "".join(f"{indent}{line}\n" for line in lines)

    @property
    def _compiled(self) -> bool:
        return self.as_compiled and self.settings.training

    def run(self, *, on_tensorflow: bool) -> str:
        """The call that does the work; `batch_size` is that of all replicas together."""
        size = self.settings.batch_size
        if self.settings.training and self.settings.device.is_tpu and on_tensorflow:
            return (
                "# Batches of one size: another one is compiled again. x: an array, or a dict of arrays by input name.\n"
                "data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10_000)\n"
                f"data = data.batch({size}, drop_remainder=True)\n"
                "model.fit(data, epochs=1)\n"
            )
        if self.settings.training:
            return f"model.fit(x, y, batch_size={size}, epochs=1)\n"
        return f"outputs = model.predict(x, batch_size={size})\n"


def _policy(chosen: str | Precision) -> str:
    name = chosen if isinstance(chosen, str) else chosen.id
    return name if name in _POLICIES else ""


def _optimizer_class(chosen: str | Optimizer) -> str:
    name = chosen if isinstance(chosen, str) else chosen.id
    return _CLASSES.get(name.lower().replace("_", "").replace("-", ""), "Adam()")


def _scoped(body: _Body, strategy: str, before: str = "") -> str:
    return (
        f"{before}import keras\nimport tensorflow as tf\n\n{body.before}{strategy}"
        f"with strategy.scope():\n{body.make_lines(on_tensorflow=True)}{body.run(on_tensorflow=True)}"
    )


def _one_device(settings: Settings, body: _Body, limit_bytes: int | None) -> StrategyCode:
    if settings.device.is_tpu:
        strategy = f'{_TPU}strategy = tf.distribute.OneDeviceStrategy("/TPU:0")\n'
    else:
        lines = need_cards(1) if limit_bytes is None else limit_card(0, limit_bytes)
        strategy = _lines(lines) + 'strategy = tf.distribute.OneDeviceStrategy("/GPU:0")\n'
    note = "" if limit_bytes is None else _LIMITED
    return StrategyCode("OneDeviceStrategy", _scoped(body, strategy), "TensorFlow", note)


_LIMITED = (
    "Its process may take no more of the card than this: more raises ResourceExhaustedError in it, and the others go on. CUDA's "
    "own few hundred MiB come on top."
)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _mirrored(devices: int, body: _Body) -> StrategyCode:
    here = min(devices, DEVICES_PER_HOST)
    names = ", ".join(f'"/GPU:{number}"' for number in range(here))
    note = f"batch_size is divided among {here} replicas; the learning rate may want to grow with a larger batch."
    if here < devices:
        note = f"On each of {-(-devices // here)} machines, with its own rows: Keras predicts within one machine only."
    strategy = f"{_lines(need_cards(here))}strategy = tf.distribute.MirroredStrategy([{names}])\n"
    return StrategyCode("MirroredStrategy", _scoped(body, strategy), "TensorFlow", note)


def _tpu(body: _Body) -> StrategyCode:
    strategy = f"{_TPU}strategy = tf.distribute.TPUStrategy(resolver)\n"
    note = "Every shape must be fixed: XLA compiles one program per batch size and sequence length."
    return StrategyCode("TPUStrategy", _scoped(body, strategy), "TensorFlow", note)


_JAX = 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"  # before Keras is imported\n\nimport keras\n\n'
_JAX_NOTE = "keras.distribution works with the JAX backend only: in Keras 3.15 its TensorFlow side is a prototype."


def _data_parallel(devices: int, body: _Body) -> StrategyCode:
    code = (
        f"{_JAX}{body.before}devices = keras.distribution.list_devices()[:{devices}]\n"
        "keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices))\n"
        f"{body.make_lines(on_tensorflow=False)}{body.run(on_tensorflow=False)}"
    )
    note = _JAX_NOTE
    if devices > DEVICES_PER_HOST:
        note += (
            " On several machines call keras.distribution.initialize() first. MultiWorkerMirroredStrategy does not train "
            "Keras 3 models: fit cannot combine the first batch of its replicas."
        )
    return StrategyCode("keras.distribution.DataParallel", code, "Keras with the JAX backend", note)


def _model_parallel(plan: Plan, settings: Settings, shape: ModelShape, body: _Body) -> StrategyCode:
    layout = plan.layout
    rules, left_out = layout_rules(shape, tensor_split(shape, layout.tensor))
    lines = "".join(f"layout_map[{key!r}] = {axes!r}\n" for key, axes in rules)
    code = (
        f"{_JAX}{body.before}devices = keras.distribution.list_devices()[:{layout.devices}]\n"
        f"mesh = keras.distribution.DeviceMesh(\n    shape=({layout.data}, {layout.tensor}), "
        'axis_names=("batch", "model"), devices=devices\n)\n'
        f"layout_map = keras.distribution.LayoutMap(mesh)\n{lines}"
        "keras.distribution.set_distribution(\n"
        '    keras.distribution.ModelParallel(layout_map=layout_map, batch_dim_name="batch")\n)\n'
        f"{body.make_lines(on_tensorflow=False)}{body.run(on_tensorflow=False)}"
    )
    note = (
        f"{_JAX_NOTE} tf.distribute has no tensor parallelism. Compare the keys with [v.path for v in model.variables]."
    )
    if left_out:
        note += f" Not in the map, their layout depends on how they were written: {', '.join(left_out[:5])}."
    return StrategyCode("keras.distribution.ModelParallel", code, "Keras with the JAX backend", note)


Axes = tuple[str | None, ...]
_MODEL = "model"
_KERNEL_RANKS = {"conv1d": 3, "conv2d": 4, "conv3d": 5}


def layout_rules(shape: ModelShape, split: TensorSplit) -> tuple[list[tuple[str, Axes]], list[str]]:
    """Returns (key, axes) for every variable that is split, and the layers whose variables cannot be told from the file.

    Keys are regular expressions that match a whole variable path; layers that differ by number only share one.

    Args:
        shape: the model.
        split: what is split, over the mesh axis "model".

    Source: `LayoutMap.__getitem__` (re.fullmatch, at most one match) and `ModelParallel`,
    keras/src/distribution/distribution_lib.py, 3.15.
    """
    wanted: dict[str, tuple[tuple[str, Axes], ...]] = {}
    left_out: list[str] = []
    for layer in shape.layers:
        how = split.how.get(layer.path)
        if how is None:
            continue
        variables = tuple(_variables(layer, how))
        name = layer.path.rsplit("/", 1)[-1]
        if not variables or wanted.get(name, variables) != variables:
            left_out.append(layer.path)
        else:
            wanted[name] = variables
    names = [layer.path.rsplit("/", 1)[-1] for layer in shape.layers if layer.parameters]
    rules: dict[str, Axes] = {}
    for name, variables in wanted.items():
        pattern = _numbered(name, variables, wanted, names)
        for variable, axes in variables:
            rules[f"(.*/)?{pattern}/{variable}"] = axes
    return list(rules.items()), left_out


def _numbered(
    name: str,
    variables: tuple[tuple[str, Axes], ...],
    wanted: dict[str, tuple[tuple[str, Axes], ...]],
    names: list[str],
) -> str:
    """The pattern for a layer's name with its numbers left open, unless that would match a layer treated otherwise."""
    pattern = re.sub(r"\d+", r"\\d+", re.escape(name))
    same = all(wanted.get(other) == variables for other in names if re.fullmatch(pattern, other))
    return pattern if same else re.escape(name)


def _variables(layer: LayerShape, how: How) -> Iterator[tuple[str, Axes]]:
    name = plain_type(layer.type)
    biased = layer.config.get("use_bias", True)
    if how in ("column", "row") and name == "dense":
        yield "kernel", (None, _MODEL) if how == "column" else (_MODEL, None)
        if how == "column" and biased:
            yield "bias", (_MODEL,)
    elif how == "heads" and layer.kind is Kind.ATTENTION and layer.parameters:
        for part in ("query", "key", "value"):
            yield f"{part}/kernel", (None, _MODEL, None)
            if biased:
                yield f"{part}/bias", (_MODEL, None)
        yield "attention_output/kernel", (_MODEL, None, None)
    elif how == "vocabulary" and name == "embedding":
        yield "embeddings", (_MODEL, None)
    elif how == "filters" and name in _KERNEL_RANKS:
        yield "kernel", (*(None,) * (_KERNEL_RANKS[name] - 1), _MODEL)
        if biased:
            yield "bias", (_MODEL,)
