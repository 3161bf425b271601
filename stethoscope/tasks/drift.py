"""Compare data of today with data of then: features, whole rows, a model's view of them, groups, and time."""

from __future__ import annotations

from stethoscope.data import open_data
from stethoscope.drift.reading import Side, read_side
from stethoscope.drift.report import DriftReport
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.study import study
from stethoscope.errors import BadInput
from stethoscope.task import TaskContext


class DriftTask:
    """Files: "reference", "current" (without it the reference is a log that is divided by time), optionally "model".

    params: those of `DriftSettings`, all optional, and "data_options", "preparation" (of what the model gets), "trusted".
    """

    kind = "drift"
    answer = DriftReport

    def run(self, context: TaskContext) -> DriftReport:
        """Reads both sides and compares them.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `DataReader.open`.
            BadInput: nothing that could be compared, or data that does not fit the model.
            BadSetting: a setting that makes no sense.
        """
        settings = DriftSettings.from_json(context.params)
        reference = _side(context, "reference", settings)
        current = _side(context, "current", settings) if "current" in context.files else None
        views = None
        if "model" in context.files:
            from stethoscope.drift.model_views import views_of

            if current is None:
                raise BadInput("With a model two files are needed: give the current data as the second one.")
            views = views_of(context, settings.layer, settings.rows)
        return study(reference, current, settings, context.report, views)


def _side(context: TaskContext, role: str, settings: DriftSettings) -> Side:
    file = context.files[role]
    context.report("read", message=f"opening {file.name}")
    options = context.params.get("data_options") or {}
    with open_data(file, context.budget.memory_bytes, options) as data:
        return read_side(data, file.name, settings, lambda done, text: context.report("read", done, text))


TASK = DriftTask()
