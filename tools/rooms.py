"""`python -m tools.rooms`: draws docs/images/rooms.svg from the imports, the rooms of the engine and what they take from each other.

Rows are rooms in the order that import-linter holds (pyproject.toml); a dot is the imports of a room from the one that its column
is, and lies right of the diagonal: rooms above are not known.
"""

from __future__ import annotations

import ast
import html
import tomllib
from collections import Counter
from pathlib import Path

import grimp

PROJECT = Path(__file__).resolve().parents[1]
PICTURE = PROJECT / "docs" / "images" / "rooms.svg"
_ROW, _LEFT, _CELL, _TOP = 34, 700, 26, 96
_GIVEN = 3


def main() -> None:
    """Writes the picture."""
    PICTURE.write_text(drawn(), "utf-8")


def rooms() -> list[str]:
    """The packages of the engine, the highest first."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == ["stethoscope"])
    return [layer for layer in layers if (PROJECT / "stethoscope" / layer / "__init__.py").is_file()]


def drawn() -> str:
    """The picture as SVG, the same for the same imports."""
    names = rooms()
    graph = grimp.build_graph("stethoscope", cache_dir=None)
    taken: Counter[tuple[str, str]] = Counter()
    given: dict[str, Counter[str]] = {name: Counter() for name in names}
    for module in sorted(graph.modules):
        for other in graph.find_modules_directly_imported_by(module):
            here, there = _room(module), _room(other)
            if here in names and there in names and here != there:
                taken[here, there] += 1
                for detail in graph.get_import_details(importer=module, imported=other):
                    given[there].update(_types(detail["line_contents"]))
    width, height = _LEFT + _CELL * len(names) + 20, _TOP + _ROW * len(names) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>',
        f'<text x="16" y="28" font-size="15" font-weight="600" fill="#111">{len(names)} rooms of the engine: '
        "a room knows those below it</text>",
        '<text x="16" y="48" fill="#555">A dot: what the room of the row takes from the room of the column.</text>',
    ]
    for place, name in enumerate(names):
        x, y = _LEFT + _CELL * place + _CELL / 2, _TOP + _ROW * place
        parts += [
            f'<text transform="translate({x + 4} {_TOP - 8}) rotate(-60)" fill="#333">{name}</text>',
            f'<rect x="8" y="{y}" width="{width - 16}" height="{_ROW}" fill="{"#f4f6f8" if place % 2 else "#fff"}"/>',
            f'<text x="16" y="{y + 15}" font-weight="600" fill="#111">{name}</text>',
            f'<text x="16" y="{y + 29}" font-size="10" fill="#777">{_modules(name)} modules</text>',
            f'<text x="110" y="{y + 15}" fill="#333">{html.escape(_purpose(name))}</text>',
        ]
        if gives := [kind for kind, _ in sorted(given[name].items(), key=lambda item: (-item[1], item[0]))[:_GIVEN]]:
            parts.append(f'<text x="110" y="{y + 29}" font-size="10" fill="#0b6b8f">gives {", ".join(gives)}</text>')
        parts.append(f'<rect x="{x - 5}" y="{y + 12}" width="10" height="10" fill="#cfd6dd"/>')
    for (here, there), count in sorted(taken.items()):
        x = _LEFT + _CELL * names.index(there) + _CELL / 2
        y = _TOP + _ROW * names.index(here) + _ROW / 2
        size = min(11.0, 2 + count**0.5)
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{size:.1f}" fill="#1f77b4"><title>{here} imports {there}: {count}</title></circle>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _modules(name: str) -> int:
    return sum(path.name != "__init__.py" for path in (PROJECT / "stethoscope" / name).rglob("*.py"))


def _purpose(name: str) -> str:
    text = ast.get_docstring(ast.parse((PROJECT / "stethoscope" / name / "__init__.py").read_text("utf-8"))) or ""
    return text.partition(":")[0].splitlines()[0].rstrip(".")


def _types(line: str) -> list[str]:
    names = line.partition(" import ")[2].strip("() ")
    return [
        name
        for word in names.split(",")
        if (name := word.split(" as ")[0].strip()) and name[0].isupper() and not name.isupper()
    ]


if __name__ == "__main__":
    main()
