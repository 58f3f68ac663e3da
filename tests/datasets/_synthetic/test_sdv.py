"""SDV in place of our copula: same answers, same truth, the caller's objects untouched."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from skdisc import Predicate, Subgroup
from skdisc.datasets import Attribute, GaussianCopula, Schema, make_discrimination
from skdisc.datasets._synthetic._sdv import SDVSampler, fit_sdv

SEX = Attribute("sex", values=("F", "M"), weights=(2, 3), protected=True)
TOWN = Attribute("town", values=("a", "b", None), weights=(2, 2, 1), dtype="object")
RANK = Attribute("rank", "ordinal", values=(1, 2, 3))
AGE = Attribute("age", "numeric", law=("norm", 40, 8), dtype="int64")
SCHEMA = Schema([SEX, TOWN, RANK, AGE], correlation=0.3)
SMALL = {
    "n_pairs": 2,
    "group_size": 40,
    "n_background": 200,
    "granularity": 1,
    "intersectionality": 1,
}


needs_sdv = pytest.mark.extras("sdv")


@pytest.fixture(scope="module")
def fitted():
    return fit_sdv(GaussianCopula(SCHEMA).sample(4000, random_state=0), SCHEMA)


def test_without_sdv_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sdv.metadata", None)
    with pytest.raises(ImportError, match=r'pip install "skdisc\[sdv\]"'):
        make_discrimination(1, synthesizer="sdv", n_seed=50, random_state=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"synthesizer": "copula"}, "'synthesizer'"),
        ({"synthesizer": object()}, "'synthesizer'"),
        ({"n_seed": 100}, "n_seed=100 has no effect here"),
        ({"n_seed": 0, "synthesizer": "sdv"}, "'n_seed'"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_discrimination(1, **wrong)
    reference = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.raises(ValueError, match="n_seed=9 has no effect here"):
        make_discrimination(1, synthesizer="sdv", n_seed=9, reference=reference, protected="a")


@needs_sdv
def test_people_are_as_in_the_schema_and_satisfy_the_condition(fitted, capsys):
    sampler = SDVSampler(fitted, SCHEMA)
    everybody = sampler.sample(3000, random_state=0)
    ours = GaussianCopula(SCHEMA).sample(3000, random_state=0)
    assert everybody.dtypes.equals(ours.dtypes)
    for name in ("sex", "town", "rank"):
        shares = [f[name].value_counts(normalize=True, dropna=False) for f in (everybody, ours)]
        assert shares[0].sub(shares[1], fill_value=0).abs().max() < 0.05
    assert abs(everybody["age"].mean() - 40) < 1
    for predicates in (
        [Predicate.equals("sex", "F"), Predicate.equals("rank", 3)],
        [Predicate.equals("town", None), Predicate.between("age", high=35)],
        [Predicate.isin("rank", [1, 3]), Predicate.between("age", 30, 40)],
    ):
        group = Subgroup(predicates)
        people = sampler.sample(150, group, random_state=1)
        assert len(people) == 150
        assert group.mask(people).all()
        assert people.dtypes.equals(ours.dtypes)
        again = sampler.sample(150, group, random_state=1)
        pd.testing.assert_frame_equal(people, again)
        assert not people.equals(sampler.sample(150, group, random_state=2))
        assert sampler.probability(group) == pytest.approx(group.mask(everybody).mean(), abs=0.03)
    assert len(sampler.sample(0, random_state=0)) == 0
    assert capsys.readouterr() == ("", "")


@needs_sdv
def test_what_is_numeric_in_the_schema_only_is_numeric_to_sdv(fitted):
    columns = fitted.get_metadata().to_dict()["tables"]["people"]["columns"]
    kinds = {name: column["sdtype"] for name, column in columns.items()}
    assert kinds == dict.fromkeys(("sex", "town", "rank"), "categorical") | {"age": "numerical"}


@needs_sdv
def test_prescriptive():
    asked = {**SMALL, "schema": SCHEMA, "synthesizer": "sdv", "n_seed": 2000, "bias": 2.0}
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    made = make_discrimination(**asked, random_state=3)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    pd.testing.assert_frame_equal(made.frame, make_discrimination(**asked, random_state=3).frame)
    assert not made.frame.equals(make_discrimination(**asked, random_state=4).frame)
    assert made.schema is SCHEMA
    truth, rows = made.truth, made.truth.rows
    assert len(truth.groups) == 2
    for k, group in enumerate(truth.subgroups):
        np.testing.assert_array_equal(group.mask(made.data), truth._origin == k)
    assert (rows["subgroup_key"].isna()).sum() == 200
    # the effect is that of other people from the same synthesizer
    pair = truth.groups.iloc[0]
    people = [truth.sample(8000, g, random_state=9) for g in (pair.subgroup_a, pair.subgroup_b)]
    p = [truth.oracle.predict_proba(f)[:, 1] for f in people]
    error = np.hypot(pair.effect_error, np.hypot(*[v.std() / np.sqrt(8000) for v in p]))
    assert abs(p[0].mean() - p[1].mean() - pair.effect) < 4 * error
    assert 0 < pair.effect_error < 0.01


@needs_sdv
def test_descriptive():
    reference = GaussianCopula(SCHEMA).sample(1500, random_state=0).assign(pay=1)
    made = make_discrimination(
        **SMALL,
        reference=reference,
        protected="sex",
        target="pay",
        synthesizer="sdv",
        random_state=0,
    )
    assert list(made.data) == ["sex", "town", "rank", "age"]
    assert made.data.dtypes.equals(reference.drop(columns="pay").dtypes)
    assert len(made.truth.subgroups) == 4
    assert made.arguments["n_seed"] is None


@needs_sdv
def test_a_fitted_synthesizer_as_an_object(fitted):
    fitted.reset_sampling()
    before = fitted.sample(5)
    fitted.reset_sampling()
    made = make_discrimination(
        **SMALL, synthesizer=fitted, protected="sex", n_seed=1000, random_state=0
    )
    assert made.schema.names == SCHEMA.names
    assert made.protected == ["sex"]
    assert len(made.data) >= 200
    for theirs, again in zip(before.values(), fitted.sample(5).values(), strict=True):
        pd.testing.assert_frame_equal(theirs, again)  # the object was left as it was
    fitted.reset_sampling()
    with_schema = make_discrimination(**SMALL, synthesizer=fitted, schema=SCHEMA, random_state=0)
    assert with_schema.schema is SCHEMA
    few = Schema([SEX, Attribute("town", values=("a", "b")), RANK, AGE])
    with pytest.raises(ValueError, match="'town' values such as nan, which the schema does not"):
        make_discrimination(**SMALL, synthesizer=fitted, schema=few, random_state=0)


@needs_sdv
def test_a_synthesizer_of_another_kind():
    names = {n: {"sdtype": "categorical"} for n in ("sex", "rank")}
    people = GaussianCopula(SCHEMA).sample(500, random_state=0)[["sex", "rank"]].astype(object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sdv.metadata import Metadata
        from sdv.single_table import CTGANSynthesizer

        metadata = Metadata.load_from_dict({"tables": {"staff": {"columns": names}}})
        network = CTGANSynthesizer(metadata, epochs=1, enable_gpu=False)
        with pytest.raises(ValueError, match="CTGANSynthesizer has not been fitted"):
            make_discrimination(1, synthesizer=network, protected="sex", n_seed=9)
        network.fit({"staff": people})
    asked = {**SMALL, "n_pairs": 1, "synthesizer": network, "protected": "sex", "n_seed": 500}
    first, again = (make_discrimination(**asked, random_state=0) for _ in range(2))
    pd.testing.assert_frame_equal(first.frame, again.frame)
    for k, group in enumerate(first.truth.subgroups):
        assert (group.mask(first.data) == (first.truth._origin == k)).all()


@needs_sdv
def test_who_cannot_be_had(fitted):
    sampler = SDVSampler(fitted, SCHEMA)
    with pytest.raises(ValueError, match="Too few of the people that the synthesizer draws"):
        sampler.sample(5, Predicate.between("age", low=500), random_state=0)
