"""The layer at which the input's influence ends is one, whichever check speaks of it."""

from __future__ import annotations

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.curves.short_run import what_blocks, where_blocked
from stethoscope.evidence.trials import CONSTANT, DEAD, FROZEN, GRADIENT_VANISHES, BlockedLayer, OverfitEvidence

CHECKS = all_checks()


def overfit(blocked):
    return OverfitEvidence(16, 200, (2.3, 2.3), (0, 200), 2.3, 2.3, 0.0, 0.1, "cannot", blocked)


@pytest.mark.parametrize("reason", [CONSTANT, DEAD])
def test_where_the_forward_path_ends(reason):
    test = overfit(blocked=(BlockedLayer("multiply", reason), BlockedLayer("first", GRADIENT_VANISHES)))
    assert where_blocked(test, "first") == "multiply"
    assert "multiply" in what_blocks(test) and reason in what_blocks(test)


@pytest.mark.parametrize("blocked", [(), (BlockedLayer("first", GRADIENT_VANISHES),), (BlockedLayer("gate", FROZEN),)])
def test_where_only_gradients_say_something_the_place_stays(blocked):
    test = overfit(blocked=blocked)
    assert where_blocked(test, "first") == "first" and what_blocks(test) == what_blocks(None)


@pytest.mark.parametrize("check_id", ["constant-output", "null-input", "unchanged-weights", "fit-small-batch"])
def test_checks_ask_it(check_id):
    check = CHECKS[check_id]
    assert "overfit" in {kind.value for kind in (*check.needs, *check.uses)}
