"""What a recorded answer rests on: everything that may run for it, and nothing of how and where that is written."""

from __future__ import annotations

import pytest

from tests import definitions
from tests.definitions import WHOLE, fingerprint, reached

MODULES = {
    "tasks/__init__.py": "",
    "tasks/add.py": '''
"""Adds."""
from stethoscope.maths import plus
from stethoscope import shapes, steps
LIMIT = 3
class Add:
    """A task."""
    def run(self, given):
        from stethoscope.late import last
        return last(plus(given, LIMIT), shapes.SIDES, steps.all_steps())
TASK = Add()
''',
    "maths.py": "def plus(a, b):\n    return _carry(a + b)\ndef _carry(c):\n    return c\ndef minus(a, b):\n    return a - b\n",
    "shapes.py": "SIDES = 4\nCORNERS = 5\n",
    "late.py": "def last(*given):\n    return given\n",
    "steps/__init__.py": "import sys\nfrom stethoscope.discover import discover\n"
    "def all_steps():\n    return discover(sys.modules[__name__], 'STEP', 'id')\n",
    "steps/one.py": '"""Step one."""\nSTEP = 1\n',
    "discover.py": "def discover(package, *_):\n    return package\n",
    "registry.py": "KNOWN = {}\ndef known(make):\n    KNOWN[make.__name__] = make\n    return make\n@known\ndef first():\n    return 1\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project; `write(path, text)` changes it and returns the fingerprint of its task."""

    def path_of(module, root=None):
        place = tmp_path.joinpath(*module.split("."))
        return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)

    def forget():
        for kept in (definitions._module, definitions._rests_on, definitions._digest, definitions._line):
            kept.cache_clear()

    def write(path, text):
        place = tmp_path / "stethoscope" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        forget()
        return fingerprint(["stethoscope.tasks.add"])

    monkeypatch.setattr(definitions, "path_of", path_of)
    monkeypatch.setattr(definitions, "_cache", dict)
    for path, text in {"__init__.py": "", **MODULES}.items():
        write(path, text)
    yield write
    forget()


def changed(project, path, old, new):
    before = project(path, MODULES[path])
    assert old in MODULES[path]
    return project(path, MODULES[path].replace(old, new)) != before


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("maths.py", "return c", "return c + 1"),  # what is called by what is called
        ("shapes.py", "SIDES = 4", "SIDES = 6"),  # an attribute of a module
        ("late.py", "return given", "return given[0]"),  # what is imported inside a function
        ("steps/one.py", "STEP = 1", "STEP = 2"),  # what is found by looking
        ("steps/one.py", "Step one.", "Step 1."),  # whose docstring may be shown
        ("discover.py", "return package", "return {}"),
        ("tasks/add.py", "LIMIT = 3", "LIMIT = 4"),
        ("tasks/add.py", "import plus", "import minus as plus"),  # another thing by the same name
    ],
)
def test_whatever_may_run_counts(project, path, old, new):
    assert changed(project, path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("maths.py", "return a - b", "return b - a"),
        ("shapes.py", "CORNERS = 5", "CORNERS = 6"),
        ("tasks/add.py", "A task.", "One kind of job."),
        ("maths.py", "def _carry", "# Carries.\n\n\ndef _carry"),
    ],
)
def test_what_does_not_run_does_not_count(project, path, old, new):
    assert not changed(project, path, old, new)


def test_a_definition_may_move(project):
    before = project("maths.py", MODULES["maths.py"])
    project("carrying.py", "def _carry(c):\n    return c\n")
    moved = MODULES["maths.py"].replace("def _carry(c):\n    return c\n", "")
    assert project("maths.py", f"from stethoscope.carrying import _carry\n{moved}") == before


@pytest.mark.parametrize(
    "plus",
    [
        "def plus(a, minus):\n    return _carry(a + minus)\n",
        "def plus(a, b):\n    for minus in b:\n        a += minus\n    return _carry(a)\n",
        "def plus(a, b):\n    return _carry(a + sum(minus for minus in b))\n",
        "def plus(a, b):\n    return _carry(sorted(a, key=lambda minus: minus.real))\n",
        "def plus(a, b):\n    any((minus := one) for one in b)\n    return _carry(minus)\n",
        "def plus(a, b):\n    def minus(c):\n        return c\n    return _carry(minus(a))\n",
        "class Sum:\n    minus: int = 1\ndef plus(a, b):\n    return _carry(Sum())\n",
    ],
)
def test_a_name_that_a_function_binds_is_its_own(project, plus):
    def maths(minus):
        return f"{plus}def _carry(c):\n    return c\ndef minus(a, b):\n    return {minus}\n"

    assert project("maths.py", maths("a - b")) == project("maths.py", maths("b - a"))


@pytest.mark.parametrize(
    "plus",
    [
        "def plus(a, b):\n    return [minus(b) for b in a]\n",
        "def plus(a, b):\n    def add(minus):\n        return minus\n    return minus(a, add(b))\n",
        "def plus(a, b=minus):\n    return b(a)\n",
        "def plus(a, b):\n    return [minus for minus in minus(a, b)]\n",
        "def plus(a, b):\n    global minus\n    minus = minus(a, b)\n    return minus\n",
        "class Sum:\n    minus = minus\ndef plus(a, b):\n    return Sum()\n",
        "class Sum:\n    minus = 1\n    def add(self, a):\n        return minus(a)\ndef plus(a, b):\n    return Sum()\n",
        "def plus(a, b):\n    from stethoscope.maths import minus\n    return minus(a, b)\n",
    ],
)
def test_a_name_of_the_module_counts_wherever_a_function_reads_it(project, plus):
    def maths(minus):
        return f"def minus(a, b):\n    return {minus}\n{plus}"

    assert project("maths.py", maths("a - b")) != project("maths.py", maths("b - a"))


def test_what_is_taken_of_a_module_may_be_written_with_it_or_without(project):
    before = project("tasks/add.py", MODULES["tasks/add.py"])

    def bare(name):
        imports = f"import steps\nfrom stethoscope.shapes import {name}"
        task = MODULES["tasks/add.py"].replace("import shapes, steps", imports)
        return project("tasks/add.py", task.replace("shapes.SIDES", name.split()[-1]))

    assert bare("SIDES") == before
    assert bare("SIDES as NUMBER") == before
    assert bare("CORNERS") != before
    assert bare("CORNERS as SIDES") != before


def test_things_of_one_name_in_two_modules_are_told_apart(project):
    project("areas.py", "SIDES = 6\n")
    task = MODULES["tasks/add.py"].replace("import shapes", "import areas, shapes")
    before = project("tasks/add.py", task.replace("shapes.SIDES", "(shapes.SIDES, areas.SIDES)"))
    assert project("tasks/add.py", task.replace("shapes.SIDES", "(areas.SIDES, shapes.SIDES)")) != before


def test_what_nothing_in_a_step_reaches_does_not_count(project):
    before = project("steps/one.py", MODULES["steps/one.py"])
    assert project("steps/one.py", f"{MODULES['steps/one.py']}SPARE = 1\n") == before
    assert project("steps/one.py", f"{MODULES['steps/one.py']}print(2)\n") != before


def test_a_step_that_is_added_counts(project):
    before = project("maths.py", MODULES["maths.py"])
    assert project("steps/two.py", "STEP = 2\n") != before


def test_what_lies_beside_a_step_without_being_one_does_not_count(project):
    before = project("maths.py", MODULES["maths.py"])
    assert project("steps/drawing.py", "COLOUR = 2\n") == before


def test_what_a_decorator_tells_others_counts(project):
    project(
        "maths.py",
        f"from stethoscope.registry import KNOWN\n{MODULES['maths.py']}".replace("return c", "return KNOWN[c]"),
    )
    before = project("registry.py", MODULES["registry.py"])
    assert project("registry.py", MODULES["registry.py"].replace("return 1", "return 2")) != before


def test_the_project_is_read():
    read = reached(
        [("stethoscope.tasks.profile", WHOLE), ("stethoscope.jobs.worker.child", WHOLE)], closed=["stethoscope.tasks"]
    )
    modules = {module for module, _ in read}
    assert {"stethoscope.tasks.profile", "stethoscope.types", "stethoscope.jobs.worker.containment"} <= modules
    assert "stethoscope.models.formats.onnx" in modules, "a package that looks for its modules imports them"
    assert not [name for name in modules if name.startswith(("stethoscope.checks", "dashboard", "stethoscope.cli.app"))]
    assert "stethoscope.tasks.predict" not in modules
