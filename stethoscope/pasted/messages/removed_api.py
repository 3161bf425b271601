"""A name of TensorFlow 1 that TensorFlow 2 does not have."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = read.get("name", "a name")
    if "package" in read:
        package = read.get("package")
        return Cause(
            f"{package} has no “{name}” in the version that is installed: it was moved, renamed or taken out, or it belongs to tf.keras or to an older Keras.",
            Certainty.LIKELY,
            (
                Step("See which Keras it is.", "import keras\nprint(keras.__version__, keras.__file__)"),
                Step(
                    "Public names are under keras.layers, keras.utils, keras.optimizers; functions of K are keras.ops.",
                    "from keras import ops\nfrom keras.utils import to_categorical",
                ),
                Step("Code for Keras 2:", "pip install tf_keras\nimport tf_keras as keras"),
            ),
        )
    told = f"tf.{name}" if "module" not in read else f"tensorflow.{read.get('module')}.{name}"
    gone = {
        "Session",
        "placeholder",
        "ConfigProto",
        "get_variable",
        "global_variables_initializer",
        "reset_default_graph",
        "app",
        "flags",
        "log",
        "random_uniform",
        "random_normal",
        "truncated_normal",
        "variable_scope",
        "get_default_graph",
        "to_float",
        "GPUOptions",
        "layers",
        "set_random_seed",
        "logging",
        "placeholder_with_default",
        "InteractiveSession",
        "disable_v2_behavior",
        "matrix_inverse",
        "AUTO_REUSE",
        "gfile",
        "read_file",
        "string_to_number",
    }
    if read.says("partially initialized module"):
        return Cause(
            f"{told} is asked for while TensorFlow is still being imported: a file of your own is called tensorflow.py, or two modules import each other.",
            Certainty.LIKELY,
            (Step("See which file it is.", "import tensorflow\nprint(tensorflow.__file__)"),),
        )
    if name == "contrib":
        return Cause(
            "tf.contrib was taken out of TensorFlow 2; its parts live on in other packages (tf_slim, tensorflow_addons) or nowhere.",
            Certainty.CERTAIN,
            (
                Step("Look for the part in today's packages.", "pip install tf_slim   # tf.contrib.slim"),
                Step("Old code as it is needs TensorFlow 1.15 and Python 3.7."),
            ),
        )
    if name in gone and "module" not in read and "python_2" not in read:
        return Cause(
            f"{told} is of TensorFlow 1 and not in TensorFlow 2; the program was written for TensorFlow 1.",
            Certainty.CERTAIN,
            (
                Step(
                    "Old graphs and sessions go on under this name.",
                    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()",
                ),
                Step("Have the names changed for you.", "tf_upgrade_v2 --infile old.py --outfile new.py"),
                Step("Better: Keras and eager execution, without sessions."),
            ),
        )
    if read.says(
        "'tensorflow' has no attribute '__version__'",
        "'tensorflow' has no attribute 'keras'",
        "'tensorflow' has no attribute 'constant'",
    ):
        return Cause(
            f"{told} is in every TensorFlow of today, so what was imported is none: a file or folder of your own is called tensorflow, the installation is broken, or it is older than 1.4.",
            Certainty.LIKELY,
            (
                Step(
                    "See what was imported.", "import tensorflow\nprint(tensorflow.__file__, list(tensorflow.__path__))"
                ),
                Step("Install it anew.", "pip uninstall -y tensorflow tensorflow-cpu keras && pip install tensorflow"),
            ),
        )
    return Cause(
        f"{told} is not in the version that is installed: it was renamed, moved or taken out (or is newer than it).",
        Certainty.LIKELY,
        (
            Step("See the version.", "import tensorflow as tf\nprint(tf.__version__)"),
            Step("Names of TensorFlow 1 live in compat.v1.", "tf.compat.v1." + name),
        ),
    )


MESSAGE = Message(
    id="removed-api",
    title="A name of TensorFlow 1 that TensorFlow 2 does not have",
    wordings=(
        Wording("module 'tensorflow' has no attribute", r"module 'tensorflow' has no attribute '(?P<name>\w{1,60})'"),
        Wording(
            "has no attribute", r"module 'tensorflow\.(?P<module>[\w.]{1,60})' has no attribute '(?P<name>\w{1,60})'"
        ),
        Wording("has no attribute", r"module '(?P<package>keras[\w.]{0,60})' has no attribute '(?P<name>\w{1,60})'"),
        Wording(
            "'module' object has no attribute",
            r"'(?P<python_2>module)' object has no attribute '(?P<name>keras|contrib|placeholder|Session|data|layers|estimator|initialize_all_variables|mul|pack|sub|python_io|compat)'",
        ),
        Wording("module 'tensorflow.compat.v1' has no attribute", r"has no attribute '(?P<name>contrib)'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/18538",
        "https://github.com/tensorflow/tensorflow/issues/28512",
        "https://github.com/tensorflow/models/issues/7036",
        "https://www.tensorflow.org/guide/migrate",
    ),
)
