"""Peak live activations on graphs small enough to count by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.stored import alias_roots, crossing_bytes, live_profile
from tests.exploring import examples
from tests.memory.planner.architectures import architecture, dense_stack, layer, residual_network, transformer


def output(item):
    return item.output_bytes(1, 4)


def nothing(item):
    return 0


def branchy():
    """x(10) feeds a wide branch and a narrow one that waits for it."""
    return architecture(
        [
            layer("x", "InputLayer", (None, 10)),
            layer("narrow", "Dense", (None, 5), 55, ["x"], units=5),
            layer("wide_1", "Dense", (None, 100), 1100, ["x"], units=100),
            layer("wide_2", "Dense", (None, 50), 5050, ["wide_1"], units=50),
            layer("wide_3", "Dense", (None, 5), 255, ["wide_2"], units=5),
            layer("both", "Add", (None, 5), 0, ["narrow", "wide_3"]),
            layer("flat", "Reshape", (None, 1, 5), 0, ["both"]),
            layer("y", "Dense", (None, 1, 2), 12, ["flat"], units=2),
        ]
    )


def test_a_branchy_graph_by_hand():
    # x always lives (the caller holds it), narrow until both, wide_1 until wide_2; Add writes over an input.
    in_elements = [10, 15, 115, 165, 70, 20, 15, 17]
    profile = live_profile(model_shape(branchy()), output, nothing)
    assert profile == [4 * elements for elements in in_elements]
    assert max(live_profile(model_shape(branchy()), output, nothing)) == 4 * 165


def test_what_a_cut_must_keep():
    assert crossing_bytes(model_shape(branchy()), output) == [4 * n for n in (10, 15, 105, 55, 10, 5, 5, 0)]


def test_a_deep_network_needs_two_layers_not_all():
    shape = model_shape(dense_stack([100] * 50, inputs=100))
    assert max(live_profile(shape, output, nothing)) == 4 * 300  # the input, which the caller holds, and two layers
    assert sum(output(item) for item in shape.layers) == 4 * 100 * 51


def test_a_residual_branch_stays_alive():
    plain = max(live_profile(model_shape(residual_network(filters=16, blocks=0)), output, nothing))
    residual = max(live_profile(model_shape(residual_network(filters=16, blocks=4)), output, nothing))
    size = 4 * 32 * 32 * 16
    assert residual == plain + size


def test_what_a_layer_works_with_inside_counts_while_it_runs():
    shape = model_shape(transformer(sequence=64))
    with_scores = max(live_profile(shape, output, lambda item: 10**6 if "attention" in item.path else 0))
    assert 10**6 < with_scores < 10**6 + sum(output(item) for item in shape.layers)


def test_outputs_live_to_the_end():
    layers = [
        layer("x", "InputLayer", (None, 1)),
        layer("early", "Dense", (None, 100), 200, ["x"], units=100),
        layer("late", "Dense", (None, 10), 1010, ["early"], units=10),
    ]
    shape = model_shape(architecture(layers, outputs=("early", "late")))
    assert live_profile(shape, output, nothing)[-1] == 4 * 111


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    layers = [layer("n0", "InputLayer", (None, draw(st.integers(1, 50))))]
    for number in range(1, count + 1):
        sources = draw(st.lists(st.sampled_from([item.path for item in layers]), min_size=1, max_size=3, unique=True))
        kind = draw(st.sampled_from(["Dense", "Add", "Reshape", "Concatenate", "ReLU", "Dropout", "MyLayer"]))
        layers.append(layer(f"n{number}", kind, (None, draw(st.integers(1, 50))), 0, sources))
    return architecture(layers)


@examples(50)
@given(graphs())
def test_the_peak_is_between_the_largest_tensor_and_the_sum(graph):
    shape = model_shape(graph)
    root = alias_roots(shape.layers)
    sizes = [output(item) for item in shape.layers if root[item.path] == item.path]
    assert max(sizes) <= max(live_profile(shape, output, nothing)) <= sum(sizes)
    assert min(live_profile(shape, output, nothing)) >= 0
    assert min(crossing_bytes(shape, output)) >= 0
    assert crossing_bytes(shape, output)[-1] == 0
