"""The copula: marginals, correlations, and conditional samples against plain rejection."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc import Predicate, Subgroup
from skdisc.datasets import Attribute, GaussianCopula, Schema, schema_from_frame
from skdisc.datasets._copula._latent_correlation import joint, nearest
from skdisc.datasets._copula._schema_from_frame import learned_schema
from skdisc.datasets._copula._truncated_normal import Box

COLOURS = Attribute("colour", values=("red", "green", "blue"), weights=(5, 3, 2))
SEX = Attribute("sex", values=("F", "M"), weights=(1, 2), protected=True)
SIZE = Attribute("size", "ordinal", values=(1, 2, 3, 4), weights=(1, 2, 3, 4))
AGE = Attribute("age", "numeric", law=("gamma", 9, 0, 4.5), dtype="float64")
YEARS = Attribute("years", "numeric", values=tuple(range(10)), dtype="int64")
PAY = Attribute("pay", "numeric", quantiles=(0, 10, 20, 50, 200), dtype="int64")
KIDS = Attribute("kids", "numeric", law=("norm", 3, 1.5), dtype="int64")
ALL = (COLOURS, SEX, SIZE, AGE, YEARS, PAY)


def ranks(frame, schema):
    """Give each value its place in the order of the schema."""
    columns = {}
    for a in schema.attributes:
        known = {v: i for i, v in enumerate(a.values)}
        numeric = a.kind == "numeric"
        columns[a.name] = frame[a.name] if numeric else [known[v] for v in frame[a.name]]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("asked", [0.0, 0.3, 0.5])
def test_asked_correlations_are_obtained(asked):
    schema = Schema(ALL, correlation=asked)
    frame = GaussianCopula(schema).sample(10_000, random_state=0)
    got = ranks(frame, schema).corr(method="spearman").to_numpy()
    assert np.abs(got - np.asarray(schema.correlation)).max() < 0.03


def test_any_matrix_of_correlations():
    asked = np.array([[1, -0.4, 0.2], [-0.4, 1, 0.1], [0.2, 0.1, 1]])
    schema = Schema([SIZE, AGE, PAY], correlation=asked)
    frame = GaussianCopula(schema).sample(10_000, random_state=1)
    got = ranks(frame, schema).corr(method="spearman").to_numpy()
    assert np.abs(got - asked).max() < 0.03


def test_marginals():
    frame = GaussianCopula(Schema(ALL, correlation=0.3)).sample(40_000, random_state=0)
    for a in (COLOURS, SEX, SIZE, YEARS):
        shares = frame[a.name].value_counts(normalize=True).reindex(a.values)
        np.testing.assert_allclose(shares, a.weights, atol=4 * 0.5 / 200)
    assert stats.kstest(frame["age"], stats.gamma(9, 0, 4.5).cdf).pvalue > 0.001
    np.testing.assert_allclose(frame["pay"].quantile([0.25, 0.5, 0.75]), [10, 20, 50], rtol=0.06)
    assert frame["pay"].dtype == frame["years"].dtype == "int64"
    assert frame["size"].dtype.ordered
    assert not frame["colour"].dtype.ordered


CONDITIONS = [
    [Predicate.equals("sex", "F")],
    [Predicate.equals("sex", "F"), Predicate.equals("colour", "green")],
    [Predicate.equals("size", 1), Predicate.between("age", 45, 60), Predicate.equals("sex", "F")],
    [Predicate.between("age", high=25), Predicate.between("years", 2, 6)],
    [Predicate.between("pay", 20, 60), Predicate.isin("colour", ["green", "blue"])],
]


@pytest.mark.statistics
@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_conditional_samples_are_those_of_rejection(condition):
    group = Subgroup(condition)
    copula = GaussianCopula(Schema(ALL, correlation=0.4))
    everybody = copula.sample(200_000, random_state=1)
    theirs = everybody[group.mask(everybody)]
    ours = copula.sample(20_000, group, random_state=2)
    assert group.mask(ours).all()
    assert copula.probability(group) == pytest.approx(len(theirs) / len(everybody), rel=0.06)
    for a in ALL:
        if a.is_discrete:
            both = [f[a.name].value_counts().reindex(a.values).fillna(0) for f in (ours, theirs)]
            table = np.array([b[(both[0] + both[1]) > 0] for b in both])
            p = stats.chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0
        else:
            p = stats.ks_2samp(ours[a.name], theirs[a.name]).pvalue
        assert p > 1e-4, a.name
    first, second = (ranks(f, copula.schema).corr().to_numpy() for f in (ours, theirs))
    assert np.nanmax(np.abs(first - second)) < 5 / np.sqrt(min(len(ours), len(theirs)))


@pytest.mark.parametrize("ends", [(2, 5), (1.5, 4.2)])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_rounded_numbers_keep_their_law_at_the_ends_of_an_interval(ends, closed):
    condition = Predicate.between("kids", *ends, closed=closed)
    copula = GaussianCopula(Schema([KIDS, SEX], correlation=0.4))
    everybody = copula.sample(60_000, random_state=0)
    theirs = everybody[condition.mask(everybody)]
    ours = copula.sample(len(theirs), condition, random_state=1)
    counts = [f["kids"].value_counts().sort_index() for f in (ours, theirs)]
    assert counts[0].index.equals(counts[1].index)
    assert stats.chi2_contingency(np.array(counts)).pvalue > 1e-4
    assert copula.probability(condition) == pytest.approx(len(theirs) / 60_000, abs=0.01)


@pytest.mark.statistics
@pytest.mark.parametrize("condition", [None, *map(Subgroup, CONDITIONS)], ids=str)
def test_integrals_are_means_of_samples(condition):
    def function(people, extra):
        red = (people["colour"] == "red").to_numpy(dtype=float)
        return np.column_stack([people["pay"] * extra, red * people["age"]])

    copula = GaussianCopula(Schema(ALL, correlation=0.4))
    mean, error = copula.integrate(function, condition)
    again, _ = copula.integrate(function, condition)
    np.testing.assert_array_equal(mean, again)
    people = copula.sample(100_000, condition, random_state=0)
    values = function(people, np.random.default_rng(1).random(len(people)))
    spread = np.hypot(values.std(axis=0) / np.sqrt(len(people)), error)
    assert (np.abs(values.mean(axis=0) - mean) <= 4 * spread).all()
    assert (error <= values.std(axis=0) / np.sqrt(2**14)).all()  # better than random points


def test_a_tail_far_out():
    latent = nearest(np.array([[1, 0.9, -0.5], [0.9, 1, -0.3], [-0.5, -0.3, 1]]))
    box = Box(latent, {0: (5.0, np.inf, None), 2: (1.0, np.inf, None)})
    z = box.draw(5000, np.random.default_rng(0))
    first = z[list(box.index).index(0)]
    assert first.min() >= 5
    assert first.mean() < 5.25


@given(
    rho=st.lists(st.floats(-0.9, 0.9), min_size=3, max_size=3),
    ends=st.lists(st.tuples(st.floats(-2, 2), st.floats(0.2, 3)), min_size=3, max_size=3),
    seed=st.integers(0, 99),
)
@settings(max_examples=25)
def test_boxes_hold_their_draws(rho, ends, seed):
    latent = np.eye(3)
    latent[np.tril_indices(3, -1)] = rho
    latent = nearest(np.tril(latent) + np.tril(latent, -1).T)
    fixed = {j: (low, low + width, None) for j, (low, width) in enumerate(ends)}
    box = Box(latent, fixed)
    rng = np.random.default_rng(seed)
    _, weight = box.propose(rng.random((3, 2000)))
    assert weight.max() <= box.most + 1e-12
    if weight.mean() > 1e-3 * box.most:
        z = box.draw(50, rng)
        assert (z >= box.low[:, None]).all()
        assert (z <= box.high[:, None]).all()


@pytest.mark.parametrize("ends", [(-np.inf, 2.0), (-np.inf, -30.0), (1.0, np.inf), (30.0, np.inf)])
def test_quantiles_of_a_tail(ends):
    """Of an open-ended interval, however far out: those of scipy's truncated normal."""
    u = np.linspace(0.01, 0.99, 50)
    z, _ = Box(np.eye(1), {0: (*ends, None)}).propose(u[None])
    np.testing.assert_allclose(z[0], stats.truncnorm(*ends).ppf(u), rtol=1e-9)


def test_a_block_is_as_good_as_many(monkeypatch):
    """People of a large group are drawn block by block, each within its conditions."""
    monkeypatch.setattr("skdisc.datasets._copula._copula._BLOCK", 1000)
    copula, group = GaussianCopula(Schema(ALL, correlation=0.4)), Subgroup(CONDITIONS[2])
    people = copula.sample_each([2500, 0, 3], [group, None, None], random_state=0)
    assert len(people) == 2503
    assert group.mask(people.head(2500)).all()
    parts = [people["pay"].iloc[a : a + 1000] for a in (0, 1000)]
    assert stats.ks_2samp(*parts).pvalue > 1e-3
    assert not parts[0].reset_index(drop=True).equals(parts[1].reset_index(drop=True))


def test_conditions_of_what_has_numbers_for_values():
    copula = GaussianCopula(Schema([YEARS, SEX], correlation=0.4))
    for condition, ends in [
        (Predicate.between("years", 2, 4, closed="neither"), (3, 3)),
        (Predicate.between("years", 2.5, closed="left"), (3, 9)),
        (Predicate.isin("years", [4, 5]), (4, 5)),
        (Predicate.isin("years", [0]), (0, 0)),
    ]:
        drawn = copula.sample(500, condition, random_state=0)["years"]
        assert (drawn.min(), drawn.max()) == ends
    with pytest.raises(ValueError, match="has probability zero"):
        copula.sample(1, Predicate.between("years", 9), random_state=0)
    with pytest.raises(ValueError, match="has probability zero"):
        copula.sample(1, Predicate.isin("years", []), random_state=0)


def test_integrals_with_one_seed_do_not_share_what_is_drawn():
    copula, rng = GaussianCopula(Schema(ALL)), np.random.default_rng(0)
    ages = [copula.integrate(lambda people, _: people["age"], random_state=rng) for _ in "ab"]
    assert ages[0] != ages[1]


def test_a_box_without_people():
    latent = np.array([[1, 0.999], [0.999, 1]])
    box = Box(latent, {0: (1.0, 2.0, None), 1: (-2.0, -1.0, None)})
    with pytest.raises(ValueError, match="Fewer than 1 in 100,000 simulated people"):
        box.draw(10, np.random.default_rng(0))


def test_what_cannot_be_sampled():
    copula = GaussianCopula(Schema(ALL))
    for condition, message in [
        (Predicate.equals("sex", "X"), "has probability zero"),
        (Predicate.equals("hair", 1), "not among the attributes"),
        (Predicate.equals("age", 40), "single values of a continuous attribute"),
        (Predicate.isin("colour", ["red", "blue"]), "must be adjacent"),
        (Predicate.between("age", high=-1), "has probability zero"),
    ]:
        with pytest.raises(ValueError, match=message):
            copula.sample(5, condition, random_state=0)
    assert len(copula.sample(0, random_state=0)) == 0


def test_impossible_correlations():
    rare = Attribute("rare", values=(0, 1), weights=(99, 1))
    with pytest.raises(ValueError, match=r"'rare' and 'sex' cannot have the correlation 0\.9"):
        GaussianCopula(Schema([SEX, rare], correlation=0.9))
    with pytest.raises(ValueError, match="No distribution has all of these correlations"):
        GaussianCopula(Schema([AGE, YEARS, PAY], correlation=-0.6))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ((0, 1), "category"),
        ((False, True), "category"),
        ((1.0, 2.0), "category"),
        ((1, 2), "category"),
        ((False, True), "bool"),
        ((1, 2), "int64"),
        (("a", "b"), "object"),
        (("a", None), "object"),
        (("a", None), "str" if pd.__version__ >= "3" else "string"),
    ],
)
def test_values_come_back_as_they_were_given(values, dtype):
    """Also after an attribute whose values are equal to these but of another type."""
    schema = Schema([Attribute("a", values=values, dtype=dtype)])
    column = GaussianCopula(schema).sample(50, random_state=0)["a"]
    assert column.dtype == dtype
    found = set(column.cat.categories if dtype == "category" else column.dropna())
    assert {(v, type(v)) for v in found} == {(v, type(v)) for v in values if v is not None}
    assert column.isna().any() == (None in values)


def test_a_numeric_attribute_is_a_column_of_floats():
    schema = Schema(
        [Attribute("a", "numeric", values=(1, 2)), Attribute("b", "numeric", law=("norm",))]
    )
    assert set(GaussianCopula(schema).sample(5, random_state=0).dtypes) == {np.dtype(float)}


def test_schema_round_trip():
    schema = Schema([*ALL, Attribute("x", values=("a", None), dtype="str")], correlation=0.2)
    again = Schema.from_json(schema.to_json())
    assert again == schema
    frames = [GaussianCopula(s).sample(50, random_state=0) for s in (schema, again)]
    pd.testing.assert_frame_equal(*frames)
    with pytest.raises(ValueError, match="schema version 9"):
        Schema.from_dict({"schema_version": 9})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "text", "values": (1,)}, "needs a kind among"),
        ({"values": ()}, "needs a kind among"),
        ({"values": (1, 1)}, "distinct values"),
        ({"values": (1, 2), "weights": (1,)}, "one weight >= 0 each"),
        ({"values": (1, 2), "weights": (1, -1)}, "one weight >= 0 each"),
        ({"kind": "numeric", "quantiles": (2, 1)}, "must be ascending"),
        ({"kind": "numeric", "law": ("cauchy",)}, "a law in"),
    ],
)
def test_wrong_attributes(wrong, message):
    with pytest.raises(ValueError, match=message):
        Attribute("a", **wrong)


@pytest.mark.parametrize("correlation", [2, [[1, 0.5], [0.4, 1]], [[1]], float("nan")])
def test_wrong_correlations(correlation):
    with pytest.raises(ValueError, match="correlation must be a number or a symmetric matrix"):
        Schema([SEX, AGE], correlation=correlation)
    with pytest.raises(ValueError, match="distinct names"):
        Schema([SEX, SEX])


def test_joint_tables_are_those_of_the_normal():
    first, second = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])
    table = joint(first, second, 0.7)
    np.testing.assert_allclose(table.sum(axis=1), first)
    np.testing.assert_allclose(table.sum(axis=0), second, atol=1e-6)
    ends = stats.norm.ppf([0.2, 0.6])
    law = stats.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]])
    assert table[0, 0] == pytest.approx(law.cdf(ends), abs=1e-5)


def bins(column, edges):
    return np.searchsorted(edges, column) if edges is not None else column


def association(frame, first, second, edges):
    """Spearman's correlation of numbers; Cramér's V where a column is nominal, numbers in bins."""
    if edges[first] is not None and edges[second] is not None:
        return frame[first].corr(frame[second], method="spearman")
    columns = [bins(frame[name], edges[name]) for name in (first, second)]
    table = pd.crosstab(*columns).to_numpy(dtype=float)
    chi2 = stats.chi2_contingency(table).statistic
    return np.sqrt(chi2 / table.sum() / (min(table.shape) - 1))


@pytest.mark.statistics
def test_twin_of_adult(load):
    """Without education-num, which is education in other words."""
    adult = load("adult").drop(columns=["split", "education-num"])
    schema = schema_from_frame(adult, protected=["sex", "race"])
    twin = GaussianCopula(schema).sample(len(adult), random_state=0)
    assert twin.dtypes.equals(adult.dtypes)
    edges = {}
    for a in schema.attributes:
        name = a.name
        at = [*np.linspace(0.1, 0.9, 9), 0.95, 0.98]
        edges[name] = np.unique(adult[name].quantile(at)) if a.kind == "numeric" else None
        many = adult[name].nunique() > 1000
        both = [bins(f[name], edges[name]) if many else f[name] for f in (adult, twin)]
        first, second = (pd.Series(s).value_counts(normalize=True) for s in both)
        assert first.sub(second, fill_value=0).abs().sum() / 2 < 0.02, name
    for pair in itertools.combinations(edges, 2):
        ours, theirs = (association(f, *pair, edges) for f in (twin, adult))
        assert abs(ours - theirs) < 0.05, pair


def test_learning_names_what_is_wrong():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    with pytest.raises(ValueError, match="'a' has 1 missing values"):
        schema_from_frame(frame)
    with pytest.raises(ValueError, match="kinds names"):
        schema_from_frame(frame, kinds={"c": "nominal"})
    with pytest.raises(ValueError, match="protected='c'"):
        schema_from_frame(frame, protected="c")
    schema = schema_from_frame(frame[["b"]])
    made = GaussianCopula(schema).sample(100, random_state=0)
    assert 20 < made["b"].isna().sum() < 80


@pytest.mark.parametrize("n_calls", [0, 1, 3, 7, 30])
def test_a_schema_is_learned_as_far_as_there_is_time(n_calls):
    """What was learned before is that of the whole schema; what was not is 0."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 9, (60, 5)).cumsum(axis=1), columns=list("abcde"))
    clock = iter([True] * n_calls)
    part = learned_schema(frame, in_time=lambda: next(clock, False))
    whole = schema_from_frame(frame)
    assert part.attributes == whole.attributes
    learned = np.tril(part.correlation, -1)[np.tril_indices(5, -1)]
    expected = np.tril(whole.correlation, -1)[np.tril_indices(5, -1)]
    n = int(np.clip(n_calls - 1, 0, 10))  # the first call is before the first pair
    np.testing.assert_allclose(learned[:n], expected[:n], atol=1e-12)
    assert not learned[n:].any()


def test_a_matrix_that_is_none_of_correlations_becomes_one_without_time():
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    for in_time in (lambda: False, lambda: True):
        near = nearest(wrong, np.ones((3, 3)), in_time)
        assert np.linalg.eigvalsh(near)[0] > 0
        np.testing.assert_array_equal(np.diag(near), 1)
        assert (np.sign(near) == np.sign(wrong)).all()
