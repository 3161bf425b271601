"""Another host or service was not reached."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("Could not start gRPC server"):
        return Cause(
            "The server of this task did not start: its port is in use (an earlier run is still alive) or the address of the cluster is not one of this machine's own.",
            Certainty.LIKELY,
            (
                Step("See who holds the port, and end it.", "ss -ltnp | grep 2222"),
                Step(
                    "Each task names itself by its own address and index.",
                    'TF_CONFIG=\'{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}\'',
                ),
            ),
        )
    tpu = (
        " A TPU's host reads nothing of the notebook's disk and ends when its memory is full; a data set with py_function or from_generator does not run there."
        if read.says("TPU", "tpu", "colab", "function_node")
        else ""
    )
    return Cause(
        f"The program lost, or never reached, another process it works with (a worker, a parameter server, the host of a TPU): it is not up, has ended or was restarted, or the address, port or firewall is wrong.{tpu}",
        Certainty.POSSIBLE,
        (
            Step("See whether it is up and heard.", "nc -vz host 2222"),
            Step("Read its own log: what ended it stands there, often memory."),
            Step(
                "Hosted notebooks: restart the runtime; data for a TPU from a bucket, or in memory.",
                "dataset = tf.data.TFRecordDataset('gs://bucket/rows.tfrecord')",
            ),
        ),
    )


MESSAGE = Message(
    id="host-not-reached",
    title="Another host or service was not reached",
    wordings=(
        Wording("failed to connect to all addresses"),
        Wording("Failed to pick subchannel"),
        Wording("Could not start gRPC server"),
        Wording("Deadline Exceeded"),
        Wording("DEADLINE_EXCEEDED"),
        Wording("Socket closed", beside="Unavailable"),
        Wording("Possibly, this worker just restarted"),
    ),
    explain=_explain,
    ways=(ways.PLAN,),
    sources=(
        "https://github.com/googlecolab/colabtools/issues/1886",
        "https://github.com/tensorflow/tensorflow/issues/43790",
        "https://github.com/tensorflow/tensorflow/issues/63832",
        "https://github.com/tensorflow/tensorflow/issues/27562",
    ),
)
