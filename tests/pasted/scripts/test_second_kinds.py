"""Rules that find more than one kind of fault: each further kind at its line, and a sound neighbour on which they are silent."""

from __future__ import annotations

import pytest

from stethoscope.checks.findings import Severity
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.review import review, rewritten
from stethoscope.pasted.scripts.source import read

HEAD = "import re\nimport numpy as np\nimport pandas as pd\nimport tensorflow as tf\nfrom tensorflow import keras\n"
DENSE = 'model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense({units}, activation="{end}")])\n'
KINDS = {
    "a share of dropout in percent": (
        "script-dropout-share",
        "inputs = keras.Input((4,))\nx = keras.layers.Dropout({0})(inputs)",
        ("50", "0.5"),
    ),
    "the head of a model of one's own": (
        "script-from-logits",
        "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.out = keras.layers.Dense(3, activation='softmax')\n    def call(self, x):\n        return self.out(x)\n"
        "net = Net()\nloss = keras.losses.SparseCategoricalCrossentropy({0})\nprint(loss(np.load('y.npy'), net(np.load('x.npy'))))",
        ("from_logits=True", ""),
    ),
    "rows of a loop that are only judged": (
        "script-evaluated-as-training",
        "model = keras.models.load_model('net.keras')\nfor x, y in test_rows:\n    model(x, training={0})",
        ("True", "False"),
    ),
    "two units for one label": (
        "script-last-layer",
        "table = pd.read_csv('t.csv')\n"
        + DENSE.format(units="{0}", end="sigmoid")
        + "model.compile('adam', 'binary_crossentropy')\n"
        "model.fit(np.load('x.npy'), table['left'].values)",
        ("2", "1"),
    ),
    "accuracy of a distance": (
        "script-metric-for-task",
        "def contrastive_loss(y, d):\n    return d\nmodel = keras.models.load_model('net.keras')\n"
        "model.compile('adam', loss=contrastive_loss, metrics=[{0}])",
        ("'accuracy'", ""),
    ),
    "files counted as batches": (
        "script-fit-arguments",
        "rows = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\n"
        "model = keras.Sequential([keras.layers.Input((256, 256, 3)), keras.layers.Flatten(), keras.layers.Dense(3, activation='softmax')])\n"
        "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(rows, steps_per_epoch={0})",
        ("rows.samples", "len(rows)"),
    ),
    "a split in percent that shares rows": (
        "script-validation-is-training",
        "import tensorflow_datasets as tfds\ntrain, test = tfds.load('x', split=['train[:60%]', '{0}'])",
        ("train[50%:]", "train[60%:]"),
    ),
    "a picture resized to another size": (
        "script-picture-read-otherwise",
        "import cv2\nrows = keras.utils.image_dataset_from_directory('a', image_size=(64, 64))\n"
        "model = keras.Sequential([keras.layers.Input((64, 64, 3)), keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), "
        "keras.layers.Dense(2, activation='softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(rows)\n"
        "picture = cv2.cvtColor(cv2.imread('a.png'), cv2.COLOR_BGR2RGB)\nmodel.predict(cv2.resize(picture, ({0}, 64))[None])",
        ("80", "64"),
    ),
    "five values of an episode's step": (
        "script-pair-of-reset",
        "import gymnasium as gym\nenv = gym.make('CartPole-v1')\nstate, _ = env.reset()\n"
        "state, reward, {0} info = env.step(1)\nprint(ended, {0} info)",
        ("ended,", "ended, cut,"),
    ),
    "an overlap without one minus": (
        "script-score-as-loss",
        "def dice_loss(y, p):\n    return {0}2 * tf.reduce_sum(y * p) / tf.reduce_sum(y + p)\n"
        "model = keras.models.load_model('net.keras')\n"
        "model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation='sigmoid')])\n"
        "model.compile('adam', loss=dice_loss)",
        ("", "1 - "),
    ),
    "standardised targets behind ReLU": (
        "script-amount-behind-a-bound",
        "from sklearn.preprocessing import StandardScaler\ny = StandardScaler().fit_transform(np.load('y.npy'))\n"
        + DENSE.format(units=1, end="{0}")
        + "model.compile('adam', 'mse')\nmodel.fit(np.load('x.npy'), y)",
        ("relu", "linear"),
    ),
    "targets below 0 behind ReLU": (
        "script-amount-behind-a-bound",
        DENSE.format(units=1, end="relu") + "model.compile('adam', 'mse')\n"
        "model.fit(np.load('x.npy'), np.array([{0}, 1.0, 3.0]))",
        ("-3.0", "0.5"),
    ),
    "a metric that nobody asked for": (
        "script-history-key",
        DENSE.format(units=1, end="linear") + "model.compile('adam', 'mse', metrics=['mae'])\n"
        "past = model.fit(np.load('x.npy'), np.load('y.npy'))\nprint(past.history['{0}'])",
        ("accuracy", "mae"),
    ),
    "a classifier of several heads compared across rows": (
        "script-axis-of-rows",
        "inputs = keras.Input((4,))\nmodel = keras.Model(inputs, [keras.layers.Dense(2)(inputs), keras.layers.Dense(3)(inputs)])\n"
        "boxes, scores = model(np.load('x.npy'))\nprint(tf.argmax(scores, axis={0}))",
        ("0", "1"),
    ),
    "the latent behind ReLU": (
        "script-latent-of-an-autoencoder",
        "inputs = keras.Input((4,))\nz_mean = keras.layers.Dense(2{0})(inputs)",
        (", activation='relu'", ""),
    ),
    "a mask from 0 to 255": (
        "script-mask-read",
        "def load(path):\n    mask = tf.image.decode_png(tf.io.read_file(path), channels=1)\n    return mask{0}\n"
        "model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation='sigmoid')])",
        ("", " / 255"),
    ),
}


def _found(text: str) -> set[str]:
    return {one.check_id for one in review(text.encode(), "train.py").findings if one.severity >= Severity.LOW}


@pytest.mark.parametrize("kind", KINDS)
def test_a_further_kind_is_found_and_its_sound_neighbour_is_not(kind):
    rule, text, (wrong, right) = KINDS[kind]
    faulty, sound = (HEAD + text.replace("{0}", part) + "\n" for part in (wrong, right))
    assert rule in _found(faulty)
    assert rule not in _found(sound)
    for one in review(faulty.encode(), "train.py").findings:
        if isinstance(one.fix, ScriptPatch):
            parse(read(rewritten(faulty.encode(), "train.py", [one])[0], "train.py"))
