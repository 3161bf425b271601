"""Statistics against scipy's where it has the same, and p-values against how often they are that small."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.drift.corrections import holm, tail
from stethoscope.drift.settings import psi, psi_by_chance, wasserstein
from stethoscope.drift.two_samples import Ordered, anderson_darling, kolmogorov_smirnov, same_mix
from tests.frameworks import stats


def samples(seed, first=60, second=90, shift=0.3, digits=9):
    generator = np.random.default_rng(seed)
    return generator.normal(size=first).round(digits), generator.normal(shift, 1, second).round(digits)


@pytest.mark.parametrize(("rows", "method"), [(200, "exact"), (201, "asymp")])
@pytest.mark.parametrize("digits", [9, 0])
def test_kolmogorov_smirnov_is_exact_on_few_rows(rows, method, digits):
    first, second = samples(1, 60, rows, digits=digits)
    assert kolmogorov_smirnov(first, second).p_value == stats.ks_2samp(first, second, method=method).pvalue
    assert kolmogorov_smirnov(first, second[:0]).p_value == 1.0


@pytest.mark.parametrize("digits", [9, 1, 0])
def test_anderson_darling_agrees_with_permuting(digits):
    """Scipy's statistic is an affine function of ours: the p-values of its permutations are those of ours."""
    first, second = samples(4, shift=0.35, digits=digits)
    mine = anderson_darling(Ordered.of(first, second)).p_value
    method = stats.PermutationMethod(n_resamples=1_999, rng=np.random.default_rng(0))
    other = stats.anderson_ksamp([first, second], variant="right", method=method).pvalue
    assert mine == pytest.approx(other, rel=0.25, abs=0.01)


def test_the_tail_is_that_of_chi_squared():
    for value in (1.0, 5.0, 20.0, 60.0):
        assert tail(value, np.ones(4)) == pytest.approx(stats.chi2.sf(value, 4), rel=0.02)
        assert tail(value, np.ones(1)) == pytest.approx(stats.chi2.sf(value, 1), rel=0.1)
    # Table 1 of Scholz and Stephens: the limit for two samples.
    weights = 1 / (np.arange(1, 200) * np.arange(2, 201.0))
    for value, expected in ((1.933, 0.10), (2.492, 0.05), (3.857, 0.01)):
        assert tail(value, weights) == pytest.approx(expected, rel=0.07)


@pytest.mark.parametrize(("rows", "values"), [((40, 40), None), ((30, 300), 5), ((12, 60), None), ((25, 25), 3)])
def test_small_p_values_are_as_rare_as_they_say(rows, values):
    generator = np.random.default_rng(7)
    found = []
    for _ in range(150 if min(rows) < 20 else 600):
        first, second = (generator.normal(size=size) for size in rows)
        if values:
            first, second = np.rint(first * values / 4), np.rint(second * values / 4)
        found.append(anderson_darling(Ordered.of(first, second)).p_value)
    share = np.mean(np.array(found) <= 0.05)
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))


def test_mixes_are_scipys():
    table = np.array([[30, 50, 20], [45, 35, 20]])
    mine, other = same_mix(*table), stats.chi2_contingency(table, correction=False)
    assert (mine.test, mine.statistic) == ("chi_squared", pytest.approx(other.statistic))
    assert mine.p_value == pytest.approx(other.pvalue)
    small = np.array([[8, 2], [1, 5]])
    assert same_mix(*small).p_value == pytest.approx(stats.fisher_exact(small).pvalue)


def test_small_counts_are_permuted_and_rare_ones_joined():
    few = same_mix(np.array([5, 1, 0]), np.array([0, 2, 6]))
    assert few.test == "chi_squared_permuted" and few.p_value < 0.02
    # Thousands of rows, one value seen twice: the others decide.
    rare = same_mix(np.array([2000, 1900, 2]), np.array([1600, 2300, 0]))
    assert rare.test == "chi_squared" and rare.p_value < 1e-6
    assert same_mix(np.array([5, 0]), np.array([7, 0])).p_value == 1.0


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert not len(holm([]))


def test_effects():
    first, second = samples(2, 500, 400, 0.5)
    assert wasserstein(first, second) == pytest.approx(stats.wasserstein_distance(first, second) / first.std())
    counts = np.array([40, 60]), np.array([60, 40])
    assert psi(*counts) == pytest.approx(2 * 0.2 * np.log(1.5))
    assert psi(counts[0], counts[0]) == 0


def test_psi_by_chance_is_what_chance_gives():
    generator = np.random.default_rng(0)
    found = [psi(*(generator.multinomial(500, [0.1] * 10) for _ in range(2))) for _ in range(200)]
    assert np.mean(found) == pytest.approx(psi_by_chance(10, 500, 500), rel=0.1)
