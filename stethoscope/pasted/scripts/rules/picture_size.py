"""Pictures are read in another size than the model takes.

Why: a data set of files brings every picture to one size, and the model takes one size. Where they differ, `fit` raises, or, where only
the validation or test data differs, the training ends with an error after its first epoch.
Example: `input_shape=(150, 150, 3)` beside `target_size=(224, 224)`; or no size given: image_dataset_from_directory makes 256 × 256.
Fix: one size for all.
Source: keras.io/api/data_loading/image (image_size, target_size)
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.models_built import Model, layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, plain

_SIZES = {
    "image_dataset_from_directory": "image_size",
    "flow_from_directory": "target_size",
    "flow_from_dataframe": "target_size",
}
_DEFAULT = [256, 256]
_RESIZES = ("Resizing", "CenterCrop", "RandomCrop")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        wanted = _taken(model)
        if wanted is None:
            continue
        for call in model.calls("fit", "evaluate", "predict", "fit_generator"):
            for value in (call.argument("x", 0), call.argument("generator", 0), call.argument("validation_data")):
                read = _read(value)
                if read is None or id(read[0].node) in done or read[1] == wanted:
                    continue
                done.add(id(read[0].node))
                reader, size = read
                given = "" if _SIZES[_reader(reader)] in reader.keywords else " (nothing is said: that is the default)"
                yield facts.finding(
                    reader,
                    Fault.PREPROCESSING,
                    Severity.HIGH,
                    0.9,
                    f"Pictures are read as {size[0]} × {size[1]}{given}, and the model takes {wanted[0]} × {wanted[1]}.",
                    f"Read them as {wanted[0]} × {wanted[1]}.",
                    [
                        facts.spans.add_argument(
                            reader.call_node, f"{_SIZES[_reader(reader)]}=({wanted[0]}, {wanted[1]})"
                        )
                    ]
                    if given
                    else [facts.spans.replace(node.value, f"({wanted[0]}, {wanted[1]})")]
                    if (
                        node := next(
                            (one for one in reader.call_node.keywords if one.arg == _SIZES[_reader(reader)]), None
                        )
                    )
                    else [],
                )


def _reader(call: Call) -> str:
    return meaning(call.name).rpartition(".")[2] or call.method


def _read(value: Value | None) -> tuple[Call, list[int]] | None:
    """What reads pictures for this data, and the size it makes; None where a step between may change it."""
    steps = of_pipeline(value).pipeline
    if not steps or _reader(steps[-1]) not in _SIZES or any(_reader(one) == "map" for one in steps):
        return None
    reader = steps[-1]
    if reader.spread:
        return None
    said = reader.argument(_SIZES[_reader(reader)])
    size = _DEFAULT if said is None else plain(said)
    return (
        (reader, list(size))
        if isinstance(size, list | tuple) and len(size) == 2 and all(isinstance(n, int) for n in size)
        else None
    )


def _taken(model: Model) -> list[int] | None:
    """Height and width that a model takes; None where it takes any, resizes, or the script does not say."""
    if model.kind not in ("sequential", "functional"):
        return None
    layers = list(model.layer_calls())
    if any(layer_name(layer).rpartition(".")[2] in _RESIZES for layer in layers):
        return None
    shapes = [_shape(layer) for layer in layers]
    shapes += [_shape(one.call) for one in _inputs(model)]
    known = [shape for shape in shapes if shape is not None and len(shape) == 3]
    sizes = {(shape[0], shape[1]) for shape in known if shape[2] in (1, 3, 4)}
    if len(sizes) != 1:
        return None
    height, width = sizes.pop()
    return [height, width] if isinstance(height, int) and isinstance(width, int) else None


def _shape(layer: Call) -> list[object] | None:
    place = 0 if layer_name(layer) in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer") else -1
    said = layer.argument("input_shape") or layer.argument("shape", place)
    found = None if said is None else plain(said)
    return list(found) if isinstance(found, list | tuple) else None


def _inputs(model: Model) -> list[Made]:
    given = model.call.argument("inputs", 0) if model.kind == "functional" else None
    return [given] if isinstance(given, Made) else []


RULE = Rule(_run, same_as=frozenset({"input-shape"}))
