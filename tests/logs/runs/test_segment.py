"""Readings joined into one hold what they held."""

from __future__ import annotations

from stethoscope.logs.runs.segment import compact, first_to_join, open_segment
from stethoscope.logs.runs.table import RunTable
from tests.logs.event_writing import event, simple, write_events
from tests.logs.runs.logs import files, read


def test_joined_readings_are_the_same_log(tmp_path):
    place = tmp_path / "logs"
    path = write_events(place / "a", [event(0, simple("loss", 3.0))])
    write_events(place / "b", [event(0, simple("loss", 3.0), simple("rate", 0.5))])
    segments, state = [], None
    for at in range(6):
        with path.open("ab") as stream:
            stream.write(event(at + 1, simple("loss", float(at)), simple("rate", at / 4)))
        if at == 3:
            write_events(place / "b", [event(9, simple("loss", 1.0))])
        segment, state = read(place, tmp_path / f"out{at}", state)
        segments.append(segment)
    apart = RunTable(segments)
    compact(segments[1:5], segments[5], tmp_path / "joined")
    joined = RunTable([segments[0], open_segment(files(tmp_path / "joined")), segments[5]])
    assert joined.index() == apart.index()
    for tag in range(len(apart.tags)):
        assert joined.summary(tag) == apart.summary(tag)
        for run in apart.curves(tag).runs.tolist():
            one, other = apart.series(run, apart.tags[tag]), joined.series(run, apart.tags[tag])
            assert (one.step.tolist(), one.value.tolist()) == (other.step.tolist(), other.value.tolist())
    assert apart.series(0, "loss").step.tolist() in ([0, 1, 2, 3, 4, 5, 6], [9])


def test_few_readings_stay_and_each_is_written_seldom():
    sizes: list[int] = []
    written = 0
    for _ in range(5_000):
        sizes.append(300)
        first = first_to_join(sizes)
        if first < len(sizes) - 1:
            written += sum(sizes[first:])
            sizes[first:] = [sum(sizes[first:])]
    assert len(sizes) <= 14
    assert written <= 5_000 * 300 * 14
