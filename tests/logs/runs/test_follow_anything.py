"""Whatever happens to a folder while it is followed: in the end the table holds what is in the files, once."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from stethoscope.logs.runs.segment import Segment, compact, first_to_join, open_segment, size
from stethoscope.logs.runs.table import RunTable
from stethoscope.tasks.read_runs import gather
from tests.logs.event_writing import event, first_record, simple
from tests.logs.runs.logs import files, read

TAGS = ("loss", "accuracy")
FOLDERS = ("a", "a/train", "a/validation", "b", "c/d")


def something_happens(place: Path, chance: random.Random) -> None:
    """Files grow (sometimes by half a record), rotate, go, are written anew, and are cut; a table is rewritten."""
    folder = place / chance.choice(FOLDERS)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{chance.randrange(3)}.host"
    content = b"".join(
        event(chance.randrange(50), simple(chance.choice(TAGS), chance.random())) for _ in range(chance.randrange(4))
    )
    what = chance.random()
    if what < 0.7:
        if not path.exists():
            path.write_bytes(first_record())
        with path.open("ab") as stream:
            stream.write(content[: len(content) - chance.choice((0, 0, 5))])
    elif what < 0.8:
        path.unlink(missing_ok=True)
    elif what < 0.9:
        fresh = place / "fresh"
        fresh.write_bytes(first_record() + content)
        fresh.replace(path)
    elif what < 0.95 and path.exists():
        path.write_bytes(path.read_bytes()[: len(first_record()) + chance.randrange(60)])
    else:
        rows = "".join(f"{at},{chance.random()}\n" for at in range(chance.randrange(1, 4)))
        (folder / "log.csv").write_text("epoch,loss\n" + rows)


def contents(table: RunTable) -> dict[tuple[str, str], list[tuple[int, float]]]:
    found = {}
    for number, tag in enumerate(table.tags):
        for run in table.curves(number).runs.tolist():
            assert not table.runs[run].gone
            series = table.series(run, tag)
            found[table.runs[run].run, tag] = list(zip(series.step.tolist(), series.value.tolist(), strict=True))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_table_is_the_folder(tmp_path, seed):
    chance = random.Random(seed)
    place = tmp_path / "logs"
    place.mkdir()
    segments: list[Segment] = []
    state, table = None, None
    for at in range(30):
        for _ in range(chance.randrange(1, 4)):
            something_happens(place, chance)
        segment, state = read(place, tmp_path / f"out{at}", state)
        state = json.loads(json.dumps(state))
        segments.append(segment)
        first = first_to_join([size(one) for one in segments])
        if first < len(segments) - 1:
            compact(segments[first:], segment, tmp_path / f"joined{at}")
            segments[first:] = [open_segment(files(tmp_path / f"joined{at}"))]
        table = RunTable(segments, None if table is None else table.numbering)
        whole, _ = read(place, tmp_path / f"whole{at}")
        expected = RunTable([whole])
        assert contents(table) == contents(expected)
        assert {run.run for run in table.runs if not run.gone} == {run.run for run in expected.runs}
        for run in expected.runs:
            (mine,) = (one for one in table.runs if one.run == run.run)
            assert (mine.restarts, mine.unit, mine.truncated_bytes) == (run.restarts, run.unit, run.truncated_bytes)
    assert len(segments) <= 8
    assert gather(place, state)[1] is False
