"""What is not imported: frameworks at the top of a module or in the server, Streamlit in the engine. The order of rooms is import-linter's."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("tensorflow", "keras", "tf_keras", "onnxruntime", "ai_edge_litert", "tf2onnx", "torch")
SERVER_ONLY = {"streamlit", "starlette", "plotly", "netron"}


def sources(place: str) -> list[Path]:
    path = ROOT / place
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def imported(path: Path, *, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("folder", ["stethoscope", "dashboard", "pages"])
def test_no_module_imports_a_framework_at_its_top(folder):
    for path in sources(folder):
        heavy = [name for name in imported(path, top_level_only=True) if name.split(".")[0] in HEAVY]
        # Runner modules are imported by `open`, inside a worker.
        assert not heavy or path.stem.endswith("_runner"), f"{path.relative_to(ROOT)} imports {heavy}"


def test_only_workers_open_models():
    for folder in ("stethoscope", "dashboard", "pages"):
        for path in sources(folder):
            text = path.read_text()
            if {"formats", "worker"} & set(path.parts) or path.name == "made_file.py":
                continue  # a conversion opens what it has made itself
            assert ".open(file, scratch" not in text, path
            assert "_runner import" not in text, path


def test_the_command_line_starts_without_what_only_its_answers_need():
    code = "import sys, stethoscope.cli.app; print(sorted({'numpy', 'pydantic', 'alembic', 'h5py'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_the_engine_and_the_dashboard_start_without_any_framework():
    code = (
        "import sys, json, pkgutil, importlib, stethoscope\n"
        "for package in ('stethoscope', 'dashboard'):\n"
        "    root = importlib.import_module(package)\n"
        "    for m in pkgutil.walk_packages(root.__path__, package + '.'):\n"
        "        if not m.name.endswith('_runner') and m.name not in ('dashboard.Home', 'stethoscope.jobs.worker.server'):\n"
        "            importlib.import_module(m.name)\n"
        "    if package == 'stethoscope': engine = sorted(sys.modules)\n"
        "print(json.dumps([engine, sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    engine, everything = json.loads(done.stdout.splitlines()[-1])
    assert not {name.split(".")[0] for name in everything} & set(HEAVY)
    assert not {name.split(".")[0] for name in engine} & SERVER_ONLY
