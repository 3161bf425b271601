"""Faults are planted where a test can meet them, one at a time."""

from __future__ import annotations

import ast

from benchmarks.suite_faults import faults_of, plant

CODE = """
LIMIT = 5

def read(path, lock):
    with lock:
        if path.size > 10 and path is not None:
            raise ValueError("too large")
    return 7
"""


def test_each_kind_of_fault_is_found_inside_functions_only():
    found = faults_of(ast.parse(CODE))
    assert sorted(kind for kind, _ in found) == [
        "another number",
        "another number",
        "branch never taken",
        "flipped comparison",
        "flipped comparison",
        "lock not taken",
        "swallowed error",
    ]
    assert all(node.lineno > 3 for _, node in found)


def test_a_planted_fault_is_valid_python_and_another_program():
    before = ast.unparse(ast.parse(CODE))
    seen = set()
    for place in range(len(faults_of(ast.parse(CODE)))):
        tree = ast.parse(CODE)
        plant(*faults_of(tree)[place])
        after = ast.unparse(ast.fix_missing_locations(tree))
        compile(after, "planted", "exec")
        assert after != before
        seen.add(after)
    assert len(seen) == 7
