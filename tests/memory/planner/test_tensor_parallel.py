"""What tensor parallelism splits, copies and exchanges."""

from __future__ import annotations

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.parallelism import Division, Workload, estimate
from stethoscope.memory.planner.states import Layout, optimizer, precision
from stethoscope.memory.planner.tensor_parallel import tensor_split
from tests.memory.planner.architectures import architecture, dense_stack, layer, residual_network, transformer
from tests.tables import each


def test_a_transformer_is_split_as_megatron_does():
    shape = model_shape(transformer(blocks=2, hidden=64, heads=4, vocabulary=100))
    split = tensor_split(shape, 4)
    assert split.how == {
        "embed": "vocabulary",
        **{f"block_{n}_attention": "heads" for n in range(2)},
        **{f"block_{n}_wide": "column" for n in range(2)},
        **{f"block_{n}_narrow": "row" for n in range(2)},
    }
    # The four-fold wide tensor stays split; two all-reduces of s·h per block and one behind the embedding remain.
    assert split.split_outputs == {"block_0_wide", "block_1_wide"}
    exchanged = sum(split.all_reduced_elements(item) for item in shape.layers)
    assert exchanged == 32 * 64 * (2 * 2 + 1)


def test_weights_are_divided_and_late_biases_are_not():
    shape = model_shape(transformer(hidden=64, heads=4))
    split = tensor_split(shape, 4)
    wide, narrow, attention = (shape.layer(f"block_0_{name}") for name in ("wide", "narrow", "attention"))
    assert split.parameters(wide) == (64 * 256 + 256) // 4
    assert split.parameters(narrow) == 256 * 64 // 4 + 64
    assert split.parameters(attention) == (4 * 64 * 64 + 3 * 64) // 4 + 64
    assert split.parameters(shape.layer("block_0_norm_1")) == 128


def test_what_does_not_divide_is_copied_and_said():
    shape = model_shape(transformer(hidden=60, heads=6, vocabulary=101))
    split = tensor_split(shape, 4)
    assert "embed" not in split.how
    assert "block_0_attention" not in split.how
    assert split.how["block_0_wide"] == "column"
    said = " ".join(split.notes)
    assert "Not divisible by 4" in said
    assert "embed (101 rows)" in said and "2 more" in said
    assert "normalization" in said


def test_convolutions_are_split_by_filters():
    shape = model_shape(residual_network(filters=16, blocks=1))
    split = tensor_split(shape, 4)
    assert {how for path, how in split.how.items() if "conv" in path} == {"filters"}
    assert not split.split_outputs  # each device needs all channels of the layer before
    assert "classes" not in split.how  # ten classes do not divide by four


def test_queries_keys_and_values_made_by_dense_layers_pair_with_the_projection():
    h, s = 32, 8
    layers = [
        layer("x", "InputLayer", (None, s, h)),
        layer("norm", "LayerNormalization", (None, s, h), 64, ["x"]),
        *(layer(name, "Dense", (None, s, h), h * h + h, ["norm"], units=h) for name in "qkv"),
        layer("attend", "Dot", (None, s, h), 0, ["q", "k", "v"]),
        layer("out", "Dense", (None, s, h), h * h + h, ["attend"], units=h),
        layer("add", "Add", (None, s, h), 0, ["x", "out"]),
    ]
    split = tensor_split(model_shape(architecture(layers)), 2)
    assert split.how == {"q": "column", "k": "column", "v": "column", "out": "row"}
    assert split.split_outputs == {"q", "k", "v", "attend"}


def test_a_dense_layer_read_twice_is_no_pair():
    layers = [
        layer("x", "InputLayer", (None, 8)),
        layer("a", "Dense", (None, 8), 72, ["x"], units=8),
        layer("b", "Dense", (None, 8), 72, ["a"], units=8),
        layer("sum", "Add", (None, 8), 0, ["a", "b"]),
    ]
    split = tensor_split(model_shape(architecture(layers)), 2)
    assert split.how == {"a": "column", "b": "column"}
    assert not split.split_outputs


@each("t", [1, 2, 4, 8])
@each("recompute", ["none", "selective"])
def test_activations_on_each_device_are_those_of_korthikanti_table_2(t, recompute):
    """s·b·h·(10 + 24/t + 5·a·s/(h·t)) in 16 bits; selective recomputation drops the last term."""
    blocks, hidden, heads, sequence, batch = 3, 128, 8, 64, 2
    shape = model_shape(transformer(blocks, hidden, heads, sequence, vocabulary=96))
    work = Workload(shape, precision("bfloat16"), optimizer("adam"), batch)
    found = estimate(work, Layout(tensor=t, recompute=recompute)).bytes.activations
    attention = 0 if recompute == "selective" else 5 * heads * sequence / hidden / t
    formula = blocks * sequence * batch * hidden * (10 + 24 / t + attention)
    indices = 4 * sequence * batch
    assert formula <= found <= formula + indices


def test_full_recomputation_keeps_the_input_of_every_block():
    blocks, hidden, sequence = 6, 128, 64
    shape = model_shape(transformer(blocks, hidden, 8, sequence))
    work = Workload(shape, precision("bfloat16"), optimizer("adam"), batch_size=4)
    found = estimate(work, Layout(recompute="full")).bytes
    assert found.activations == blocks * 2 * sequence * 4 * hidden
    without = estimate(work, Layout()).bytes
    assert found.total < without.total
    assert found.buffers > without.buffers  # one block is computed again at a time


def test_a_dense_stack_splits_in_pairs():
    split = tensor_split(model_shape(dense_stack([64, 64, 64, 64])), 2)
    assert list(split.how.values()) == ["column", "row", "column", "row"]


def test_inside_and_outputs_shrink_with_the_degree():
    shape = model_shape(transformer(hidden=64, heads=4))
    work = Workload(shape, precision("float32"), None, batch_size=1)
    one, four = Division(work, 1), Division(work, 4)
    attention, wide = shape.layer("block_0_attention"), shape.layer("block_0_wide")
    assert four.inside(attention) * 4 == one.inside(attention)
    assert four.output(wide) * 4 == one.output(wide)
    assert four.output(shape.layer("block_0_norm_1")) == one.output(shape.layer("block_0_norm_1"))
