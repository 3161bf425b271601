"""Cards that do not reach each other."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "NCCL, which sums gradients over the cards, failed: the cards or hosts do not reach each other as it expects (shared memory of a container, InfiniBand that is not allowed, a driver, a firewall).",
        Certainty.LIKELY,
        (
            Step("Let it say why; the lines that begin with NCCL WARN tell.", "NCCL_DEBUG=INFO python train.py"),
            Step("In a container: more shared memory.", "docker run --shm-size=1g --ulimit memlock=-1 …"),
            Step(
                "Sum by way of the host for now; slower, and it shows whether the rest is sound.",
                "strategy = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
            ),
        ),
    )


MESSAGE = Message(
    id="nccl-failed",
    title="Cards that do not reach each other",
    wordings=(
        Wording("NCCL: ", r"NCCL: (?P<what>[^\n(]{1,120})"),
        Wording("unhandled system error", beside="nccl"),
        Wording("unhandled cuda error", beside="NCCL"),
        Wording("Op type not registered 'NcclAllReduce'"),
    ),
    explain=_explain,
    ways=(ways.PLAN,),
    sources=("https://github.com/tensorflow/tensorflow/issues/51760", "https://github.com/alibaba/FastNN/issues/15"),
)
