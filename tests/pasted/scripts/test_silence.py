"""Sound lines that a rule once took for a fault, in public scripts."""

from __future__ import annotations

import pytest

from stethoscope.checks.findings import Severity
from stethoscope.pasted.scripts.review import review

SOUND = {
    "an optimizer of one's own": (
        "import tensorflow as tf\nclass Adam:\n    def apply_gradients(self, g, v):\n        pass\n"
        "adam = Adam()\nwith tf.GradientTape() as tape:\n    loss = f(x)\nadam.apply_gradients(tape.gradient(loss, v), v)\n"
    ),
    "a strategy handed on": (
        "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\nconfig = RunConfig(train_distribute=strategy)\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
    ),
    "a symmetric loss": (
        "import tensorflow as tf\nm = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nm.compile('sgd', 'mse')\n"
        "loss = tf.keras.losses.mae(m(x), x)\n"
    ),
    "compiled by a function": (
        "import keras\ndef train(model):\n    model.compile('sgd', 'mse')\n    return model.fit(x, y)\n"
        + "".join(
            f"m{i} = keras.Sequential([keras.layers.Dense(1)])\ntrain(m{i})\nm{i}.evaluate(x, y)\n" for i in range(20)
        )
    ),
    "a call that is expected to fail": (
        "import tensorflow as tf\ntry:\n    tf.reshape(x, (7, -1))\nexcept Exception as e:\n    print(e)\n"
    ),
    "two alternatives in one notebook": (
        "import tensorflow as tf\na = tf.constant(1.0)\ngpus = tf.config.list_physical_devices('GPU')\n"
        "try:\n    tf.config.experimental.set_memory_growth(gpus[0], True)\nexcept RuntimeError as e:\n    print(e)\n"
    ),
    "a layer called to be built": "import keras\nlayer = keras.layers.Dense(3)\nlayer(keras.ops.ones((1, 2)))\n",
    "labels cut down": (
        "import keras\n(x, y), _ = keras.datasets.mnist.load_data()\nx, y = x[y < 8] / 255, y[y < 8]\n"
        "m = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(8, 'softmax')])\n"
        "m.compile('sgd', 'sparse_categorical_crossentropy')\nm.fit(x, y)\n"
    ),
    "rates compared": (
        "import keras\nfor rate in (1.0, 0.001):\n    pass\na, b = keras.optimizers.Adam(1.0), keras.optimizers.Adam(0.001)\n"
        "m = keras.Sequential([keras.layers.Dense(8, 'relu'), keras.layers.Dense(1)])\nm.compile(a, 'mse')\n"
    ),
    "an argument handed on to the class above": "import keras\nzoom = keras.layers.RandomZoom(0.1, data_format='channels_last')\n",
    "keras itself": "from keras._tf_keras import keras\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_grave_is_said_of_it(name):
    found = review(SOUND[name].encode(), "train.py").findings
    assert not [(one.check_id, one.where) for one in found if one.severity >= Severity.HIGH]
