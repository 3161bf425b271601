"""Peak memory and time of training over batch sizes, and what checkpointing, precision, optimizer and accumulation change: each a real `fit` in a process of its own."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.codec import decode
from stethoscope.errors import BadSetting
from stethoscope.memory.configure import settings_of
from stethoscope.memory.fit_changes import CHANGE_KINDS
from stethoscope.memory.one_process import LARGEST_ROWS
from stethoscope.memory.training_points import TrainingSwept
from stethoscope.memory.training_sweep import KeptTraining, begun, gone_on
from stethoscope.task import InNewProcess, TaskContext
from stethoscope.tasks.sweep import BATCH_SIZES, ascending


class SweepTraining:
    """Trains at each batch size, says where the largest that fits lies, then tries what would lower the peak.

    params: {"settings", "fit" (as for `train`), "batch_sizes", "sizes" (of open dimensions), "changes" (kinds to try; [] for
    none), "compare" (false: leave `predict` out), "largest" (false: look for no largest batch), "check", "seed", "trusted"}; files: "model", and "data" where there is some.
    """

    kind = "sweep_training"
    answer = TrainingSwept

    def run(self, context: TaskContext) -> TrainingSwept | InNewProcess:
        """The part of it that this process does."""
        batch_sizes = ascending(context.params.get("batch_sizes") or BATCH_SIZES, "Batch sizes")
        sizes = ascending(context.params.get("sizes") or (), "Sizes")
        unknown = set(context.params.get("changes") or ()) - set(CHANGE_KINDS)
        if unknown:
            raise BadSetting(f"Changes: expected some of {', '.join(CHANGE_KINDS)}, got {min(unknown)!r}.")
        settings = replace(settings_of(context), allocator="pool", call="function", batch_size=LARGEST_ROWS)
        if context.before is None:
            return begun(context, replace(settings, allocator="system"), batch_sizes, sizes)
        kept = decode(KeptTraining, context.before.state).settled(context.before, context.budget.memory_bytes)
        return gone_on(context, settings, kept)


TASK = SweepTraining()
