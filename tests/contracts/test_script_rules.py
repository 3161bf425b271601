"""Every rule about scripts: a page with its source, a specimen that raises it at its line, a twin on which it stays silent."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.review import review, rewritten
from stethoscope.pasted.scripts.rules import all_rules
from stethoscope.pasted.scripts.source import read
from stethoscope.types import Status
from tests.pasted.scripts import specimens

RULES = all_rules()
SPECIMENS = {
    f"script-{module.name.replace('_', '-')}": importlib.import_module(f"{specimens.__name__}.{module.name}")
    for module in pkgutil.iter_modules(specimens.__path__)
}


def test_a_rule_explains_itself():
    wrong = []
    for rule_id, rule in RULES.items():
        title = rule.page.splitlines()[0].rstrip(".")
        missing = [part for part in ("Why:", "Example:", "Fix:", "Source:") if f"\n{part}" not in rule.page]
        if not title or len(title) >= 90 or missing or not rule.source or rule.same_as - set(all_checks()):
            wrong.append((rule_id, title, missing, rule.same_as - set(all_checks())))
    assert not wrong
    assert not set(RULES) & set(all_checks())


def test_every_rule_has_a_specimen():
    assert set(SPECIMENS) == set(RULES)


@pytest.mark.parametrize("rule_id", RULES)
def test_its_specimen_raises_it_at_its_line(rule_id):
    specimen = SPECIMENS[rule_id]
    found = review(specimen.FAULTY.encode(), "train.py")
    assert not [one for one in found.outcomes if one.status is not Status.OK]
    assert (rule_id, f"train.py:{specimen.LINE}") in [(one.check_id, one.where) for one in found.findings]
    for one in found.findings:
        assert one.source and one.title and one.evidence
        if isinstance(one.fix, ScriptPatch):
            parse(read(rewritten(specimen.FAULTY.encode(), "train.py", [one])[0], "train.py"))


@pytest.mark.parametrize("rule_id", RULES)
def test_its_twin_raises_nothing(rule_id):
    assert not review(SPECIMENS[rule_id].SOUND.encode(), "train.py").findings
