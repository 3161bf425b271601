"""Prove: train the model as it is and fixed copies of it, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stethoscope.checks.findings import Proof
from stethoscope.checks.fixes import Fix, fix_from_json
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

SEEDS, TIME_S = 3, 45.0
MAX_SEEDS, MAX_FIXES = 10, 100


@dataclass(frozen=True)
class ProvedFixes:
    """What the fixes did: one proof per list of fixes, as far as there was time."""

    proofs: tuple[Proof, ...] = ()
    assumed: tuple[str, ...] = ()
    """What was assumed about the training, one sentence each."""


class Prove:
    """Judges fixes by what they do to the training of files["model"] on files["data"].

    params: {"fixes": one list of fixes (as `Fix.to_json` gives them) per finding, "seeds", "time_s", "fit", "trusted"}.
    """

    kind = "prove"
    answer = ProvedFixes

    def run(self, context: TaskContext) -> ProvedFixes:
        """Tries one list of fixes after another; the proofs so far are kept if the job is ended early.

        Raises:
            BadSetting: params["fixes"] is not a list of lists of fixes.
            BadInput, CannotRun: there is nothing to train; see `setup_from_job`.
        """
        from stethoscope.training.from_job import setup_from_job
        from stethoscope.training.gathering.proof import Prover

        lists = _fixes(context.params.get("fixes"))
        seeds = max(1, min(MAX_SEEDS, int(context.params.get("seeds", SEEDS))))
        time_s = float(context.params.get("time_s", TIME_S))
        _, setup, assumed = setup_from_job(context)
        proofs: list[Proof] = []

        def say(fraction: float, message: str) -> None:
            context.report("prove", fraction, f"fix {min(len(proofs) + 1, len(lists))} of {len(lists)}: {message}")

        prover = Prover(setup, seeds, time_s, len(lists), say)
        for fixes in lists:
            proofs.append(prover.prove(fixes))
            context.save_partial(ProvedFixes(tuple(proofs), assumed))
        return ProvedFixes(tuple(proofs), assumed)


def _fixes(value: Any) -> list[list[Fix]]:
    if not isinstance(value, list) or len(value) > MAX_FIXES or not all(isinstance(item, list) for item in value):
        raise BadSetting(f"Fixes to prove: expected a list of at most {MAX_FIXES} lists of fixes, got something else.")
    return [[fix_from_json(fix) for fix in item] for item in value]


TASK = Prove()
