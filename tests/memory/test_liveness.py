"""Live ranges small enough to count by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stethoscope.memory.graph_estimate import executed
from stethoscope.memory.liveness import Step, profile
from stethoscope.memory.op_buffers import Operation, Value
from tests.exploring import examples


def chain(*names: str, **more) -> list[Step]:
    """x → names[0] → names[1] …"""
    return [
        Step(name, (name,), (before,), **more.get(name, {})) for before, name in zip(("x", *names), names, strict=False)
    ]


def test_a_tensor_dies_with_its_last_reader():
    steps = chain("a", "b", "c")
    found = profile(steps, {"x": 1, "a": 10, "b": 20, "c": 5}, throughout=["x"], to_the_end=["c"])
    assert found.live_bytes == (11, 31, 26)
    assert (found.peak_bytes, found.at, found.alive) == (31, 1, ("b", "a", "x"))
    assert found.alive_at(2) == ("b", "c", "x")


def test_a_renamed_tensor_takes_nothing_and_keeps_its_source_alive():
    steps = chain("a", "flat", "c", "d", flat={"aliases": {"flat": "a"}})
    found = profile(steps, {"a": 10, "flat": 10, "c": 5, "d": 1}, to_the_end=["d"])
    assert found.live_bytes == (10, 10, 15, 6)


def test_an_input_is_written_over_only_where_nobody_reads_it_later():
    over = {"overwrites": ("a",)}
    sizes = {"a": 10, "b": 10, "c": 1}
    assert profile(chain("a", "b", "c", b=over), sizes).live_bytes == (10, 10, 11)
    again = [*chain("a", "b", "c", b=over), Step("late", ("late",), ("a",))]
    assert profile(again, sizes).live_bytes == (10, 20, 21, 10)


def test_what_two_threads_run_is_alive_together():
    wide = [Step("a", ("a",), ("x",), inside_bytes=100, lasts=2), Step("b", ("b",), ("x",), inside_bytes=50)]
    found = profile(wide, {"x": 1, "a": 10, "b": 10})
    assert found.live_bytes == (110, 170)
    assert found.inside_bytes == (100, 150)


def test_a_name_that_holds_a_tensor_keeps_it():
    sizes = {"a": 10, "b": 20, "c": 5}
    assert profile(chain("a", "b", "c"), sizes, until={"a": 2}).live_bytes == (10, 30, 35)


def test_nothing_at_all():
    empty = profile([], {})
    assert (empty.peak_bytes, empty.alive) == (0, ())


def operation(name: str, *inputs: str, kind: str = "MatMul", size: int = 1 << 20) -> Operation:
    values = tuple(Value(source, (size // 4,), "float32", size) for source in inputs)
    return Operation(name, kind, values, (Value(name, (size // 4,), "float32", size),))


def test_the_executor_runs_what_is_ready_first_and_two_branches_at_once():
    graph = [
        operation("start"),
        operation("left", "start"),
        operation("right", "start"),
        operation("end", "left", "right"),
    ]
    alone = executed(graph, lambda _: 1e9)
    assert [item.name for item, _ in alone] == ["start", "right", "left", "end"]
    assert [lasts for _, lasts in alone] == [1, 1, 1, 1]
    together = executed(graph, lambda _: 1e9, threads=2)
    assert {item.name: lasts for item, lasts in together} == {"start": 1, "right": 2, "left": 1, "end": 1}


@st.composite
def graphs(draw):
    steps, names = [], ["x"]
    for number in range(draw(st.integers(1, 12))):
        reads = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)))
        aliases = {f"t{number}": reads[0]} if draw(st.booleans()) else {}
        overwrites = reads if draw(st.booleans()) else ()
        steps.append(Step(f"t{number}", (f"t{number}",), reads, aliases, overwrites, draw(st.integers(0, 9))))
        names.append(f"t{number}")
    return steps, {name: draw(st.integers(0, 50)) for name in names}


@examples(100)
@given(graphs())
def test_the_peak_is_between_the_largest_tensor_and_the_sum(graph):
    steps, sizes = graph
    found = profile(steps, sizes, throughout=["x"])
    made = [sizes[step.name] for step in steps if not step.aliases]
    assert max([sizes["x"], *made]) <= found.peak_bytes
    assert found.peak_bytes <= sizes["x"] + sum(made) + sum(step.inside_bytes for step in steps)
    alive = sum(sizes[name] for name in found.alive)
    assert found.peak_bytes == alive + found.inside_bytes[found.at]
