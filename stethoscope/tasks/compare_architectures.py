"""Compare two models layer by layer: matched by name, then by structure; settings, shapes, dtypes and weights. Executes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from stethoscope.architecture.layer_changes import Change, changes
from stethoscope.architecture.matching import is_across, match
from stethoscope.codec import plain
from stethoscope.errors import StethoscopeError
from stethoscope.formats import detect
from stethoscope.model_format import WeightsByLayer
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, ModelFile
from stethoscope.weights.stored import opened
from stethoscope.weights.weight_difference import weights_apart


class CompareArchitectures:
    """params: {"weights": bool (true)}; files: "model", "other"."""

    kind = "compare_architectures"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"pairs": [{"a", "b", "how", "changes": [{"what", "field", "a", "b"}], "weights": {"norm_a", "norm_b",
        "norm_of_difference", "relative"} | null}], "added": [paths in the other], "removed": [paths in the model],
        "summary": {"same", "changed", "other_weights", "by_name", "by_structure", "added", "removed", "changes", "notes"}}.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `describe`.
        """
        files = context.files["model"], context.files["other"]
        described = []
        for file in files:
            context.report("read", message=f"reading {file.name}")
            described.append(detect(file).describe(file))
        first, second = described
        context.report("match", message="matching layers")
        value = _structure(first, second)
        context.save_partial(plain(value))
        if context.params.get("weights", True):
            _add_weights(value, files, context)
        _summarise(value, first, second)
        answer: Mapping[str, Any] = plain(value)
        return answer


def _structure(first: Architecture, second: Architecture) -> dict[str, Any]:
    found = match(first, second)
    partners = {item.a: item.b for item in found}
    layers_a = {layer.path: layer for layer in first.layers}
    layers_b = {layer.path: layer for layer in second.layers}
    across = is_across(first, second)
    pairs = [
        {
            "a": item.a,
            "b": item.b,
            "how": item.how,
            "changes": [asdict(one) for one in changes(layers_a[item.a], layers_b[item.b], partners, across=across)],
            "weights": None,
        }
        for item in found
    ]
    matched = set(partners.values())
    return {
        "pairs": pairs,
        "added": [layer.path for layer in second.layers if layer.path not in matched],
        "removed": [layer.path for layer in first.layers if layer.path not in partners],
        "summary": {"notes": _notes(first, second, across)},
    }


def _add_weights(value: dict[str, Any], files: tuple[ModelFile, ModelFile], context: TaskContext) -> None:
    notes: list[str] = value["summary"]["notes"]
    with ExitStack() as stack:
        held: list[WeightsByLayer] = []
        for file in files:
            try:
                held.append(stack.enter_context(opened(file)))
            except StethoscopeError as error:
                notes.append(f"Weights are not compared. {error}")
                return
        pairs = [pair for pair in value["pairs"] if held[0].get(pair["a"]) and held[1].get(pair["b"])]
        unread = sum(
            bool(weight.unreadable) for by_layer in held for weights in by_layer.values() for weight in weights
        )
        for index, pair in enumerate(pairs):
            context.report("weights", index / len(pairs), f"comparing the weights of {pair['a'][:80]}")
            found = weights_apart(held[0][pair["a"]], held[1][pair["b"]])
            for name, shape_a, shape_b in found.unlike:
                pair["changes"].append(asdict(Change("shape", f"weight {name}", shape_a, shape_b)))
            if found.together is not None:
                together = found.together
                pair["weights"] = asdict(together) | {"relative": together.relative, "tensors": found.compared}
    if unread:
        notes.append(f"{unread} tensors cannot be read apart and are left out.")


def _notes(first: Architecture, second: Architecture, across: bool) -> list[str]:
    if not across:
        return []
    return [
        f"{first.display_format or first.format_id} and {second.display_format or second.format_id} describe a model differently: layers "
        "are matched by what is left of their names and by structure; their settings and edges are not compared. Operators "
        "that one of them splits off or folds into a neighbour stand as added or removed, and folded weights differ."
    ]


def _summarise(value: dict[str, Any], first: Architecture, second: Architecture) -> None:
    pairs = value["pairs"]
    changed = [pair for pair in pairs if pair["changes"]]
    others = [
        pair for pair in pairs if not pair["changes"] and pair["weights"] and pair["weights"]["norm_of_difference"] > 0
    ]
    value["summary"] |= {
        "same": len(pairs) - len(changed) - len(others),
        "changed": len(changed),
        "other_weights": len(others),
        "by_name": sum(pair["how"] == "name" for pair in pairs),
        "by_structure": sum(pair["how"] == "structure" for pair in pairs),
        "added": len(value["added"]),
        "removed": len(value["removed"]),
        "changes": dict(Counter(change["what"] for pair in changed for change in pair["changes"])),
        "parameters": {"a": first.parameters, "b": second.parameters},
    }


TASK = CompareArchitectures()
