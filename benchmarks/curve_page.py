"""The page docs/curve-accuracy.md, from scores."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.curve_scores import CurveScore, by_check, by_kind, splits, totals

PAGE = """# How often are training curves read right?

Every log comes from a real training with Keras: small networks (dense, convolutional, recurrent) on scikit-learn's bundled
and generated data, 5 to 120 epochs, written as people write them: Keras' `TensorBoard` callback (with and without batches),
`tf.summary` in a loop of one's own with the loss of every batch, `CSVLogger`, `history` as JSON, our `Recorder`. Each
faulty one has one fault that was put there on purpose; the healthy ones include noisy, early-stopped, long, resumed, tiny
batches, warm-ups, schedules and dropout. Each goes through `stethoscope curves LOG --json`, without a hint.

- **A label must be true.** Before a log is kept, a measure of its own, which shares nothing with the checks, must find the fault
  in the numbers Keras returned (`benchmarks/curve_cases/shown.py`); where a kind is relative (“the rate is too low”), a
  repaired twin is trained and must do clearly better. A healthy log must have learned, end near its best, and agree with its
  validation. What fails this is not written: a fault that left no trace in the log cannot be asked for.
- **Found**: a finding at MEDIUM or above names the fault. Several names may be true of one log (a rate that is too high makes
  the loss rise, then NaN); any of those counts, and *by its own name* counts only the fault's first name.
- **Wrong name**: a finding at MEDIUM or above on a faulty log that is neither true nor a known side effect of the fault.
- **False alarm**: any finding at MEDIUM or above on a healthy log.

Which figures are first looks, taken before a rule was changed for these logs, and which are not:

- *dev* is what the rules were developed on: no measure of how good they are elsewhere.
- *other seeds* are the dev trainings begun from other random numbers. First look: 63 of 63 faults found, and one of 35 healthy logs
  got a finding (at MEDIUM: a validation loss that leapt for two epochs was called a jump; mended since).
- *held out* has other data, other networks and other seeds. At the first look 37 of 45 faults were found (82 %), two logs got a
  wrong name too, and none of 31 healthy logs got a finding. Three of the missed labels were then withdrawn, because their logs
  could not show the fault; one was widened, because its loss does diverge; and the two wrong names told of pauses that the busy
  machine had really made. That is 38 of 42 (90 %). What was missed was then told to whoever writes the rules, first in general
  words, later with the logs themselves. The figures of this split below are what the rules reach on logs that helped to make them.
- *fresh* has data and networks that no other split has. It was trained and scored once, after the rules were last changed: 22 of 23
  faults found (96 %), and one of 21 healthy logs got a finding. Before that change the rules found 18 of these 23, with no finding
  on a healthy log. Nothing was changed for what it showed: a steady fall too noisy to be sure of is missed, and 112 rows with
  dropout, whose losses flicker by a tenth from epoch to epoch, are said to swing.

All cases follow one list of kinds, and whoever last changed the rules wrote the fresh ones: other people's logs may well be
harder. A training that depends on how busy the machine is may fail its proof and be left out, so the number of logs can vary by
a few. Intervals are 95 % (Wilson).

Run it: `python -m benchmarks.labelled_curves --cases FOLDER` (`--split dev|other_seeds|held_out|fresh|all|every`; training takes
about half an hour on one core, twice that for `every`, and is done once per folder; `tensorboard` must be installed, `tf.summary` needs it).

Not told apart here: whether the number of epochs was chosen well, and a fault that another kind of log would show but this one
does not hold (an early end of a schedule is invisible in a table without the rate).

"""


def markdown(scores: Sequence[CurveScore]) -> str:
    """The whole page."""
    parts = splits(scores)
    rows = [
        PAGE.rstrip("\n"),
        "",
        "| logs | faults found | by its own name | with a wrong name too | false alarms on healthy | at HIGH | seconds, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, some in parts.items():
        row = totals(some)
        rows.append(
            f"| {name.replace('_', ' ')} | {row['found']} of {row['faulty']} ({row['recall']:.0%}; "
            f"{_span(row['recall_interval'])}) | {row['exact']} | {row['with_wrong_names']} | {row['false_alarms']} of "
            f"{row['healthy']} ({row['false_alarm_fraction']:.0%}; {_span(row['false_alarm_interval'])}) | "
            f"{row['false_alarms_high']} | {row['seconds_median']:.1f} |"
        )
    rows += ["", "## By kind of fault", "", "Logs of that kind: found / by its own name / all.", ""]
    rows += [f"| kind | {' | '.join(name.replace('_', ' ') for name in parts)} |", f"|---|{'---|' * len(parts)}"]
    tables = [by_kind(some) for some in parts.values()]
    for kind in dict.fromkeys(kind for table in tables for kind in table):
        cells = [
            f"{table[kind]['found']} / {table[kind]['exact']} / {table[kind]['logs']}" if kind in table else "–"
            for table in tables
        ]
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    rows += [
        "",
        "## By check",
        "",
        "Logs on which a check spoke at MEDIUM or above.",
        "",
        "| check | right | side effect | wrong | on healthy |",
        "|---|---|---|---|---|",
    ]
    for check, row in by_check(scores).items():
        cells = (check, row["right"], row["neutral"], ", ".join(row["wrong"]), ", ".join(row["healthy"]))
        rows.append(f"| {' | '.join(str(cell) if cell != '' else 'none' for cell in cells)} |")
    rows += [
        "",
        "## Every log",
        "",
        "| log | what was done | true names | named at MEDIUM or above | found |",
        "|---|---|---|---|---|",
    ]
    rows += [_row(one) for one in scores]
    return "\n".join(rows) + "\n"


def _row(one: CurveScore) -> str:
    true = ", ".join([one.kind, *sorted(one.accepted - {one.kind})]) if one.kind else "healthy"
    named = ", ".join(f"*{check}*" if check in one.wrong else check for check in one.named) or "nothing"
    verdict = ("yes" if one.found else "**no**") if one.kind else ("**alarm**" if one.wrong else "silent")
    return f"| {one.id} | {one.title} | {true} | {named} | {verdict} |"


def _span(interval: Sequence[float]) -> str:
    return f"{interval[0]:.0%} to {interval[1]:.0%}"
