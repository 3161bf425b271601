"""The digits classifier as a frozen graph, the way TensorFlow 1 deployed models."""

from __future__ import annotations

from pathlib import Path

from sample_models import digits
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    model = digits.trained(folder)
    signature = [tf.TensorSpec((None, 8, 8, 1), tf.float32, name="image")]
    function = tf.function(
        lambda image: tf.identity(model(image, training=False), name="digit"), input_signature=signature
    )
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=False)
    definition = frozen.graph.as_graph_def()
    definition = tf.compat.v1.graph_util.extract_sub_graph(definition, ["digit"])
    file = folder / "digits_cnn_frozen.pb"
    file.write_bytes(definition.SerializeToString(deterministic=True))
    return file


RECIPE = Recipe(
    id="digits_cnn_frozen",
    title="Handwritten digits (frozen graph)",
    behaviour="A graph with its weights baked in as constants and no Keras layers left.",
    description="The handwritten digits classifier as a frozen TensorFlow graph, the form that TensorFlow 1 deployed. Its input "
    "is the placeholder image, its result the operator digit.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=21,
    data=digits.DATA,
    expectations={"consistent": True},
    measure=digits.frozen_accuracy,
)
