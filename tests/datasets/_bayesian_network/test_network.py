"""Bayesian networks: the law is the product of the tables, and draws follow it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import Predicate, Subgroup
from skdisc.datasets import Attribute, Schema
from skdisc.datasets._bayesian_network import _network
from skdisc.datasets._bayesian_network._causal_graph import build

KINDS = ("nominal", "ordinal", "numeric")


@st.composite
def networks(draw):
    n = draw(st.integers(2, 5))
    attributes = []
    for j in range(n):
        size = draw(st.integers(1, 4))
        weights = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
        kind = draw(st.sampled_from(KINDS))
        values = range(size) if kind == "numeric" else [f"v{c}" for c in range(size)]
        attributes.append(Attribute(f"a{j}", kind, values, weights, protected=j == 1))
    order = draw(st.permutations(range(n)))
    pairs = [(f"a{order[i]}", f"a{order[j]}") for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6))
    graph = [(*pair, draw(st.floats(-1.5, 1.5))) for pair in chosen]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return build(Schema(attributes), graph, rng)


def listed(network):
    """Return every combination of values and its probability, by loops over the tables."""
    names, rows, law = list(network.attributes), [], []
    for codes in product(*(range(len(a.values)) for a in network.attributes.values())):
        at = dict(zip(names, codes, strict=True))
        p = 1.0
        for node, parents in network.parents.items():
            p *= network.tables[node][tuple(at[name] for name in (*parents, node))]
        rows.append([network.attributes[n].values[c] for n, c in at.items()])
        law.append(p)
    return pd.DataFrame(rows, columns=names), np.array(law)


def conditions(network, rows, seed):
    """Return a condition on one or two attributes that some rows satisfy."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(list(rows))[: rng.integers(1, 3)]
    some = rows.iloc[rng.integers(len(rows))]
    return Subgroup(
        [
            Predicate.between(n, -np.inf, int(some[n]))
            if network.attributes[n].kind == "numeric"
            else Predicate.equals(n, some[n])
            for n in names
        ]
    )


@given(network=networks(), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_the_law_is_the_product_of_the_tables_with_the_marginals_of_the_schema(network, seed):
    rows, law = listed(network)
    assert law.sum() == pytest.approx(1)
    for name, a in network.attributes.items():
        marginal = [law[(rows[name] == v).to_numpy()].sum() for v in a.values]
        np.testing.assert_allclose(marginal, a.weights, atol=1e-9)
    group = conditions(network, rows, seed)
    inside = group.mask(rows)
    assert network.probability(group) == pytest.approx(law[inside].sum())
    code = {n: {v: c for c, v in enumerate(a.values)} for n, a in network.attributes.items()}
    worth = np.random.default_rng(seed).standard_normal((8, 8))

    def function(people, extra):
        assert len(extra) == len(people)
        columns = [people[n].map(code[n]).astype(int).to_numpy() for n in people]
        value = sum(worth[j, c] * (j + 1) for j, c in enumerate(columns))
        return np.column_stack([value, value**2])

    found, error = network.integrate(function, group)
    by_hand = function(rows[inside], np.zeros(inside.sum()))
    np.testing.assert_allclose(found, np.average(by_hand, axis=0, weights=law[inside]))
    assert not error.any()


@given(network=networks(), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_draws_follow_the_law_and_meet_conditions(network, seed):
    """Frequencies of all combinations of values, with and without a condition."""
    rows, law = listed(network)
    n, group = 20_000, conditions(network, rows, seed)
    people = network.sample_each([n, n], [None, group], random_state=seed)
    assert list(people) == list(network.attributes)
    for part, inside in ((people[:n], np.ones(len(rows), dtype=bool)), (people[n:], None)):
        inside = group.mask(rows) if inside is None else inside
        p = np.where(inside, law, 0.0) / law[inside].sum()
        codes = [a.codes(part[name]) for name, a in network.attributes.items()]
        at = np.ravel_multi_index(codes, [len(a.values) for a in network.attributes.values()])
        counts = np.bincount(at, minlength=len(rows))
        assert not counts[~inside].any()
        often = n * p >= 10
        z = (counts - n * p)[often] / np.sqrt(n * p * (1 - p) + 1e-9)[often]
        assert np.abs(z).max(initial=0.0) < 6
    again = network.sample_each([n, n], [None, group], random_state=seed)
    assert people.equals(again)


def town_and_job():
    town = Attribute("town", values="abc", weights=(1, 2, 3), protected=True)
    job = Attribute("job", "ordinal", values=(0, 1, 2))
    pay = Attribute("pay", "ordinal", values=(0, 1))
    return Schema([town, job, pay])


@pytest.mark.parametrize("strength", [-0.2, 0.1, 0.2])
def test_a_small_strength_is_the_correlation_of_the_scores(strength):
    network = build(town_and_job(), [("job", "pay", strength)], np.random.default_rng(0))
    rows, law = listed(network)
    x, y = (rows[c].astype(float).to_numpy() for c in ("job", "pay"))
    x, y = (v - law @ v for v in (x, y))
    r = law @ (x * y) / np.sqrt((law @ x**2) * (law @ y**2))
    assert r == pytest.approx(strength, abs=0.2 * strength**2 + 0.1 * abs(strength))
    town = (rows["town"] == "a").to_numpy()
    assert law @ (x * town) == pytest.approx(0, abs=1e-12)


def test_a_law_with_too_many_combinations_is_drawn_and_estimated(monkeypatch):
    network = build(town_and_job(), [("job", "pay", 2.0)], np.random.default_rng(0))
    group = Predicate.equals("pay", 1)

    def senior(people, _):
        return (people["job"] == 2).to_numpy(dtype=float)

    exact, none = network.integrate(senior, group)
    monkeypatch.setattr(_network, "MOST_CELLS", 5)
    found, error = network.integrate(senior, group)
    assert none == 0 < error
    assert abs(found - exact) < 5 * error
    monkeypatch.setattr(_network, "MOST_CELLS", 2)
    with pytest.raises(ValueError, match="have 3 combinations of values, but at most 2"):
        network.sample(3, group)  # together with its ancestors


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([("town", "job"), ("job", "town")], "cycle"),
        ([("town", "age")], "must lead from one of the attributes"),
        ([("outcome", "job")], "must lead from one of the attributes"),
        ([("town", "outcome")], "Such effects are planted"),
        (["town"], "got the edge 'town'"),
        ([("town", "job", "much")], "must be a finite number"),
    ],
)
def test_wrong_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        build(town_and_job(), graph, np.random.default_rng(0))


def test_wrong_attributes_and_conditions():
    age = Attribute("age", "numeric", law=("norm", 40, 10))
    town = Attribute("town", values=("a", None), protected=True)
    for wrong in (age, town):
        schema = Schema([*town_and_job().attributes[1:], wrong])
        with pytest.raises(ValueError, match=rf"\['{wrong.name}'\] are continuous or can be miss"):
            build(schema, "roles", np.random.default_rng(0))
    correlated = Schema(town_and_job().attributes, correlation=0.2)
    with pytest.raises(ValueError, match="without correlation="):
        build(correlated, "roles", np.random.default_rng(0))
    network = build(town_and_job(), [], np.random.default_rng(0))
    for group, message in (
        (Predicate.equals("town", "z"), "probability zero"),
        (Predicate.equals("city", "a"), "not among the attributes"),
    ):
        with pytest.raises(ValueError, match=message):
            network.sample(3, group)
