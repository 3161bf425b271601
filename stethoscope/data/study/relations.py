"""How columns of numbers go together: rank correlations with each other and with the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.reservoir import Reservoir

MAX_COLUMNS = 60
ROWS = 5_000


@dataclass(frozen=True)
class Relations:
    """Spearman's rank correlation of every two columns; None for a constant one."""

    names: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]


class RelationStudy:
    """Keeps a sample of whole rows of number columns."""

    def __init__(self, names: list[str]) -> None:
        self.names = names[:MAX_COLUMNS]
        self._rows = Reservoir(ROWS)

    def add(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """More rows; every column of `names` as an array of one number a row."""
        if len(self.names) > 1:
            self._rows.add(np.stack([np.asarray(columns[name], np.float64) for name in self.names], axis=1))

    def result(self) -> Relations | None:
        """Correlations over rows without missing values; None where there are too few rows.

        Source: Spearman (1904); ties get their mean rank.
        """
        rows = self._rows.values
        if rows.ndim != 2 or len(rows) < 3:
            return None
        from scipy.stats import rankdata

        good = np.isfinite(rows)
        count = rows.shape[1]
        matrix: list[list[float | None]] = [[None] * count for _ in range(count)]
        for one in range(count):
            for other in range(one, count):
                both = good[:, one] & good[:, other]
                left, right = rows[both, one], rows[both, other]
                if len(left) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
                    continue
                value = 1.0 if one == other else float(np.corrcoef(rankdata(left), rankdata(right))[0, 1])
                matrix[one][other] = matrix[other][one] = value
        return Relations(tuple(self.names), tuple(tuple(row) for row in matrix))
