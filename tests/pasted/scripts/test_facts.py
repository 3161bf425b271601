"""What is known of a script: models, ends, labels, order, names."""

from __future__ import annotations

import pytest

from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.names import first_missing, meaning
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.source import read


def facts(text: str) -> Facts:
    return Facts(parse(read(text.encode(), "a.py")))


def end(text: str) -> tuple[int | None, str | None] | None:
    head = facts(text).models[-1].head
    return None if head is None else (head.units, head.activation)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import keras\nm = keras.Sequential([keras.layers.Dense(3, 'softmax')])", (3, "softmax")),
        ("from keras.models import Sequential\nfrom keras.layers import *\nm = Sequential()\nm.add(Dense(4))\nm.add(Activation('relu'))", (4, "relu")),
        ("import tensorflow as tf\nN = 2 * 5\ni = tf.keras.Input((3,))\nm = tf.keras.Model(i, tf.keras.layers.Dense(N)(i))", (10, "linear")),
        ("import tensorflow as tf\ni = tf.keras.Input((3,))\nx = tf.keras.layers.Dense(2)(i)\nm = tf.keras.Model(i, tf.nn.softmax(x))", (2, "softmax")),
        ("import keras\ndef build(n):\n    m = keras.Sequential()\n    m.add(keras.layers.Dense(n, activation='sigmoid'))\n    return m\nm = build(1)", (1, "sigmoid")),
        ("import keras, sys\na = 'relu' if sys.argv else 'softmax'\nm = keras.Sequential([keras.layers.Dense(3, a)])", (3, None)),
        ("import keras\nm = keras.Sequential(make())", None),
        ("import keras\nc = dict(n=3, a='softmax')\nc['n'] = 5\nm = keras.Sequential([keras.layers.Dense(c['n'], c.get('a'))])", (5, "softmax")),
        ("import argparse, keras\np = argparse.ArgumentParser()\np.add_argument('--out-units', default=7)\na = p.parse_args()\nm = keras.Sequential([keras.layers.Dense(a.out_units)])", (7, "linear")),
        ("import keras\nl = []\nl.append(keras.layers.Dense(2))\nm = keras.Sequential(l)", (2, "linear")),
        ("import keras\nl = []\nfor n in sizes:\n    l.append(keras.layers.Dense(n))\nm = keras.Sequential(l)", None),
    ],
)  # fmt: skip
def test_how_a_model_ends(text, expected):
    assert end(text) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("(x, y), _ = keras.datasets.mnist.load_data()", ("integer", 10)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\ny = keras.utils.to_categorical(y, 10)", ("one_hot", 10)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\ny = y[y < 5]", None),
        ("(x, y), _ = keras.datasets.mnist.load_data()\ny = y[:100]", ("integer", 10)),
        ("x, y = load()", None),
        ("x = keras.utils.image_dataset_from_directory('a').prefetch(1)\ny = None", ("integer", None)),
        ("x = keras.utils.image_dataset_from_directory('a').map(f)\ny = None", None),
    ],
)
def test_what_labels_are(lines, expected):
    known = facts(
        f"import keras\n{lines}\nm = keras.Sequential([keras.layers.Dense(1)])\nm.compile(loss='mse')\nm.fit(x, y)\n"
    )
    labels = fed(known.models[0].calls("fit")[0]).labels
    assert expected == (None if labels is None else (labels.kind, labels.classes))


def test_a_name_means_one_thing_whichever_way_it_is_imported():
    names = ("keras.layers.Dense", "tensorflow.keras.layers.Dense", "keras.layers.core.Dense", "tf_keras.layers.Dense")
    assert {meaning(name) for name in names} == {"keras.layers.Dense"}


def test_a_name_that_is_gone_is_told_from_one_that_is_not_listed():
    assert first_missing("keras.utils.np_utils.to_categorical") == "keras.utils.np_utils"
    assert first_missing("tensorflow.Session") == "tensorflow.Session"
    for kept in (
        "tensorflow.keras.layers.Dense",
        "tensorflow.python.ops",
        "numpy.x",
        "tensorflow.losses.MeanSquaredError",
    ):
        assert not first_missing(kept), kept


def test_what_is_under_a_question_for_the_version_is_left_alone():
    text = (
        "import tensorflow as tf\nif tf.__version__ < '2':\n    tf.Session()\nelse:\n    tf.Session()\ntf.Session()\n"
    )
    assert [call.guarded for call in facts(text).calls if call.name.endswith("Session")] == [True, True, False]


def test_keras_2_is_believed_where_the_script_asks_for_it():
    assert facts("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow").legacy
    assert not facts("import tensorflow").legacy
