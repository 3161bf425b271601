"""What is known of the reference before anything is compared: its columns, and whether the model in view takes it."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard import asking, render
from dashboard.data import data_jobs
from dashboard.data.data_use import DataUse
from dashboard.session import View
from stethoscope.codec import answer_of
from stethoscope.evidence.data_fit.report import DataFit
from stethoscope.tasks.read_data import RowsRead
from stethoscope.types import Architecture, Budget, Job


@dataclass(frozen=True)
class Known:
    """The reference as its file says. Names are hostile."""

    columns: tuple[str, ...]
    rows: int
    fits: bool
    """Whether the model in view takes it."""
    why_not: str = ""
    """Why it does not: one of the reasons, from the worker."""


def known(view: View, architecture: Architecture | None, reference: DataUse) -> Known | None:
    """Asks a job that executes nothing; None while it is under way, or after drawing how it ended instead.

    Args:
        view: who asks, about which model.
        architecture: of the model in view, if it can be run.
        reference: with the steps that prepare it.
    """
    if architecture is None or view.entry is None:
        state = data_jobs.asked(job := data_jobs.reading(reference.entry, _first_row(reference)), reference.entry, view)
        read = data_jobs.answer(state, job, RowsRead, reference.entry, view, height=120)
        if read is None:
            return None
        return Known(tuple(one.name for one in read.about.fields), read.about.rows, fits=False)
    job = Job(
        "fit_data",
        {"model": view.entry.file, "data": reference.file},
        reference.params(),
        Budget(data_jobs.MEMORY_BYTES, data_jobs.TIME_S),
    )
    result = asking.answer(job, view, reference.name, slot="drift-fit")
    if result is None:
        return None
    fit = answer_of(result, DataFit)
    wrong = [problem.sentence for side in fit.inputs for problem in side.problems]
    why = fit.broken.sentence if fit.broken else wrong[0] if wrong else ""
    return Known(tuple(field.name for field in fit.about.fields), fit.about.rows, not why, why)


def _first_row(reference: DataUse) -> dict[str, object]:
    return {"count": 1, "data_options": reference.options}


def prepare_link(reference_id: str, label: str) -> None:
    """The way to the page that changes how the data is prepared for the model."""
    render.go_to("data", label, width="content", data=reference_id, tab="fit")
