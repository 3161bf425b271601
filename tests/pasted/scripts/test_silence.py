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
    "a rate that a schedule begins with": (
        "import keras\nm = keras.Sequential([keras.layers.Dense(8, 'relu'), keras.layers.Dense(1)])\n"
        "m.compile(keras.optimizers.SGD(1e-8), 'mse')\n"
        "m.fit(x, y, callbacks=[keras.callbacks.LearningRateScheduler(lambda epoch: 1e-8 * 10 ** (epoch / 20))])\n"
    ),
    "a line of several layers": (
        "import keras\nm = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])\n"
        "m.compile(keras.optimizers.Adam(0.1), 'mse')\n"
    ),
    "an embedding of places": (
        "import keras\nv = keras.layers.TextVectorization(max_tokens=15000)\nv.adapt(t)\n"
        "a = keras.layers.Embedding(15000, 8)\nb = keras.layers.Embedding(100, 8)\n"
    ),
    "a word for padding": (
        "import tensorflow as tf\nt = tf.keras.preprocessing.text.Tokenizer()\nwords = t.word_index\nwords['PAD'] = 0\n"
        "e = tf.keras.layers.Embedding(len(words), 8)\n"
    ),
    "training under another name": (
        "import tensorflow as tf\nclass Net(tf.keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.n = tf.keras.layers.BatchNormalization()\n    def call(self, x, is_training=False):\n"
        "        return self.n(x, training=is_training)\nnet = Net()\nwith tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_mean(net(x, is_training=True))\ng = tape.gradient(loss, net.trainable_variables)\n"
    ),
    "pieces that do not overlap": (
        "import keras\nimport numpy as np\nrows = []\nfor i in range(0, len(x), 100):\n    rows.append(x[i : i + 100])\n"
        "x = np.concatenate(rows)\norder = np.random.permutation(len(x))\nx, y = x[order], y[order]\n"
        "m = keras.Sequential([keras.layers.Dense(1)])\nm.compile('adam', 'mse')\nm.fit(x, y, validation_split=0.2)\n"
    ),
    "keras itself": "from keras._tf_keras import keras\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_grave_is_said_of_it(name):
    found = review(SOUND[name].encode(), "train.py").findings
    assert not [(one.check_id, one.where) for one in found if one.severity >= Severity.HIGH]
