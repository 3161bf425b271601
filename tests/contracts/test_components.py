"""Components of one server share one list of names: a second one of a name would be drawn in place of the first."""

from __future__ import annotations

import re
from collections import Counter

from tests.conftest import PROJECT


def test_every_component_has_a_name_of_its_own():
    sources = [path.read_text("utf-8") for path in (PROJECT / "dashboard").rglob("__init__.py")]
    names = [name for source in sources for name in re.findall(r'components\.v2\.component\(\s*"(\w+)"', source)]
    assert len(names) == sum(source.count("components.v2.component(") for source in sources)
    assert len(names) > 5
    assert [name for name, times in Counter(names).items() if times > 1] == []
