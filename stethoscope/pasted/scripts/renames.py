"""What a name that is gone is called today: a table from the migration guides, and where its last part is found again.

Source: keras.io/guides/migrating_to_keras_3; tensorflow.org/guide/migrate; the release notes of Keras 2.0 to 3.0 and of
TensorFlow 2.0 to 2.16; `tf_upgrade_v2`'s tables of renames. Each name on the right is held against the installed packages by a test.
"""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.pasted.scripts.names import exists

RENAMED = {
    "keras.layers.CuDNNLSTM": "keras.layers.LSTM",
    "keras.layers.CuDNNGRU": "keras.layers.GRU",
    "keras.layers.ThresholdedReLU": "keras.layers.ReLU",
    "keras.layers.merge.add": "keras.layers.add",
    "keras.layers.AtrousConvolution2D": "keras.layers.Conv2D",
    "keras.layers.AtrousConv2D": "keras.layers.Conv2D",
    "keras.layers.Deconvolution2D": "keras.layers.Conv2DTranspose",
    "keras.layers.TimeDistributedDense": "keras.layers.Dense",
    "keras.initializers.normal": "keras.initializers.RandomNormal",
    "keras.initializers.uniform": "keras.initializers.RandomUniform",
    "keras.constraints.maxnorm": "keras.constraints.MaxNorm",
    "keras.constraints.nonneg": "keras.constraints.NonNeg",
    "keras.constraints.unitnorm": "keras.constraints.UnitNorm",
    "keras.losses.mse": "keras.losses.mean_squared_error",
    "keras.losses.mae": "keras.losses.mean_absolute_error",
    "keras.losses.mape": "keras.losses.mean_absolute_percentage_error",
    "keras.losses.kld": "keras.losses.kl_divergence",
    "keras.losses.kullback_leibler_divergence": "keras.losses.kl_divergence",
    "keras.losses.cosine_proximity": "keras.losses.cosine_similarity",
    "keras.metrics.mse": "keras.metrics.mean_squared_error",
    "keras.metrics.mae": "keras.metrics.mean_absolute_error",
    "keras.optimizers.rmsprop": "keras.optimizers.RMSprop",
    "keras.optimizers.adam": "keras.optimizers.Adam",
    "keras.optimizers.sgd": "keras.optimizers.SGD",
    "keras.optimizers.adagrad": "keras.optimizers.Adagrad",
    "keras.optimizers.adadelta": "keras.optimizers.Adadelta",
    "keras.optimizers.adamax": "keras.optimizers.Adamax",
    "keras.optimizers.nadam": "keras.optimizers.Nadam",
    "keras.experimental.CosineDecay": "keras.optimizers.schedules.CosineDecay",
    "keras.experimental.CosineDecayRestarts": "keras.optimizers.schedules.CosineDecayRestarts",
    "keras.mixed_precision.experimental.set_policy": "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.experimental.global_policy": "keras.mixed_precision.global_policy",
    "keras.mixed_precision.experimental.Policy": "keras.mixed_precision.Policy",
    "keras.mixed_precision.experimental.LossScaleOptimizer": "keras.mixed_precision.LossScaleOptimizer",
    "keras.objectives": "keras.losses",
    "keras.utils.np_utils": "keras.utils",
    "keras.utils.generic_utils": "keras.utils",
    "keras.utils.data_utils": "keras.utils",
    "keras.utils.vis_utils": "keras.utils",
    "keras.utils.visualize_util": "keras.utils",
    "keras.utils.layer_utils": "keras.utils",
    "keras.utils.visualize_util.plot": "keras.utils.plot_model",
    "keras.utils.tf_utils": "keras.utils",
    "keras.layers.advanced_activations": "keras.layers",
    "keras.layers.core": "keras.layers",
    "keras.layers.convolutional": "keras.layers",
    "keras.layers.pooling": "keras.layers",
    "keras.layers.recurrent": "keras.layers",
    "keras.layers.embeddings": "keras.layers",
    "keras.layers.normalization": "keras.layers",
    "keras.layers.noise": "keras.layers",
    "keras.layers.wrappers": "keras.layers",
    "keras.layers.merge": "keras.layers",
    "keras.layers.experimental.preprocessing": "keras.layers",
    "keras.layers.experimental": "keras.layers",
    "keras.preprocessing.image.ImageDataGenerator": "tensorflow.keras.preprocessing.image.ImageDataGenerator",
    "keras.preprocessing.text": "tensorflow.keras.preprocessing.text",
    "keras.engine.topology.Layer": "keras.layers.Layer",
    "keras.engine.Layer": "keras.layers.Layer",
    "keras.engine.topology": "keras.layers",
    "keras.engine.training.Model": "keras.Model",
    "keras.backend.tensorflow_backend": "keras.backend",
    "keras.backend.permute_dimensions": "keras.ops.transpose",
    "keras.backend.random_normal": "keras.random.normal",
    "keras.backend.random_uniform": "keras.random.uniform",
    "keras.backend.truncated_normal": "keras.random.truncated_normal",
    "keras.backend.variable": "keras.Variable",
    "keras.backend.get_value": "keras.ops.convert_to_numpy",
    "keras.backend.eval": "keras.ops.convert_to_numpy",
    "keras.backend.pow": "keras.ops.power",
    "keras.backend.dot": "keras.ops.matmul",
    "keras.backend.int_shape": "keras.ops.shape",
    "keras.backend.clip": "keras.ops.clip",
    "keras.backend.gradients": "tensorflow.GradientTape",
    "tensorflow.log": "tensorflow.math.log",
    "tensorflow.log1p": "tensorflow.math.log1p",
    "tensorflow.ceil": "tensorflow.math.ceil",
    "tensorflow.mod": "tensorflow.math.mod",
    "tensorflow.div": "tensorflow.math.divide",
    "tensorflow.erf": "tensorflow.math.erf",
    "tensorflow.count_nonzero": "tensorflow.math.count_nonzero",
    "tensorflow.is_nan": "tensorflow.math.is_nan",
    "tensorflow.is_finite": "tensorflow.math.is_finite",
    "tensorflow.rsqrt": "tensorflow.math.rsqrt",
    "tensorflow.segment_sum": "tensorflow.math.segment_sum",
    "tensorflow.unsorted_segment_sum": "tensorflow.math.unsorted_segment_sum",
    "tensorflow.random_normal": "tensorflow.random.normal",
    "tensorflow.random_uniform": "tensorflow.random.uniform",
    "tensorflow.truncated_normal": "tensorflow.random.truncated_normal",
    "tensorflow.random_shuffle": "tensorflow.random.shuffle",
    "tensorflow.set_random_seed": "tensorflow.random.set_seed",
    "tensorflow.random.set_random_seed": "tensorflow.random.set_seed",
    "tensorflow.multinomial": "tensorflow.random.categorical",
    "tensorflow.matrix_inverse": "tensorflow.linalg.inv",
    "tensorflow.diag": "tensorflow.linalg.tensor_diag",
    "tensorflow.trace": "tensorflow.linalg.trace",
    "tensorflow.cross": "tensorflow.linalg.cross",
    "tensorflow.gfile": "tensorflow.io.gfile",
    "tensorflow.gfile.GFile": "tensorflow.io.gfile.GFile",
    "tensorflow.gfile.Open": "tensorflow.io.gfile.GFile",
    "tensorflow.read_file": "tensorflow.io.read_file",
    "tensorflow.decode_raw": "tensorflow.io.decode_raw",
    "tensorflow.parse_single_example": "tensorflow.io.parse_single_example",
    "tensorflow.FixedLenFeature": "tensorflow.io.FixedLenFeature",
    "tensorflow.VarLenFeature": "tensorflow.io.VarLenFeature",
    "tensorflow.python_io.TFRecordWriter": "tensorflow.io.TFRecordWriter",
    "tensorflow.sparse_tensor_to_dense": "tensorflow.sparse.to_dense",
    "tensorflow.SparseTensorValue": "tensorflow.compat.v1.SparseTensorValue",
    "tensorflow.string_split": "tensorflow.strings.split",
    "tensorflow.image.resize_images": "tensorflow.image.resize",
    "tensorflow.image.resize_bilinear": "tensorflow.image.resize",
    "tensorflow.contrib.distribute.MirroredStrategy": "tensorflow.distribute.MirroredStrategy",
    "tensorflow.contrib.distribute.TPUStrategy": "tensorflow.distribute.TPUStrategy",
    "tensorflow.contrib.lite": "tensorflow.lite",
    "tensorflow.contrib.saved_model": "tensorflow.saved_model",
    "tensorflow.contrib.keras": "tensorflow.keras",
    "tensorflow.contrib.layers.xavier_initializer": "tensorflow.keras.initializers.GlorotUniform",
    "tensorflow.contrib.layers.l2_regularizer": "tensorflow.keras.regularizers.L2",
    "tensorflow.contrib.data.AUTOTUNE": "tensorflow.data.AUTOTUNE",
}
"""The name that is gone → the name of today, both as `meaning` spells them, or as they are written."""

REMARKS = {
    "keras.layers.CuDNNLSTM": "LSTM uses cuDNN by itself",
    "keras.layers.CuDNNGRU": "GRU uses cuDNN by itself",
    "keras.layers.ThresholdedReLU": "write ReLU(threshold=…)",
    "keras.utils.multi_gpu_model": "build and compile the model within tf.distribute.MirroredStrategy().scope()",
    "keras.engine": "its public names stand in keras.layers and keras.models",
    "keras.src.engine": "it is of Keras 2 (tf_keras), and private; public names stand in keras.layers and keras.models",
    "keras.wrappers.scikit_learn": "SciKeras has it, or keras.wrappers.SKLearnClassifier",
    "keras.layers.LocallyConnected1D": "there is none; write a layer of your own",
    "keras.layers.LocallyConnected2D": "there is none; write a layer of your own",
    "keras.layers.merge.merge": "write keras.layers.Add()([…]) or Concatenate()([…])",
    "keras.layers.Merge": "write keras.layers.Add()([…]) or Concatenate()([…]) with the functional API",
    "keras.backend.function": "build keras.Model(inputs, outputs) and call it",
    "keras.backend.gradients": "record the computation in a GradientTape",
    "keras.backend.placeholder": "use keras.Input",
    "keras.backend.learning_phase": "give call(…, training=…)",
    "keras.backend.set_learning_phase": "give call(…, training=…)",
    "keras.backend.set_session": "there are no sessions; memory growth is tf.config.experimental.set_memory_growth",
    "keras.backend.get_session": "there are no sessions; call the model",
    "keras.backend.set_value": "write variable.assign(value)",
    "keras.backend.flatten": "write keras.ops.reshape(x, (-1,))",
    "keras.backend.batch_flatten": "write keras.ops.reshape(x, (keras.ops.shape(x)[0], -1))",
    "keras.backend.batch_dot": "write keras.ops.einsum, or keras.layers.Dot",
    "keras.backend.control_flow_ops": "write keras.ops.cond",
    "keras.backend.set_image_dim_ordering": "write set_image_data_format('channels_last')",
    "keras.backend.image_dim_ordering": "write image_data_format()",
    "tensorflow.estimator": "estimators ended with TensorFlow 2.16; train a Keras model",
    "tensorflow.Session": "operations run at once; a program of TensorFlow 1 runs with tf.compat.v1 and tf.compat.v1.disable_eager_execution()",
    "tensorflow.placeholder": "use a parameter of a tf.function, or keras.Input",
    "tensorflow.global_variables_initializer": "variables are initialised when they are made",
    "tensorflow.contrib": "contrib ended with TensorFlow 1; its parts moved to TensorFlow Addons, tf.compat.v1 or nowhere",
    "tensorflow.examples": "use keras.datasets.mnist.load_data()",
    "tensorflow.ConfigProto": "use tf.config.experimental.set_memory_growth or set_logical_device_configuration",
    "tensorflow.GPUOptions": "use tf.config.experimental.set_memory_growth or set_logical_device_configuration",
    "tensorflow.enable_eager_execution": "eager execution is on by itself; leave the line out",
    "keras.preprocessing.text": "it is deprecated there; keras.layers.TextVectorization takes its place",
    "keras.preprocessing.image.ImageDataGenerator": "it is deprecated there; keras.utils.image_dataset_from_directory takes its place",
    "keras.utils.HDF5Matrix": "read the rows with h5py, in a keras.utils.PyDataset",
    "keras.optimizers.legacy": "the optimizers of Keras 3 stand in keras.optimizers",
}
"""What to write, where one name does not take the place of another; also of what begins with it."""
_GONE_ALL_THE_SAME = ("keras.optimizers.legacy", "keras.wrappers.scikit_learn")
"""Names that can still be looked up, and raise when they are called (tried on Keras 3.15)."""
_HOMES = (
    "keras.layers",
    "keras",
    "keras.utils",
    "keras.optimizers",
    "keras.losses",
    "keras.metrics",
    "keras.callbacks",
    "keras.initializers",
    "keras.regularizers",
    "keras.constraints",
    "keras.activations",
    "keras.preprocessing.image",
    "keras.preprocessing.sequence",
)


@dataclass(frozen=True)
class Today:
    """What a name that is gone is today."""

    name: str = ""
    """As it would be written out in full; "" where nothing takes its place."""
    remark: str = ""


def gone_all_the_same(name: str) -> bool:
    """Whether a name is found, and raises when it is used."""
    own = name.removeprefix("tensorflow.")
    return any(own.startswith(f"{one}.") for one in _GONE_ALL_THE_SAME) and name.split(".", maxsplit=1)[0] in (
        "keras",
        "tensorflow",
    )


def today(name: str, missing: str) -> Today:
    """What to write for `name`, of which `missing` is the beginning that is gone."""
    root = "tensorflow.keras" if name.startswith("tensorflow.keras.") else ""
    own, short = (name.removeprefix("tensorflow."), missing.removeprefix("tensorflow.")) if root else (name, missing)
    remark = next((said for key in _prefixes(own) if (said := REMARKS.get(key))), "")
    for key in _prefixes(own):
        if key in RENAMED and len(key) >= len(short):
            found = RENAMED[key] + own[len(key) :]
            if exists(found):
                return Today(_rooted(found, root), remark)
    found = _again(own)
    return Today(_rooted(found, root) if found else "", remark)


def _rooted(name: str, root: str) -> str:
    within = f"tensorflow.{name}"
    return within if root and name.startswith("keras.") and exists(within) else name


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 1, -1)]


def _again(name: str) -> str:
    parts = name.split(".")
    if len(parts) < 2:
        return ""
    last = parts[-1]
    if parts[0] == "tensorflow":
        old = ".".join(["tensorflow.compat.v1", *parts[1:]])
        return old if exists(old) and parts[1] != "contrib" else ""
    if parts[1] == "backend":
        for home in ("keras.ops", "keras.activations"):
            if exists(f"{home}.{last}"):
                return f"{home}.{last}"
        return ""
    family = f"{parts[0]}.{parts[1]}.{last}"
    if len(parts) > 3 and exists(family):
        return family
    return next((f"{home}.{last}" for home in _HOMES if len(parts) > 2 and exists(f"{home}.{last}")), "")
