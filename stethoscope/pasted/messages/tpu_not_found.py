"""No TPU was reached."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    asked = read.says("Please provide a TPU Name")
    what = (
        "No TPU is named, and the environment names none (TPU_NAME)"
        if asked
        else "The process that was to have the TPU has none"
    )
    return Cause(
        f"{what}: the runtime is without a TPU, TensorFlow is of another version than the TPU's, or the cluster was not connected before it was initialised.",
        Certainty.LIKELY,
        (
            Step(
                "On a TPU VM, and in Colab since 2023, the TPU is local.",
                'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")',
            ),
            Step(
                "Connect, then initialise, then make the strategy; before any other operation.",
                "tf.config.experimental_connect_to_cluster(resolver)\ntf.tpu.experimental.initialize_tpu_system(resolver)\nstrategy = tf.distribute.TPUStrategy(resolver)",
            ),
            Step(
                "See what is there; in Colab choose a TPU as the runtime's accelerator.",
                "print(tf.config.list_logical_devices('TPU'))",
            ),
        ),
    )


MESSAGE = Message(
    id="tpu-not-found",
    title="No TPU was reached",
    wordings=(
        Wording("'ConfigureDistributedTPU'"),
        Wording("Op ConfigureDistributedTPU"),
        Wording("Please provide a TPU Name to connect to"),
        Wording("__inference__tpu_init_fn"),
    ),
    explain=_explain,
    ways=(ways.PLAN,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/28395",
        "https://github.com/tensorflow/tensorflow/issues/35700",
        "https://github.com/tensorflow/tensorflow/issues/89797",
    ),
)
