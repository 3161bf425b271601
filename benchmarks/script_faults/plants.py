"""Faults that people make, each planted into a copy of one sound script: what is replaced by what, and the line that is wrong.

Kinds from Humbatova et al. (ICSE 2020), NeuraLint (TOSEM 2021), UMLAUT (CHI 2021), TheDeepChecker (TOSEM 2023), the migration guides of
TensorFlow 2 and Keras 3, and questions on Stack Overflow. They were scored in two halves when the rules had been written, and all have been mended on since.
"""

from __future__ import annotations

from benchmarks.script_faults import of_data, of_models, of_programs
from benchmarks.script_faults.plant import Plant

PLANTS: tuple[Plant, ...] = (*of_models.PLANTS, *of_programs.PLANTS, *of_data.PLANTS)
