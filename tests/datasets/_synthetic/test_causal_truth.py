"""Causal truth: effects and the causal model are those of simulated interventions."""

import pickle
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import BlackBox, Predicate, Subgroup
from skdisc.datasets import Attribute, Schema, make_discrimination
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    SituationTesting,
)

SMALL = {"n_pairs": 4, "n_attributes": 6, "group_size": 60, "n_background": 200}
PLANTED = {"granularity": 1, "intersectionality": 1, "bias": 3.0, "null_fraction": 0.0}
PARTS = ["direct", "indirect", "spurious"]


def make(seed=0, **asked):
    return make_discrimination(**{**SMALL, **PLANTED, "graph": "roles", **asked}, random_state=seed)


class Simulation:
    """People with their own noise, who can be run again under an intervention."""

    def __init__(self, made, n, seed):
        self.truth, self.network = made.truth, made.truth._network
        rng = np.random.default_rng(seed)
        self.u = {node: rng.random(n) for node in self.network.parents}
        self.noise = rng.standard_normal(n)

    def run(self, **do):
        codes = {}
        for node, parents in self.network.parents.items():
            edges = self.network.tables[node][tuple(codes[p] for p in parents)].cumsum(axis=-1)
            codes[node] = (self.u[node][:, None] >= np.atleast_2d(edges)[:, :-1]).sum(axis=1)
            if node in do:
                codes[node] = np.full(len(self.noise), do[node])
        attributes = self.network.attributes
        rows = pd.DataFrame({name: a.take(codes[name]) for name, a in attributes.items()})
        law = self.truth.law
        if law.direct < 1:
            pairs = zip(self.truth.subgroups, law.bias, strict=True)
            bias = sum(b * g.mask(rows) for g, b in pairs)
            rows["Proxy_X"] = (1 - law.direct) * bias + 0.5 * self.noise
        return rows, codes

    def outcome(self, rows):
        oracle = self.truth.oracle
        if not hasattr(oracle, "predict_proba"):
            return oracle.predict(rows)
        return oracle.predict_proba(rows)[:, -1]


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"bias_in": "proxy"},
        {"bias_in": "both", "aleatoric": 0.7},
        {"outcome": "continuous", "overlap": "add"},
        {"threshold": True, "aleatoric": 0.5},
        {"outcome": "categorical", "granularity": 2, "intersectionality": 2},
    ],
    ids=str,
)
def test_effects_are_those_of_simulated_interventions(asked):
    made = make(seed=2, **asked)
    table = made.truth.causal_effects().set_index(["column", "value", "reference"])
    world, largest = Simulation(made, 60_000, seed=0), dict.fromkeys(PARTS, 0.0)
    factual, codes = world.run()
    y = world.outcome(factual)
    for column in made.protected:
        values = made.truth._network.attributes[column].values
        after = {c: world.outcome(world.run(**{column: c})[0]) for c in range(len(values))}
        for a, b in list(permutations(range(len(values)), 2))[:6]:
            told = table.loc[(column, values[b], values[a])]
            own, other = codes[column] == a, codes[column] == b
            flip = factual[own].assign(**{column: factual[column].to_numpy()[other][0]})
            flip = flip.astype({column: factual[column].dtype})
            flipped = world.outcome(flip)
            gains = {
                "direct": flipped - y[own],
                "indirect": after[b][own] - flipped,
                "total": after[b] - after[a],
            }
            for name, gain in gains.items():
                error = 5 * gain.std() / np.sqrt(len(gain)) + 1e-9
                assert abs(gain.mean() - told[name]) < error, (name, column, a, b)
            seen = (y[other], after[b][own])
            error = 5 * np.hypot(*(v.std() / np.sqrt(len(v)) for v in seen)) + 1e-9
            assert abs(seen[0].mean() - seen[1].mean() - told["spurious"]) < error
            largest = {n: max(v, abs(told[n])) for n, v in largest.items()}
    assert min(largest["indirect"], largest["spurious"]) > 0.01
    assert (largest["direct"] > 0.01) == (asked.get("bias_in") != "proxy")


@pytest.mark.slow
@given(seed=st.integers(0, 99), bias_in=st.sampled_from(["labels", "proxy", "both"]))
@settings(max_examples=10, deadline=None)
def test_parts_add_up_to_the_gap_between_the_groups(seed, bias_in):
    made = make(seed, bias_in=bias_in)
    table = made.truth.causal_effects()
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["gap"], atol=1e-12)
    for row in table.iloc[::3].itertuples():
        groups = [Predicate.equals(row.column, v) for v in (row.value, row.reference)]
        found = made.truth.effect(*groups)
        assert found.effect == pytest.approx(row.gap, abs=1e-9)
        assert found.standard_error == 0
    back = table.rename(columns={"value": "reference", "reference": "value"})
    both = table.merge(back, on=["column", "value", "reference"])
    np.testing.assert_allclose(both["total_x"], -both["total_y"], atol=1e-12)


def chain(*graph, **asked):
    sex = Attribute("sex", values=("F", "M"), weights=(1, 3), protected=True)
    job = Attribute("job", "ordinal", values=(0, 1))
    town = Attribute("town", "ordinal", values=(0, 1))
    schema = Schema([sex, job, town])
    asked = {"null_fraction": 1.0, "granularity": 2, "intersectionality": 1} | asked
    return make_discrimination(
        1, schema=schema, graph=graph, n_background=50, **asked, random_state=0
    )


def test_what_only_mediates_is_indirect_and_what_only_confounds_is_spurious():
    mediated = chain(("sex", "job"), ("job", "outcome"))
    confounded = chain(("job", "sex"), ("job", "outcome"))
    proxied = chain(("sex", "job"), ("town", "outcome"))
    for made, part in ((mediated, "indirect"), (confounded, "spurious"), (proxied, None)):
        table = made.truth.causal_effects()
        for name in (*PARTS, "total"):
            moved = name == part or (name == "total" and part == "indirect")
            size = table[name].abs().min() if moved else table[name].abs().max()
            assert size > 0.02 if moved else size < 1e-12, (part, name)
        assert set(made.truth.law.base.terms) == ({"town"} if part is None else {"job"})
    p = mediated.truth.oracle.predict_proba(
        pd.DataFrame({"sex": "M", "job": pd.Categorical([0, 1], ordered=True), "town": 0})
    )[:, 1]
    tables = mediated.truth._network.tables["job"]
    row = mediated.truth.causal_effects().query("value == 'M'").iloc[0]
    assert row["total"] == pytest.approx((tables[1] - tables[0]) @ p, abs=1e-12)


def test_the_roles_and_the_people_of_planted_groups():
    made = make(n_attributes=7, protected_share=0.2)
    truth, X = made.truth, made.data
    above = truth.scm.parents_
    assert above["Attr1_X"] == above["Attr2_X"] == ("Attr1_T",)
    assert above["Attr1_T"] == ("Attr3_X",)
    assert above["Attr5_X"] == ("Attr1_T",)
    assert set(truth.law.base.terms) == {"Attr1_X", "Attr3_X", "Attr4_X", "Attr5_X"}
    origin = truth._origin
    for k, group in enumerate(truth.subgroups):
        np.testing.assert_array_equal(group.mask(X), origin == k)
    assert (origin == -1).sum() == 200
    assert (truth.groups["effect_error"] == 0).all()
    again = make(n_attributes=7, protected_share=0.2)
    pd.testing.assert_frame_equal(made.frame, again.frame)
    arrays = make(n_attributes=7, protected_share=0.2, as_frame=False)
    np.testing.assert_array_equal(arrays.data, X.astype(float))


@pytest.mark.slow
@pytest.mark.parametrize("bias_in", ["labels", "both"])
def test_the_causal_model_has_the_law_of_the_people(bias_in):
    made = make(seed=1, bias_in=bias_in)
    scm, n = made.truth.scm, 20_000
    people, drawn = made.truth.sample(n, random_state=0), scm.sample(n, random_state=0)
    assert set(drawn) == set(people)
    names = made.schema.names
    for k, a in enumerate(names):
        for b in names[:k]:
            tables = [pd.crosstab(d[a].astype(int), d[b].astype(int)) / n for d in (people, drawn)]
            assert np.abs(tables[0] - tables[1]).to_numpy().max() < 0.025
    same = scm.counterfactual(people, {"Attr1_T": people["Attr1_T"].to_numpy()})
    pd.testing.assert_frame_equal(same, people)
    moved = scm.counterfactual(people, {"Attr1_T": 0})
    below = {"Attr1_T", "Attr1_X", "Attr2_X"} | {"Proxy_X"} & set(people)
    assert {c for c in people if not moved[c].equals(people[c])} == below
    if bias_in == "both":
        law = made.truth.law
        noise = [d["Proxy_X"] - 0.5 * law.person(d)[0] for d in (people, moved)]
        np.testing.assert_allclose(*noise, atol=1e-12)


def test_counterfactuals_have_the_means_of_the_effects():
    """The mean over people of their own counterfactuals, drawn by abduction."""
    made = make(seed=3, bias_in="both")
    truth = made.truth
    table = truth.causal_effects().set_index(["column", "value", "reference"])
    people = truth.sample(40_000, Predicate.equals("Attr1_T", 1), random_state=0)
    y = [
        truth.oracle.predict_proba(rows)[:, 1]
        for rows in (people, truth.scm.counterfactual(people, {"Attr1_T": 0}))
    ]
    told = table.loc[("Attr1_T", 0, 1)]
    gain = y[1] - y[0]
    error = 5 * gain.std() / np.sqrt(len(gain))
    assert abs(gain.mean() - told["direct"] - told["indirect"]) < error
    assert abs(told["indirect"]) > error


def test_counterfactual_fairness_with_the_causal_model_is_not_a_flip():
    made = make(seed=0)
    model = BlackBox(made.truth.oracle)
    found = {}
    for name, source in (("flip", None), ("scm", made.truth.scm)):
        audit = CounterfactualFairness(
            protected="Attr1_T",
            counterfactuals=source,
            do={"Attr1_T": 0},
            output="probability",
            n_resamples=0,
            pos_label=1,
        )
        result = audit.fit(made.data, made.target, model).result_
        found[name] = result
        before, after = result.findings.original, result.findings.altered
        moved = {c for c in before if (before[c].astype(object) != after[c].astype(object)).any()}
        assert (moved > {"Attr1_T"}) == (name == "scm"), moved
        assert any("No causal model was given" in n for n in result.notes) == (name == "flip")
    assert len(found["scm"].findings) > 1.2 * len(found["flip"].findings) > 0


@pytest.mark.slow
def test_counterfactual_situation_testing_with_the_causal_model_is_not_situation_testing():
    made = make(seed=0, n_background=600)
    common = {"protected": "Attr1_T", "group": 0, "reference": "rest", "pos_label": 1}
    plain = SituationTesting(**common).fit(made.data, made.target).result_
    results = [
        CounterfactualSituationTesting(counterfactuals=source, **common)
        .fit(made.data, made.target)
        .result_
        for source in (None, made.truth.scm)
    ]
    gaps = [r.tables["gaps"]["gap"].to_numpy() for r in (plain, *results)]
    np.testing.assert_array_equal(gaps[0], gaps[1])
    assert np.abs(gaps[0] - gaps[2]).max() > 1e-3


@pytest.mark.slow
def test_a_graph_needs_values_and_no_other_source_of_dependence():
    with pytest.raises(ValueError, match="are continuous or can be missing"):
        make(n_numeric=2)
    with pytest.raises(ValueError, match="without correlation="):
        make(correlation=0.2)
    reference = pd.DataFrame({"a": ["x", "y"] * 9, "b": ["u", "v", "w"] * 6})
    with pytest.raises(ValueError, match="graph= needs attributes of schema="):
        make_discrimination(graph="roles", reference=reference, protected="a")
    with pytest.raises(ValueError, match="'graph'"):
        make(graph="chain")
    plain = make(graph=None)
    assert plain.truth.scm is None
    with pytest.raises(ValueError, match="make the data with graph="):
        plain.truth.causal_effects()
    many = make(n_attributes=16)
    assert (many.truth.groups["effect_error"] > 0).any()
    with pytest.raises(ValueError, match="Use fewer attributes or values"):
        many.truth.causal_effects()
    assert isinstance(many.truth.subgroups[0], Subgroup)


def test_any_kind_of_column_has_its_causes_and_counterfactuals():
    """Unsorted and impossible values, booleans, numbers, a constant; also as a pickled copy."""
    sex = Attribute("sex", values=(True, False), protected=True, dtype="bool")
    race = Attribute(
        "race", values=("z", "b", "a"), weights=(0, 2, 1), protected=True, dtype="object"
    )
    kids = Attribute("kids", "numeric", (0, 1, 3, 7), (4, 3, 2, 1), dtype="int64")
    edu = Attribute("edu", "ordinal", values=("low", "mid", "high"))
    one, job = Attribute("one", values=("x",)), Attribute("job", values=("q", "w", "e"))
    edges = [("sex", "kids"), ("race", "edu", 0.8), ("kids", "edu", -0.6), ("edu", "job")]
    made = make_discrimination(
        2,
        schema=Schema([sex, race, kids, edu, one, job]),
        graph=[*edges, ("one", "job"), ("kids", "outcome")],
        **PLANTED,
        bias_in="both",
        random_state=0,
    )
    truth = pickle.loads(pickle.dumps(made.truth))
    table = truth.causal_effects()
    assert "z" not in set(table["value"])
    for row in table.itertuples():
        groups = [Predicate.equals(row.column, v) for v in (row.value, row.reference)]
        assert truth.effect(*groups).effect == pytest.approx(row.gap, abs=1e-9)
    flip = {"sex": {True: False, False: True}}
    moved = truth.scm.counterfactual(made.data, flip)
    assert moved.dtypes.equals(made.data.dtypes)
    changed = {c for c in moved if not moved[c].equals(made.data[c])}
    assert changed == {"sex", "kids", "edu", "job", "Proxy_X"}
    pd.testing.assert_frame_equal(moved, made.truth.scm.counterfactual(made.data, flip))
