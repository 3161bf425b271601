"""Every kind of fix: prints code that parses, survives JSON, changes a copy and leaves the original alone."""

from __future__ import annotations

import ast
import copy
import importlib
import json
import pkgutil

import numpy as np
import pytest

from stethoscope.checks.fixes import Fix, all_fixes, fix_from_json
from stethoscope.checks.fixes.layer_settings import SetInitialiser, Unfreeze
from stethoscope.checks.fixes.layers import AddFlatten, RemoveLayer, ReplaceActivation
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.program.setup import Setup
from tests.checks.fixes import examples
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    example
    for module in pkgutil.iter_modules(examples.__path__)
    for example in importlib.import_module(f"{examples.__name__}.{module.name}").EXAMPLES
]


def test_every_kind_has_an_example() -> None:
    assert {fix.kind for fix, _ in EXAMPLES} == set(all_fixes()), "add it to tests/checks/fixes/examples/"
    for name, kind in all_fixes().items():
        module = importlib.import_module(kind.__module__)
        assert kind in getattr(module, "FIXES", ()) or module.FIX is kind
        assert kind.__name__ == "".join(word.capitalize() for word in name.split("-"))


@pytest.mark.parametrize(("fix", "_"), EXAMPLES, ids=lambda item: item.kind if isinstance(item, Fix) else "")
def test_prints_and_survives_json(fix: Fix, _: Setup) -> None:
    assert fix.summary
    assert "\n" not in fix.summary
    patch = isinstance(fix, ScriptPatch)
    assert fix.code().startswith("--- ") if patch else ast.parse(fix.code()).body or fix.code().startswith("#")
    assert "…" not in fix.code()
    assert fix_from_json(json.loads(json.dumps(fix.to_json()))) == fix


@pytest.mark.parametrize(("fix", "base"), EXAMPLES, ids=lambda item: item.kind if isinstance(item, Fix) else "")
def test_changes_a_copy(fix: Fix, base: Setup) -> None:
    before = copy.deepcopy(base)
    if not fix.provable:
        with pytest.raises(CannotRun):
            fix.apply(base)
        return
    changed = fix.apply(base)
    assert not _same(changed, base), "nothing was changed"
    assert _same(base, before), "the original was changed"


@pytest.mark.parametrize(
    "fix",
    [
        ReplaceActivation("out", "sigmoid"),
        RemoveLayer("drop"),
        AddFlatten("out"),
        SetInitialiser(("hidden",)),
        Unfreeze(("out",)),
    ],
    ids=lambda fix: fix.kind,
)
def test_a_model_defined_by_its_own_class_says_why_not(fix: Fix) -> None:
    with pytest.raises(CannotRun, match="its own class"):
        fix.apply(setup(config=None))


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "no-such"},
        {"kind": "set-epochs", "params": {"epochs": "many"}},
        {"kind": "combined", "params": {"fixes": "all"}},
        {"kind": "combined", "params": {"fixes": [{"kind": "no-such"}]}},
    ],
)
def test_foreign_json_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(StethoscopeError):
        fix_from_json(value)


def _same(first: Setup, second: Setup) -> bool:
    def plain(item: Setup) -> str:
        parts = {key: value for key, value in vars(item).items() if key != "live"}
        return repr({key: _spelled(value) for key, value in parts.items()})

    return plain(first) == plain(second)


def _spelled(value: object) -> object:
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_spelled(item) for item in value)
    return value
