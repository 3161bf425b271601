"""Pictures of one sample are bounded and say so; projections, neighbours and similarities are the textbook's."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.activations.layer_vectors import nearest, project, umap_installed
from stethoscope.activations.looks import MOST_CHANNELS, MOST_SIDE, attention_layers, attention_of, look_at
from stethoscope.activations.reach import CONSTANT, base, reachable, unseen
from stethoscope.activations.reduced import Layout
from stethoscope.errors import BadSetting
from stethoscope.tasks.similarity import MOST_UNITS, UnitSimilarity, ordered
from stethoscope.types import Architecture, Layer, TensorSpec

RANDOM = np.random.default_rng(0)


def test_feature_maps_are_channels_of_pictures():
    row = RANDOM.random((5, 7, 3)).astype(np.float32)
    look = look_at(row, channels_first=False)
    assert (look.kind, look.axes, look.notes) == ("maps", ("channel", "height", "width"), ())
    np.testing.assert_array_equal(look.values[2], row[..., 2])
    np.testing.assert_array_equal(look_at(row, channels_first=True).values, row)


def test_large_maps_are_averaged_and_said():
    row = RANDOM.random((300, 131, 2)).astype(np.float32)
    look = look_at(row, channels_first=False)
    assert max(look.values.shape[1:]) <= MOST_SIDE and "3 × 3" in look.notes[0]
    assert look.values[1, 0, 0] == pytest.approx(row[:3, :3, 1].mean(), rel=1e-5)
    assert look.values[1, -1, -1] == pytest.approx(row[297:, 129:, 1].mean(), rel=1e-5)


def test_of_many_channels_those_that_vary_are_kept():
    row = np.zeros((2, 2, MOST_CHANNELS + 5), np.float32)
    row[0, 0, 5:] = 1
    look = look_at(row, channels_first=False)
    assert look.channels == tuple(range(5, MOST_CHANNELS + 5)) and len(look.values) == MOST_CHANNELS


def test_other_shapes():
    assert look_at(RANDOM.random((9, 4)), channels_first=False).values.shape == (9, 4)
    assert look_at(RANDOM.random((9, 4)), channels_first=True).axes == ("step", "feature")
    assert look_at(RANDOM.random(6), channels_first=False).kind == "vector"
    assert look_at(np.float32(3), channels_first=False).values.tolist() == [3]
    volume = look_at(RANDOM.random((8, 5, 6, 2)), channels_first=False)
    assert volume.values.shape == (2, 5, 6) and "slice at 4" in volume.notes[0]
    assert attention_of(RANDOM.random((6, 6))).values.shape == (1, 6, 6)
    assert "first 512" in attention_of(np.zeros((2, 600, 600), np.float32)).notes[0]


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (1_100, 1_030)])
def test_principal_components_are_scikit_learns(shape):
    from sklearn.decomposition import PCA

    # Axes of different length: of equal ones no order is right.
    scale = 0.05 + 9 * 0.6 ** np.arange(shape[1])
    vectors = (RANDOM.normal(size=shape) * scale + 100).astype(np.float32)
    made = project(vectors, "pca", 3, 0)
    theirs = PCA(3, svd_solver="full").fit(vectors.astype(np.float64))
    expected = theirs.transform(vectors.astype(np.float64))
    tolerance = 0.02 * np.abs(expected).max()
    for axis in range(3):
        same = min(np.abs(made.points[:, axis] - sign * expected[:, axis]).max() for sign in (1, -1))
        assert same < tolerance
    np.testing.assert_allclose(made.explained, theirs.explained_variance_ratio_, rtol=0.02)


def test_projection_of_few_values_has_empty_axes():
    made = project(np.array([[1.0], [2.0], [4.0]], np.float32), "pca", 3, 0)
    assert made.points.shape == (3, 3) and made.explained == pytest.approx((1.0, 0.0, 0.0))
    assert not project(np.ones((3, 4), np.float32), "pca", 2, 0).points.any()


def test_projection_says_what_it_needs():
    with pytest.raises(BadSetting, match="at least 2 rows"):
        project(np.ones((1, 4), np.float32), "pca", 2, 0)
    with pytest.raises(BadSetting, match="expected one of"):
        project(np.ones((3, 4), np.float32), "tsne", 2, 0)
    if not umap_installed():
        with pytest.raises(BadSetting, match="umap-learn"):
            project(np.ones((5, 4), np.float32), "umap", 2, 0)


def test_nearest_rows_by_cosine():
    vectors = RANDOM.normal(size=(700, 5)).astype(np.float32)
    vectors[9] = 3 * vectors[650]
    rows, far = nearest(vectors, 4)
    assert rows[9, 0] == 650 and far[9, 0] == pytest.approx(0, abs=1e-6)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - unit @ unit[17]
    distance[17] = np.inf
    assert rows[17].tolist() == np.argsort(distance)[:4].tolist()
    assert nearest(vectors[:1])[0].shape == (1, 0)


@pytest.mark.parametrize("measure", ["correlation", "cosine"])
def test_similarity_of_units(measure):
    values = RANDOM.normal(size=(50, 4, 6)).astype(np.float32) + 5
    values[..., 3] = -2 * values[..., 1] + 1
    values[..., 4] = 7
    similarity = UnitSimilarity(Layout())
    similarity.add(values[:20])
    similarity.add(values[20:])
    flat = values.reshape(-1, 6).astype(np.float64)
    if measure == "correlation":
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = np.corrcoef(flat.T)
    else:
        unit = flat / np.linalg.norm(flat, axis=0)
        expected = unit.T @ unit
    found = similarity.matrix(measure)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    order = ordered(found)
    assert sorted(order) == list(range(6))
    assert (order[-1] == 4) == (measure == "correlation")


def test_similarity_of_very_many_units_is_of_some():
    similarity = UnitSimilarity(Layout())
    similarity.add(RANDOM.random((8, 1_000)))
    assert len(similarity.units) == MOST_UNITS and similarity.units[-1] == 999 and similarity.all_units == 1_000


def test_like_units_are_beside_each_other():
    base = RANDOM.normal(size=(200, 2))
    values = np.stack([base[:, unit % 2] + 0.05 * RANDOM.normal(size=200) for unit in range(8)], axis=1)
    similarity = UnitSimilarity(Layout())
    similarity.add(values)
    groups = [unit % 2 for unit in ordered(similarity.matrix("correlation"))]
    assert groups in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)


def graph(*layers: Layer) -> Architecture:
    return Architecture("onnx", "", 0, None, (TensorSpec("x", (None, 4), "float32"),), (), layers)


def test_attention_is_told_from_classes():
    def layer(path, kind, shape, *inputs):
        return Layer(path, kind, shape, 0, 0, "float32", inputs)

    scores = (None, 4, 9, 9)
    model = graph(
        layer("q", "MatMul", (None, 9, 8)),
        layer("k", "MatMul", (None, 9, 8)),
        layer("qk", "MatMul", scores, "q", "k"),
        layer("scaled", "Div", scores, "qk"),
        layer("attend", "Softmax", scores, "scaled"),
        layer("dense", "MatMul", (None, 9, 5), "attend"),
        layer("tags", "Softmax", (None, 9, 5), "dense"),
        layer("mha", "MultiHeadAttention", (None, 9, 8), "tags"),
        layer("classes", "Softmax", (None, 5), "mha"),
    )
    assert attention_layers(model) == ("attend", "mha")


def test_constants_are_no_activations():
    model = graph(
        Layer("filled", "ConstantOfShape", (3, 4), 0, 0, "float32"),
        Layer("turned", "Transpose", (4, 3), 0, 0, "float32", ("filled",)),
        Layer("conv", "Conv", (None, 3), 0, 0, "float32", ("turned",)),
        Layer("text", "Gather", (None,), 0, 0, "string", ("conv",)),
        Layer("fed", "MatMul", (None, 3), 0, 0, "float32"),
    )
    expected = reachable(model)
    assert {path: why == CONSTANT for path, why in expected.items()} == {
        "filled": True,
        "turned": True,
        "conv": True,
        "text": True,
        "fed": False,
    }
    left = unseen(model, {**expected, "text": ""}, {"fed#1", "conv:2"}, {})
    assert [layer.path for layer in left] == ["filled", "turned", "text"] and "no numbers" in left[-1].reason
    assert base("a/b#2:1", {"a/b"}) == "a/b" and base("a:1", {"a:1", "a"}) == "a:1"
