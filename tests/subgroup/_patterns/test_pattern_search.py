"""The exact searches for patterns against brute force, the definitions, and published figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pattern_models import SETS, every_pattern, joint_probability, random_model
from scipy.optimize import minimize_scalar

from skdisc.subgroup._patterns._branch_and_bound import Branching
from skdisc.subgroup._patterns._meet_in_the_middle import Meeting
from skdisc.subgroup._patterns._naive_bayes import NaiveBayes, n_patterns


def distance(nb, x, y, delta):
    """Return the least KL divergence to a distribution that discriminates by at most delta."""
    inside, context = joint_probability(nb, x + y), joint_probability(nb, y)

    def gap(moved):
        q, r = inside[1] + moved, context[1] + moved
        return q / inside.sum() - r / context.sum()

    def kl(moved):
        q = inside + np.array([-moved, moved])
        return float((inside * np.log(inside / q)).sum())

    if abs(gap(0.0)) <= delta:
        return 0.0
    ends = -inside[1] * (1 - 1e-12), inside[0] * (1 - 1e-12)
    penalised = lambda m: kl(m) + 1e6 * max(abs(gap(m)) - delta, 0)  # noqa: E731
    return minimize_scalar(penalised, bounds=ends, options={"xatol": 1e-13}, method="bounded").fun


sizes = st.lists(st.integers(2, 3), min_size=2, max_size=5)
models = st.builds(random_model, sizes, st.integers(1, 2), st.integers(0, 999))


@given(nb=models, delta=st.sampled_from([0.0, 0.01, 0.1, 0.3]), k=st.sampled_from([1, 4, 30]))
@settings(max_examples=40)
def test_both_searches_equal_brute_force(nb, delta, k):
    xs = nb.assignments()
    everyone = np.any(xs >= 0, axis=1)
    sizes = np.array([abs(d) for *_, d in every_pattern(nb)])
    expected = np.sort(sizes[sizes > delta])[::-1][:k]
    for search in (Meeting(nb, xs), Branching(nb, delta, everyone)):
        args = (k, delta, everyone) if isinstance(search, Meeting) else (k,)
        x, y = search.top(*args)
        np.testing.assert_allclose(np.abs(nb.delta(x, y)), expected, rtol=1e-9)
        assert len(
            {(tuple(sorted(a)), tuple(sorted(b))) for a, b in zip(x, y, strict=True)}
        ) == len(x)
    assert sum(n_patterns(nb, xs, None)) == len(sizes)


@given(nb=models, delta=st.sampled_from([0.0, 0.01, 0.1, 0.3]), limit=st.sampled_from([None, 1, 2]))
@settings(max_examples=40)
def test_counts_equal_brute_force(nb, delta, limit):
    xs = nb.assignments()
    everyone = np.any(xs >= 0, axis=1)
    place = {tuple(i for i in row if i >= 0): r for r, row in enumerate(xs.tolist())}
    expected, tested = np.zeros((2, len(xs)), dtype=int)
    for x, _, d in every_pattern(nb, limit):
        expected[place[x]] += abs(d) > delta
        tested[place[x]] += 1
    assert np.array_equal(Branching(nb, delta, everyone, max_predicates=limit).count(), expected)
    if limit is None:
        assert np.array_equal(Meeting(nb, xs).count(delta, everyone), expected)
    assert n_patterns(nb, xs, limit) == tested.tolist()


@given(nb=models, delta=st.sampled_from([0.01, 0.1]), limit=st.sampled_from([None, 2]))
@settings(max_examples=30)
def test_divergence_search_equals_brute_force(nb, delta, limit):
    everyone = np.any(nb.assignments() >= 0, axis=1)
    found = []
    for x, y, _ in every_pattern(nb, limit):
        context = np.array([y], int).reshape(1, -1)
        found.append(nb.divergence(np.array([x]), context, delta)[0])
    x, y = Branching(nb, delta, everyone, "divergence", limit).top(5)
    expected = np.sort(found)[::-1][:5]
    np.testing.assert_allclose(nb.divergence(x, y, delta), expected[expected > 0], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_divergence_is_the_least_distance(seed):
    nb = random_model([2, 3, 2], 1, seed)
    for x, y, _ in every_pattern(nb):
        for delta in (0.01, 0.1):
            own = nb.divergence(np.array([x]), np.array([y], int).reshape(1, -1), delta)[0]
            assert own == pytest.approx(distance(nb, x, y, delta), abs=1e-6)


def test_mass_may_move_beyond_the_rate_of_the_context():
    """The furthest that P(1 | x, y) is moved to is P(1 | not x, y), not P(1 | y)."""
    log_p = np.log([[0.1, 0.9], [0.9, 0.1]])
    nb = NaiveBayes(log_p, np.log([0.2, 0.8]), np.array([0, 0]), np.array([True, True]))
    x, y = np.array([[0]]), np.empty((1, 0), int)
    joint, everyone = nb.probability(x)[:, 0], np.exp(nb.log_prior)
    at_context = (joint * np.log(joint / joint.sum() / everyone)).sum()
    assert nb.divergence(x, y, 1e-6)[0] > 1.2 * at_context


@given(nb=models, seed=st.integers(0, 99))
@settings(max_examples=20)
def test_only_allowed_assignments_are_searched(nb, seed):
    xs = nb.assignments()
    allowed = np.any(xs >= 0, axis=1) & (np.random.default_rng(seed).random(len(xs)) < 0.5)
    ids = {tuple(i for i in r if i >= 0) for r in xs[allowed].tolist()}
    sizes = sorted((abs(d) for x, _, d in every_pattern(nb) if x in ids), reverse=True)[:3]
    for x, y in (Meeting(nb, xs).top(3, 0.0, allowed), Branching(nb, 0.0, allowed).top(3)):
        np.testing.assert_allclose(np.abs(nb.delta(x, y)), sizes, rtol=1e-9)
    assert np.count_nonzero(Meeting(nb, xs).count(0.0, allowed)[~allowed]) == 0


def test_too_many_contexts_are_refused():
    with pytest.raises(ValueError, match=r"contexts, too many .* Set max_predicates"):
        Meeting(random_model([9] * 30, 1, 0), np.zeros((1, 1), int))


def test_thirty_features_of_ten_values():
    nb = random_model([10] * 30, 2, 0)
    allowed = np.any(nb.assignments() >= 0, axis=1)
    x, y = Branching(nb, 0.01, allowed, max_predicates=2).top(5)
    sizes = [
        abs(nb.delta(np.array([[i]]), np.array([[j]]))[0])
        for i in range(20)
        for j in [*range(300), -1]
        if j < 0 or nb.feature[i] != nb.feature[j]
    ]
    two = nb.delta(nb.assignments()[allowed], np.full((allowed.sum(), 1), -1))
    expected = np.sort([*sizes, *np.abs(two[(nb.assignments()[allowed] >= 0).sum(axis=1) == 2])])
    np.testing.assert_allclose(np.abs(nb.delta(x, y)), expected[::-1][:5], rtol=1e-9)


def learned(load, name):
    """Learn the published models by maximum likelihood."""
    frame = load(f"fairnb/{name}")
    target, sensitive = SETS[name]
    y = frame.pop(target).to_numpy()
    frame = frame[sensitive + [c for c in frame if c not in sensitive]]
    counts = np.array(
        [[np.sum((frame[c] == v) & (y == d)) for d in (0, 1)] for c in frame for v in (0, 1)]
    )
    feature = np.repeat(np.arange(frame.shape[1]), 2)
    nb = NaiveBayes.learn(counts, np.bincount(y), feature, feature < 4, 0.0)
    return nb, counts, np.bincount(y)


@pytest.mark.parametrize(
    ("name", "likelihood", "patterns", "above"),
    [
        ("compas", -207_054.7, 14_688, (8_958, 2_017)),
        ("adult", -226_374.5, 10_707_552, (8_799_806, 4_083_350)),
        ("german", -12_629.9, 70_252_248_672, (56_614_996_800, 12_839_972_767)),
    ],
)
def test_published_likelihoods_and_counts(load, name, likelihood, patterns, above):
    nb, counts, n = learned(load, name)
    assert (counts.T * nb.log_p).sum() + n @ nb.log_prior == pytest.approx(likelihood, abs=0.1)
    xs = nb.assignments()
    n_free = len(nb.items) - 4
    assert sum(n_patterns(nb, xs, None)) == 5**4 * 3**n_free - 3 ** (4 + n_free)
    assert sum(n_patterns(nb, xs, None)) == patterns
    search = Meeting(nb, xs)
    allowed = np.any(xs >= 0, axis=1)
    for delta, count in zip((0.01, 0.1), above, strict=True):
        assert search.count(delta, allowed).sum() == count
