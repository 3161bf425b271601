"""Streams as outsiders bring them: heavy tails, ties, zeros, rare and new levels, gaps, copies, texts, pictures, logs, as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Generator = np.random.Generator
Made = Callable[[Generator, int, float], dict[str, Any]]


@dataclass(frozen=True)
class OddStream:
    """`made` draws one side of so many rows, drifted by a size (0 for not); `suffix` says as which kind of file it is written."""

    id: str
    rows: tuple[int, int]
    sizes: tuple[float, float, float]
    made: Made
    suffix: str = ".csv"


def write(table: dict[str, Any], path: Path) -> None:
    """Columns as the kind of file that the path's suffix names; None is a gap."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.suffix == ".npz":
        np.savez(path, **table)
    elif path.suffix == ".jsonl":
        lists = {name: list(values) for name, values in table.items()}
        rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
        path.write_text("\n".join(json.dumps(row, default=lambda one: one.item()) for row in rows))
    else:
        made = pa.table({name: pa.array(values, from_pandas=True) for name, values in table.items()})
        (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(made, path)


def _columns(count: int, one: Callable[[Generator, int, float], Any]) -> Made:
    return lambda generator, rows, size: {f"c{at}": one(generator, rows, size) for at in range(count)}


def _levels(shares: Callable[[float], Any]) -> Callable[[Generator, int, float], Any]:
    def made(generator: Generator, rows: int, size: float) -> Any:
        found = np.asarray(shares(size), float)
        return np.array([f"level {at}" for at in range(len(found))])[
            generator.choice(len(found), rows, p=found / found.sum())
        ]

    return made


def _near_constant(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    odd = {f"c{at}": np.where(generator.random(rows) < 0.02 + size, 1.0, 7.25) for at in range(3)}
    return odd | {"same": np.full(rows, 3.0), "word": np.full(rows, "x")}


def _copies(noise: float) -> Made:
    def made(generator: Generator, rows: int, size: float) -> dict[str, Any]:
        common = generator.normal(size, 1, rows)
        return {f"c{at}": common * (1 + at) + noise * (1 + at) * generator.normal(size=rows) for at in range(30)}

    return made


def _gaps(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    def one(share: float) -> Any:
        return np.where(generator.random(rows) < share, np.nan, generator.normal(size, 1, rows))

    return {"half": one(0.5), "tenth": one(0.1), "few": one(0.01), "whole": one(0.0), "none": np.full(rows, np.nan)}


def _mixed(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    return {
        "amount": generator.lognormal(size, 1, rows).round(2),
        "age": generator.integers(18, 90, rows).astype(float) + 20 * size,
        "kind": _levels(lambda by: [0.5 - by / 4, 0.3, 0.15 + by / 4, 0.05])(generator, rows, size),
        "member": generator.random(rows) < 0.3 + size / 3,
        "day": np.datetime64("2024-01-01", "s") + generator.integers(0, 10**7, rows),
        "id": generator.permutation(rows) + 10**6,
        "gap": np.where(generator.random(rows) < 0.05, np.nan, generator.normal(size, 1, rows)),
    }


_WORDS = np.array([f"{first}{second}{end}" for first in "bdfglmnprst" for second in "aeiou" for end in "nrskt"])


def _texts(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    chances = 1.0 / (np.arange(len(_WORDS)) + 5.0)
    moved = np.roll(chances, len(_WORDS) // 2)
    chances = (1 - size) * chances / chances.sum() + size * moved / moved.sum()
    counts = generator.poisson(15, rows) + 3
    return {"comment": [" ".join(generator.choice(_WORDS, count, p=chances)) for count in counts]}


def _tokens(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    counts = generator.poisson(12 * (1 + size), rows) + 2
    return {"tokens": [[int(one) for one in generator.zipf(1.6, count).clip(0, 500)] for count in counts]}


def _pictures(kind: str) -> Made:
    def made(generator: Generator, rows: int, size: float) -> dict[str, Any]:
        light = generator.normal(0.5, 0.15, (rows, 1, 1, 1)) + 0.15 * size
        coarse = generator.normal(0, 0.1, (rows, 7, 7, 3)).repeat(4, axis=1).repeat(4, axis=2)
        pixels = np.clip(light + coarse + generator.normal(0, 0.05, (rows, 28, 28, 3)), 0, 1)
        shown = (pixels * 255).astype(np.uint8) if kind == "uint8" else pixels.astype(np.float32)
        return {"x": shown, "y": generator.choice(10, rows, p=np.r_[0.55, np.full(9, 0.05)])}

    return made


def _log(generator: Generator, rows: int, size: float) -> dict[str, Any]:
    """Labels of the last third have not arrived; one class has 3 % of the rows."""
    truth = (generator.random(rows) < 0.03 + size / 4).astype(float)
    said = np.where(generator.random(rows) < 0.1 + size / 2, 1 - truth, truth)
    late = np.arange(rows) > 2 * rows // 3
    return {
        "when": np.datetime64("2024-03-01", "s") + np.arange(rows) * 60,
        "prediction": np.array(["good", "bad"])[said.astype(int)],
        "confidence": generator.beta(8 * (1 - size), 2, rows).round(3),
        "label": np.where(late, None, np.array(["good", "bad"])[truth.astype(int)]),
    }


def _zero_inflated(generator: Generator, rows: int, size: float) -> Any:
    return np.where(generator.random(rows) < 0.8 - size, 0.0, generator.gamma(0.7, 30, rows).round(2))


def _codes(generator: Generator, rows: int, size: float) -> Any:
    return 20_240_101.0 + generator.choice(4, rows, p=[0.4 - size, 0.3, 0.2, 0.1 + size])


_ZIPF = 1.0 / np.arange(1, 301)

STREAMS = (
    OddStream("heavy tails", (300, 300), (0.3, 0.6, 1.0), _columns(5, lambda g, n, by: g.standard_t(1.5, n) + by)),
    OddStream("skewed", (300, 300), (0.1, 0.25, 0.5), _columns(5, lambda g, n, by: g.lognormal(by, 1.5, n))),
    OddStream(
        "counts with ties", (300, 300), (0.1, 0.2, 0.4), _columns(5, lambda g, n, by: g.poisson(2 * (1 + by), n))
    ),
    OddStream("mostly zeros", (300, 300), (0.05, 0.1, 0.2), _columns(5, _zero_inflated)),
    OddStream("codes as numbers", (300, 300), (0.05, 0.1, 0.2), _columns(3, _codes)),
    OddStream("nearly constant", (300, 300), (0.02, 0.05, 0.1), _near_constant),
    OddStream("300 levels", (300, 300), (0.1, 0.25, 0.5), _columns(3, _levels(lambda by: _ZIPF ** (1 - by)))),
    OddStream("rare levels", (300, 300), (0.01, 0.03, 0.06), _columns(3, _levels(lambda by: [97, 1 + 100 * by, 1, 1]))),
    OddStream("a new level", (300, 300), (0.01, 0.03, 0.06), _columns(3, _levels(lambda by: [0.6, 0.4 - by, by]))),
    OddStream("yes and no", (300, 300), (0.05, 0.1, 0.2), _columns(3, lambda g, n, by: g.random(n) < 0.3 + by)),
    OddStream("gaps", (300, 300), (0.15, 0.3, 0.6), _gaps, ".parquet"),
    OddStream("30 copies", (300, 300), (0.1, 0.2, 0.3), _copies(0.0)),
    OddStream("30 near copies", (300, 300), (0.1, 0.2, 0.3), _copies(0.3)),
    OddStream("1 column", (300, 300), (0.1, 0.2, 0.3), _columns(1, lambda g, n, by: g.normal(by, 1, n))),
    OddStream(
        "1 column of words",
        (300, 300),
        (0.05, 0.1, 0.15),
        _columns(1, _levels(lambda by: [40 - 100 * by, 30, 20, 10 + 100 * by])),
    ),
    OddStream(
        "1 column with gaps",
        (300, 300),
        (0.15, 0.25, 0.35),
        _columns(1, lambda g, n, by: np.where(g.random(n) < 0.2, np.nan, g.normal(by, 1, n))),
    ),
    OddStream(
        "500 columns", (100, 100), (0.05, 0.1, 0.2), _columns(500, lambda g, n, by: g.normal(by, 1, n)), ".parquet"
    ),
    OddStream("20 rows", (20, 20), (0.4, 0.8, 1.2), _columns(4, lambda g, n, by: g.normal(by, 1, n))),
    OddStream(
        "10,000 against 50", (10_000, 50), (0.2, 0.4, 0.6), _columns(4, lambda g, n, by: g.normal(by, 1, n)), ".parquet"
    ),
    OddStream("everything mixed", (300, 300), (0.1, 0.2, 0.4), _mixed),
    OddStream("everything mixed, 2,000 rows", (2_000, 2_000), (0.05, 0.1, 0.2), _mixed, ".parquet"),
    OddStream("texts", (300, 300), (0.1, 0.2, 0.4), _texts, ".jsonl"),
    OddStream("tokens", (300, 300), (0.05, 0.1, 0.2), _tokens, ".jsonl"),
    OddStream("pictures, uint8", (150, 150), (0.2, 0.4, 0.6), _pictures("uint8"), ".npz"),
    OddStream("pictures, float", (150, 150), (0.2, 0.4, 0.6), _pictures("float"), ".npz"),
    OddStream("log of predictions", (600, 600), (0.05, 0.1, 0.2), _log),
)
