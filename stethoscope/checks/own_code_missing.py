"""Code of its own that is not here.

Why: a `.keras` or `.h5` file holds the names of its author's own layers, losses and functions, not their code. Without the code of
a layer the model cannot be run, and nothing that running shows was looked at; without that of the loss it runs, but the training it
had cannot be repeated. A diagnosis that says nothing then says nothing about either.
Example: a network with a layer `GatedDense` of the author's own module; a network compiled with `loss=my_loss`.
Fix: give the Python file that defines them: `stethoscope check model.keras --code layers.py`, or “Add its code” on the page. Or call
`model.export("exported")` where the code is: a SavedModel holds the computation itself and needs none (it cannot be trained here).
For a training, another loss can be named: `--fit loss=mse`.
Limits: that the name is all there is follows from how Keras saves; a package of that name installed here would be asked first, with
its owner's consent.
Source: keras.io/guides/serialization_and_saving (custom objects); keras.io/api/models/model_saving_apis/export
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.types import MissingCode

_PRETRAINED = 'model.save_pretrained("out", saved_model=True)  # where {names} is; give out/saved_model/1'
_GIVE = 'stethoscope check model.keras --code layers.py  # the file that defines {names}\n# or, where the code is:\nmodel.export("exported")'


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    assert evidence.architecture is not None
    missing = evidence.architecture.missing
    for_running = [need for need in missing if not need.only_training]
    if for_running:
        yield _finding(
            for_running, Severity.MEDIUM, "the model was not run, and nothing that running shows was looked at"
        )
        return
    loss_named = evidence.fit is not None and evidence.fit.loss is not None
    if missing and not loss_named:
        asked = evidence.fit is not None
        without = "it was not trained here" if asked else "it runs, but training it here takes another loss"
        yield _finding(missing, Severity.MEDIUM if asked else Severity.INFO, without)


def _finding(missing: list[MissingCode] | tuple[MissingCode, ...], severity: Severity, without: str) -> Finding:
    names = ", ".join(dict.fromkeys(need.name for need in missing[:4])) + (" …" if len(missing) > 4 else "")
    theirs = missing[0].module.partition(".")[0] == "transformers"
    snippet = (_PRETRAINED if theirs else _GIVE).format(names=names)
    return Finding(
        fault=Fault.DEPLOYMENT,
        severity=severity,
        confidence=1.0,
        where=missing[0].where,
        message=f"The file names {names} and holds no code of it: {without}.",
        evidence=(
            Table(
                "What is missing", ("name", "module", "needed by"), tuple((n.name, n.module, n.where) for n in missing)
            ),
        ),
        fix=Advice(text="Give the Python file that defines it, or export the model where its code is", snippet=snippet),
    )


CHECK = Check(needs=frozenset({Evidence.ARCHITECTURE}), uses=frozenset({Evidence.FIT}), run=_run)
