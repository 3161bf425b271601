"""How often `compare` names the layer and the cause of faults that people have met, in networks that no rule was made with.

    python -m benchmarks.met_divergences developed|held_back|clean [--seed N] [--formats N]

The faults and networks were written before any was scored. `developed` may be looked at while rules change; `held_back` is run once; `clean` are the
networks without a fault, which must raise nothing.
A row of JSON to stderr for each pair, the whole to stdout.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.divergence_scores import scored, summary
from benchmarks.met_changes import Met
from benchmarks.met_faults import DEVELOPED, HELD_BACK
from benchmarks.met_networks import NETWORKS, built
from benchmarks.unmet_divergences import answers, write
from benchmarks.unmet_faults import answer, faulty

FORMS = ("onnx", "tflite", "saved_model", "keras")
HALVES = {"developed": DEVELOPED, "held_back": HELD_BACK}
_RECURRENT = ("line", "speaker")
"""Networks that TensorFlow's TFLite converter takes with a fixed number of rows only."""
_MOVED = 1e-3
"""Of the answers: what a fault moves them by at least; less is within what precision may make."""


def rows(half: Sequence[Met], seed: int, formats: int, only: str = "") -> Iterator[dict[str, Any]]:
    """A row for each fault in each of the formats that take turns; the right model is a .keras file."""
    import keras

    with tempfile.TemporaryDirectory() as folder:
        for number, met in enumerate(half):
            if only not in f"{met.network} {met.fault.kind}":
                continue
            place = Path(folder) / str(number)
            place.mkdir()
            random = np.random.default_rng([seed, number])
            model, fed = built(met.network, random, keras)
            wrong = faulty(model, met.fault, met.layer, random, keras)
            np.savez(place / "rows.npz", **fed)
            right = write(model, "keras", place / "right", fed)
            before, after = answer(model, fed)[0], answer(wrong, fed)[0]
            moved = float(np.linalg.norm(after - before) / np.linalg.norm(before))
            for form in _forms(met, number, formats):
                row = {
                    "network": met.network,
                    "first": "keras",
                    "other": form,
                    "plant": met.fault.kind,
                    "layer": met.layer,
                    "moved": moved,
                }
                if moved < _MOVED:
                    sys.stderr.write(f"does not move the answers: {json.dumps(row)}\n")
                    continue
                try:
                    other = write(wrong, form, place / form, fed)
                except Exception as error:  # noqa: BLE001 - the other tool's converter, not what is measured
                    sys.stderr.write(f"not written: {met.network} {met.fault.kind} {form}: {error!r}"[:300] + "\n")
                    continue
                row |= scored(met.layer, met.fault.causes, answers(right, other, place / "rows.npz"))
                sys.stderr.write(f"{json.dumps(row)}\n")
                yield row


def clean(seed: int, formats: int, only: str = "") -> Iterator[dict[str, Any]]:
    """A row for each network in each format, "alarm" where it is called different or a layer is blamed."""
    import keras

    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(NETWORKS):
            if only not in name:
                continue
            place = Path(folder) / name
            place.mkdir()
            model, fed = built(name, np.random.default_rng([seed, number]), keras)
            np.savez(place / "rows.npz", **fed)
            right = write(model, "keras", place / "right", fed)
            for form in FORMS[: min(formats, 3)]:
                if form == "tflite" and name in _RECURRENT:
                    continue
                value = answers(right, write(model, form, place / form, fed), place / "rows.npz")
                alarm = value["first_divergence"] is not None or value["verdict"] in ("different", None)
                row = {"network": name, "other": form, "verdict": value["verdict"], "alarm": alarm}
                sys.stderr.write(f"{json.dumps(row)}\n")
                yield row


def _forms(met: Met, number: int, formats: int) -> list[str]:
    """Formats that can hold the fault, another one first for each number."""
    turns = [FORMS[(number + at) % len(FORMS)] for at in range(len(FORMS))]
    recurrent = met.network in _RECURRENT
    return [
        one
        for one in turns
        if not (one == "keras" and met.fault.call is not None)
        and not (one in ("onnx", "tflite") and met.fault.random)
        and not (one == "tflite" and recurrent)
    ][:formats]


def main() -> None:
    """Prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", choices=(*HALVES, "clean"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", type=int, default=2, help="formats of each fault")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    if asked.half == "clean":
        found = list(clean(asked.seed, asked.formats, asked.only))
    else:
        found = list(rows(HALVES[asked.half], asked.seed, asked.formats, asked.only))
    json.dump({"seed": asked.seed, "summary": summary(found), "rows": found}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
