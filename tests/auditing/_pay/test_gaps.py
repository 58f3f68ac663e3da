"""Gaps of pay: equal to hand computations, to R's laeken, and to the tests they invert."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import needs_of_r
from scipy import stats
from skewed_pay import oracle

from skdisc._stats import newcombe
from skdisc.auditing._pay._gaps import (
    ABOVE,
    BELOW,
    OPEN,
    Gaps,
    PaidPeople,
    _state_of_means,
    hours_share,
    mean_gaps,
    median_gap,
    people_to_tell,
    quarters,
    share_gap,
    share_of_women,
    states,
    turned_by_one,
)

# Three women and four men: pay, weekly hours, variable pay.
PAY = np.array([2000.0, 1500.0, 3000.0, 2500.0, 4000.0, 2000.0, 3500.0])
HOURS = np.array([40.0, 20.0, 40.0, 40.0, 40.0, 20.0, 40.0])
VARIABLE = np.array([0.0, 100.0, 300.0, 0.0, 500.0, 100.0, 200.0])
WOMAN = np.array([True] * 3 + [False] * 4)
WEIGHT = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0])


def everyone(n_women=3, n_men=4, weight=None, cluster=None):
    woman = np.r_[np.ones(n_women, bool), np.zeros(n_men, bool)]
    weight = np.ones(len(woman)) if weight is None else weight
    return PaidPeople(woman, ~woman, weight, cluster)


def lognormal(n_women, n_men, gap=0.0, seed=0, sigma=0.4):
    draw = np.random.default_rng(seed)
    pay = np.exp(draw.normal(8, sigma, n_women + n_men))
    pay[:n_women] *= 1 - gap
    return pay, everyone(n_women, n_men)


def test_gaps_of_means_by_hand():
    monthly = mean_gaps(PAY, everyone(), 0.05)
    assert monthly.averages[:, 0] == pytest.approx([6500 / 3, 3000])
    assert monthly.gap[0] == pytest.approx(1 - 6500 / 3 / 3000)
    hourly = mean_gaps(PAY / HOURS, everyone(), 0.05)  # 50, 75, 75; 62.5, 100, 100, 87.5
    assert hourly.averages[:, 0] == pytest.approx([200 / 3, 87.5])
    assert hourly.gap[0] == pytest.approx(1 - 200 / 3 / 87.5)
    weighted = mean_gaps(PAY, everyone(weight=WEIGHT), 0.05)
    assert weighted.averages[:, 0] == pytest.approx([8000 / 4, 17_500 / 6])
    assert weighted.gap[0] == pytest.approx(1 - 2000 / (17_500 / 6))


def test_gaps_of_medians_by_hand():
    assert median_gap(PAY, everyone(), 0.05).gap[0] == pytest.approx(1 - 2000 / 3000)
    hourly = median_gap(PAY / HOURS, everyone(), 0.05)
    assert hourly.gap[0] == pytest.approx(1 - 75 / 93.75)
    weighted = median_gap(PAY, everyone(weight=WEIGHT), 0.05)
    # Women 1500, 1500, 2000, 3000: 1750. Men 2000, 2000, 2500, 3500, 3500, 4000: 3000.
    assert weighted.gap[0] == pytest.approx(1 - 1750 / 3000)


def test_shares_who_receive_by_hand():
    gap = share_gap(VARIABLE > 0, everyone(), 0.05)
    assert gap.averages[:, 0] == pytest.approx([2 / 3, 3 / 4])
    assert gap.gap[0] == pytest.approx(3 / 4 - 2 / 3)
    assert [gap.low[0], gap.high[0]] == pytest.approx(newcombe(3, 4, 2, 3, 0.05))
    weighted = share_gap(VARIABLE > 0, everyone(weight=WEIGHT), 0.05)
    assert weighted.averages[:, 0] == pytest.approx([3 / 4, 5 / 6])


def test_quarters_by_hand():
    # 1500 W, 2000 W | 2000 M, 2500 M ... of 7 people the borders are at 2, 4 and 5.
    counted = quarters(PAY, everyone())
    assert counted.sum(axis=1).tolist() == [2, 2, 1, 2]
    # One of the two with 2,000 belongs below the first border; women and men share it equally.
    assert counted.sum(axis=0).tolist() == [3, 4, 0]
    assert counted[2:].tolist() == [[1, 0, 0], [0, 2, 0]]


def test_people_of_equal_pay_on_a_border_are_divided_alike():
    # 40 people, 20 of them with the same pay across the first border: 12 women and 8 men.
    pay = np.r_[np.full(5, 1.0), np.full(20, 2.0), np.arange(10, 25)]
    woman = np.r_[np.ones(5, bool), np.ones(12, bool), np.zeros(8, bool), np.zeros(15, bool)]
    counted = quarters(pay, PaidPeople(woman, ~woman, np.ones(40)))
    assert counted.tolist() == [[8, 2, 0], [6, 4, 0], [3, 7, 0], [0, 10, 0]]
    weights = quarters(pay, PaidPeople(woman, ~woman, np.full(40, 0.5)))
    assert weights[:2] == pytest.approx(np.array([[4, 1, 0], [3, 2, 0]]))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), min_size=4, max_size=60),
)
def test_quarters_have_everybody_once_and_ties_in_proportion(rows):
    pay, kind = np.array(rows, dtype=float).T
    people = PaidPeople(kind == 0, kind == 1, np.ones(len(pay)))
    counted = quarters(pay, people)
    assert (counted >= 0).all()
    assert counted.sum(axis=0).tolist() == [(kind == k).sum() for k in range(3)]
    assert np.ptp(counted.sum(axis=1)) <= 1
    exact = quarters(pay, replace(people, weight=np.full(len(pay), 0.5))) * 2
    assert np.abs(counted - exact).max() < 3  # each border moves people by less than one and a half


def test_without_ties_quarters_are_those_of_the_order():
    pay, people = lognormal(30, 34)
    order = np.argsort(pay)
    women = people.is_woman[order].reshape(4, 16).sum(axis=1)
    assert quarters(pay, people)[:, 0].tolist() == women.tolist()
    share, low, high = share_of_women(quarters(pay, people), 0.05)
    assert share == pytest.approx(women / 16)
    assert ((low < share) & (share < high)).all()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.integers(12, 60), st.floats(-0.5, 0.5))
def test_the_ends_are_gaps_that_the_test_of_means_just_does_not_reject(seed, n, gap):
    pay, people = lognormal(n, n + 10, gap, seed, sigma=0.2)
    gaps = mean_gaps(pay, people, 0.05)
    assert gaps.low[0] < gaps.gap[0] < gaps.high[0]
    for end in (gaps.low[0], gaps.high[0]):
        sides = pay[:n], pay[n:] * (1 - end)
        assert oracle(*sides, sides)[1] == pytest.approx(0.05, rel=0.02)


def test_equal_weights_change_nothing_and_a_weight_of_two_is_no_second_person():
    pay, people = lognormal(80, 90, 0.1)
    first = mean_gaps(pay, people, 0.05)
    scaled = mean_gaps(pay, replace(people, weight=np.full(170, 3.0)), 0.05)
    assert [scaled.low[0], scaled.high[0]] == pytest.approx([first.low[0], first.high[0]])
    uneven = replace(people, weight=np.tile([1.0, 3.0], 85))
    assert np.ptp([*mean_gaps(pay, uneven, 0.05).low, *first.low]) > 0.005


def test_clusters_of_equal_pay_widen_intervals():
    pay, people = lognormal(60, 60, 0.1)
    alone = mean_gaps(pay, people, 0.05)
    copied = PaidPeople(*(np.tile(x, 3) for x in (people.is_woman, people.is_man, people.weight)))
    copied = replace(copied, cluster=np.tile(np.arange(120), 3))
    for of in (mean_gaps, median_gap):
        many = of(np.tile(pay, 3), copied, 0.05)
        one = of(pay, people, 0.05)
        assert many.gap == pytest.approx(one.gap)
        assert (many.high - many.low)[0] == pytest.approx((one.high - one.low)[0], rel=0.1)
    free = mean_gaps(np.tile(pay, 3), replace(copied, cluster=None), 0.05)
    assert (free.high - free.low)[0] < 0.65 * (alone.high - alone.low)[0]


def test_strata_are_computed_as_if_they_were_alone():
    pay, people = lognormal(100, 120, 0.1)
    stratum = np.arange(220) % 3
    together = mean_gaps(pay, people, 0.05, stratum, 3)
    for k in range(3):
        one = mean_gaps(pay[stratum == k], people.only(stratum == k), 0.05)
        assert [together.gap[k], together.low[k], together.high[k]] == pytest.approx(
            [one.gap[0], one.low[0], one.high[0]]
        )


def test_hours_take_the_whole_gap_where_pay_per_hour_is_equal():
    draw = np.random.default_rng(0)
    people = everyone(200, 200)
    hours = np.where(people.is_woman, draw.choice([20, 40], 400), 40.0)
    rate = np.exp(draw.normal(3, 0.1, 400))
    rate[200:] = rate[:200]
    share, low, high = hours_share(rate * hours, rate, people, 0.05)
    assert share == pytest.approx(1)
    assert low < 1 < high
    assert np.isnan(hours_share(rate, rate, people, 0.05)).all()  # there is no gap to divide


def test_equal_hours_have_no_share_of_a_gap():
    draw = np.random.default_rng(8)
    people = everyone(150, 151)
    pay = draw.choice([3000.0, 3200.0, 3400.0], 301) * np.where(people.is_woman, 0.93, 1)
    for hours in (40, 39.7, 13):  # rounding made a gap of 7.0 % larger than one of 7.0 %
        assert np.isnan(hours_share(pay, pay / hours, people, 0.05)).all()


def test_the_error_of_the_share_of_hours_is_that_of_a_jackknife():
    draw = np.random.default_rng(1)
    people = everyone(150, 180)
    hours = np.where(people.is_woman, draw.choice([20, 40], 330), 40.0)
    rate = np.exp(draw.normal(3, 0.2, 330)) * np.where(people.is_woman, 0.93, 1)
    pay = rate * hours
    share, low, _ = hours_share(pay, rate, people, 0.05)

    def value(kept):
        woman = people.is_woman[kept]
        gaps = [1 - x[kept][woman].mean() / x[kept][~woman].mean() for x in (pay, rate)]
        return 1 - gaps[1] / gaps[0]

    assert share == pytest.approx(value(np.arange(330)))
    jack = np.array([value(np.delete(np.arange(330), i)) for i in range(330)])
    error = sum(
        (n - 1) / n * ((part - part.mean()) ** 2).sum()
        for part, n in ((jack[:150], 150), (jack[150:], 180))
    )
    assert (share - low) / stats.norm.ppf(0.975) == pytest.approx(np.sqrt(error), rel=0.03)


def test_states_follow_from_intervals_on_both_sides():
    low, high = (
        np.array([[0.06, -0.2, -0.04, 0.01, -0.06]]),
        np.array([[0.2, -0.06, 0.04, 0.2, 0.02]]),
    )
    gaps = Gaps(np.zeros((2, 5)), (low + high)[0] / 2, low[0], high[0], np.array([""] * 5))
    assert states(gaps, 0.05).tolist() == [ABOVE, ABOVE, BELOW, OPEN, OPEN]


@pytest.mark.slow
def test_so_many_people_tell_as_often_as_promised():
    pay, people = lognormal(150, 150, 0.02)
    gaps = mean_gaps(pay, people, 0.1)
    needed = people_to_tell(gaps, np.array([[150], [150]]), 0.05, 0.1)[0]
    told = 0
    for seed in range(40):
        n = round(needed / 2)
        draw = np.random.default_rng(seed + 1)
        rate = pay[:150].std() / pay[:150].mean()
        woman = draw.normal(1 - gaps.gap[0], rate * (1 - gaps.gap[0]), n)
        again = np.r_[woman, draw.normal(1, pay[150:].std() / pay[150:].mean(), n)]
        told += states(mean_gaps(again, everyone(n, n), 0.1), 0.05)[0] == (
            BELOW if abs(gaps.gap[0]) < 0.05 else ABOVE
        )
    assert 0.75 <= told / 40 <= 1


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.08, 0.12]))
def test_one_person_turns_the_state_exactly_where_brute_force_finds_one(seed, gap):
    pay, people = lognormal(25, 30, gap, seed, sigma=0.1)
    first = states(mean_gaps(pay, people, 0.05), 0.05)[0]
    each = [np.delete(np.arange(55), i) for i in range(55)]
    turning = (_state_of_means(pay[k], people.only(k), 0.05, 0.05) != first for k in each)
    brute = any(turning)
    assert _state_of_means(pay, people, 0.05, 0.05) == first
    assert turned_by_one(pay, people, 0.05, 0.05) == brute


def test_what_is_undefined_is_said():
    nobody = mean_gaps(PAY, PaidPeople(np.zeros(7, bool), np.ones(7, bool), np.ones(7)), 0.05)
    assert np.isnan(nobody.gap[0])
    assert nobody.reason[0] == "fewer than 2 people of a sex"
    one = mean_gaps(PAY[2:], everyone(1, 4), 0.05)
    assert one.gap[0] == pytest.approx(0)
    assert one.reason[0] == "fewer than 2 people of a sex"
    assert (one.low[0], one.high[0]) == (-np.inf, np.inf)
    zero = median_gap(np.zeros(7), everyone(), 0.05)
    assert zero.reason[0] == "the median of men is 0"
    pay, people = np.tile(np.linspace(900, 1100, 40), 2), everyone(40, 40)
    pay[0] = 50_000
    skewed = mean_gaps(pay, people, 0.05)
    assert skewed.reason[0].startswith("too skewed to compare means of 40 people")
    assert (skewed.low[0], skewed.high[0]) == (-np.inf, np.inf)


@pytest.mark.statistics
@pytest.mark.parametrize("of", [mean_gaps, median_gap])
@pytest.mark.parametrize(("n", "gap"), [(40, 0.0), (200, 0.05), (1500, 0.2)])
def test_intervals_cover_gaps_of_lognormal_pay(of, n, gap):
    covered, n_known = 0, 0
    for seed in range(400):
        pay, people = lognormal(n, round(1.3 * n), gap, seed)
        gaps = of(pay, people, 0.05)
        if np.isfinite(gaps.low[0]):
            n_known += 1
            covered += gaps.low[0] <= gap <= gaps.high[0]
    assert n_known > 300
    assert covered / n_known >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / n_known)


LAEKEN = """
library(laeken)
d <- read.csv("{path}")
for (method in c("mean", "median")) for (w in list(NULL, d$weight))
  cat(gpg(d$pay, gender=factor(d$sex), method=method, weights=w)$value, "\\n")
"""


@pytest.mark.slow
def test_gaps_equal_those_of_laeken(tmp_path):
    needs_of_r("laeken")
    pay, people = lognormal(211, 191, 0.1)  # laeken takes the greater of two in the middle
    weight = np.random.default_rng(0).uniform(0.5, 3, 402).round(2)
    sex = np.where(people.is_woman, "female", "male")
    lines = [f"{p!r},{s},{w}" for p, s, w in zip(pay.tolist(), sex, weight, strict=True)]
    (tmp_path / "pay.csv").write_text("\n".join(["pay,sex,weight", *lines]))
    script = LAEKEN.format(path=tmp_path / "pay.csv")
    done = subprocess.run(["Rscript", "-e", script], check=True, capture_output=True, text=True)
    theirs = [float(x) for x in done.stdout.split()]
    ours = [
        of(pay, replace(people, weight=w), 0.05).gap[0]
        for of in (mean_gaps, median_gap)
        for w in (np.ones(402), weight)
    ]
    assert ours == pytest.approx(theirs, rel=1e-6)
