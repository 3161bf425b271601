"""Writes docs/checks.md from the checks' own pages: `python -m tools.check_pages`. A test holds the file against them."""

from __future__ import annotations

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "checks.md"
sys.path.insert(0, str(PROJECT))

from stethoscope.checks import all_checks  # noqa: E402
from stethoscope.checks.check import Check  # noqa: E402

_HEAD = """# What is checked

Every check with why it matters, an example, the fix, and where its rule and thresholds come from. The same text is in the
dashboard under each finding. A check whose evidence is missing is reported as not run, never as passed.

| check | looks at |
|---|---|
"""


def text() -> str:
    """The whole page."""
    checks = sorted(all_checks().values(), key=lambda check: check.title)
    rows = "".join(f"| [{check.title}](#{check.id}) | {_needs(check)} |\n" for check in checks)
    return _HEAD + rows + "\n" + "\n".join(_section(check) for check in checks)


def _needs(check: Check) -> str:
    needed = ", ".join(sorted(kind.value for kind in check.needs))
    if check.needs_any:
        needed = ", ".join(
            part for part in (needed, " or ".join(sorted(kind.value for kind in check.needs_any))) if part
        )
    used = ", ".join(sorted(kind.value for kind in check.uses - check.needs))
    return needed + (f" (better with {used})" if used else "")


def _section(check: Check) -> str:
    lines = check.page.splitlines()[1:]
    body = []
    for line in lines:
        head, colon, rest = line.partition(":")
        body.append(f"\n**{head}.**{rest}" if colon and head in ("Why", "Example", "Fix", "Source") else line)
    return f'<a id="{check.id}"></a>\n## {check.title}\n\n`{check.id}`\n' + "\n".join(body).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
