"""Which layers of a model can be seen at work, and why not where they cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stethoscope.models.capabilities import IN_BODY, LiveModel, MainGraphOnly
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Layer, Runner

CONSTANT = "It is the same for every input: a constant or a weight."
NO_NUMBERS = "Its output holds no numbers (but text, a list, a table or a handle)."
NO_VALUE = "It had no output of its own in this call: it is not called, or only inside a loop, a branch or a function."
INPUT_TYPES = ("InputLayer", "Placeholder", "PlaceholderWithDefault", "Input")
_CONSTANTS = ("Const", "Constant", "ConstantOfShape", "VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "NoOp")
_BEGINS = "It is where a nested model begins, and hands on what that is given."
_IN_KERAS = "It is inside a layer that Keras does not call piece by piece, so only the layer around it can be seen."
_NEVER_CALLED = "It is not called when the model predicts."


def reachable(architecture: Architecture, runner: Runner | None = None) -> dict[str, str]:
    """Says of each layer why its output cannot be seen; "" where it can.

    What only a run tells (a layer that is never called, a branch that is not taken) is said by `unseen`.

    Args:
        architecture: as described.
        runner: the opened model; without one, nothing is said that depends on its live layers.
    """
    graph = not format_of(architecture).live
    driven = driven_by_inputs(architecture) if graph else frozenset()
    live = _live_paths(runner)
    hidden = _hidden(architecture, runner)
    names = [spec.name for spec in (architecture.inputs if runner is None else runner.inputs)]
    found = {
        layer.path: _BEGINS
        if layer.type == "InputLayer" and not fed_by(layer, names)
        else hidden.get(layer.path) or _reason(architecture, layer, driven if graph else None, live)
        for layer in architecture.layers
    }
    # Layers of a model's own class that hold no weights are not in its file, but are there when it runs.
    return found | dict.fromkeys((live or set()) - found.keys(), "")


def known_layers(architecture: Architecture, runner: Runner) -> dict[str, Layer]:
    """The layers by path: as described, and with nothing but a path those that only the live model has."""
    found = {layer.path: layer for layer in architecture.layers}
    for path in _live_paths(runner) or ():
        found.setdefault(path, Layer(path, "", None, 0, 0, ""))
    return found


@dataclass(frozen=True)
class UnseenLayer:
    """A layer without an output, and why."""

    path: str
    reason: str


def unseen(
    architecture: Architecture, expected: Mapping[str, str], seen: Collection[str], hidden: Mapping[str, str]
) -> list[UnseenLayer]:
    """The layers without an output after a run.

    Args:
        architecture: as described.
        expected: of `reachable`.
        seen: keys of the outputs that were ("path", "path#2", "path:1").
        hidden: reasons of the run itself, by such keys.
    """
    bases = {base(key, expected) for key in seen}
    reasons = {base(key, expected): reason for key, reason in hidden.items()}
    found = []
    for layer in architecture.layers:
        if layer.path in bases:
            continue
        reason = expected.get(layer.path, "") or reasons.get(layer.path, "")
        found.append(UnseenLayer(layer.path, reason or _after_run(architecture, layer)))
    return found


def base(key: str, known: Collection[str]) -> str:
    """The layer behind an output's key: "path" of "path#2" (a second call or output) and "path:1"."""
    for candidate in (key, key.rsplit(":", 1)[0], key.rsplit(":", 1)[0].rsplit("#", 1)[0], key.rsplit("#", 1)[0]):
        if candidate in known:
            return candidate
    return key


def fed_by(layer: Layer, names: Collection[str]) -> str:
    """Which of a feed's arrays an input layer shows; "" for any other layer."""
    if layer.type not in INPUT_TYPES:
        return ""
    candidates = (layer.path, layer.path.removeprefix("serving_default_"), layer.path.removesuffix(":0"))
    if found := next((name for name in candidates if name in names), ""):
        return found
    return next(iter(names)) if len(names) == 1 and "/" not in layer.path else ""


def driven_by_inputs(architecture: Architecture) -> frozenset[str]:
    """Paths of the operators whose value depends on an input of the model."""
    names = {spec.name.split(":")[0] for spec in architecture.inputs}
    readers: dict[str, list[str]] = {}
    found: set[str] = set()
    waiting: list[str] = []
    for layer in architecture.layers:
        for source in layer.inputs:
            readers.setdefault(source, []).append(layer.path)
        is_input = layer.type in INPUT_TYPES or layer.path in names
        may_read = not format_of(architecture).lists_inputs and not layer.inputs and layer.type not in _CONSTANTS
        if is_input or may_read or names & {source.split(":")[0] for source in layer.inputs}:
            waiting.append(layer.path)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(readers.get(path, ()))
    return frozenset(found)


def _reason(architecture: Architecture, layer: Layer, driven: frozenset[str] | None, live: set[str] | None) -> str:
    if layer.type in _CONSTANTS and not layer.inputs:
        return CONSTANT
    # The tables of TFLite and ONNX draw no inputs: an operator without sources may read one.
    may_read = not format_of(architecture).lists_inputs and not layer.inputs
    if driven and layer.path not in driven and not may_read:
        return CONSTANT
    if live is not None and layer.path not in live and layer.type not in INPUT_TYPES:
        return _IN_KERAS
    return ""


def _after_run(architecture: Architecture, layer: Layer) -> str:
    if layer.dtype in ("string", "resource", "variant") or not format_of(architecture).lists_inputs:
        return NO_NUMBERS
    return _NEVER_CALLED if format_of(architecture).live else IN_BODY


def _live_paths(runner: Runner | None) -> set[str] | None:
    live = None if runner is None else runner.can(LiveModel)
    return set(live.layer_paths().values()) if isinstance(live, LiveModel) else None


def _hidden(architecture: Architecture, runner: Runner | None) -> dict[str, str]:
    """Why operators beside the main graph cannot be seen, where the runtime shows no others."""
    main = None if runner is None else runner.can(MainGraphOnly)
    if not isinstance(main, MainGraphOnly):
        return {}
    shown = main.main_paths()
    return {layer.path: main.outside for layer in architecture.layers if layer.path not in shown}
