"""SurnameGeocoding: brute-force Bayes on a joint law, what is unknown, and how names compare."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from skdisc.exceptions import SkdiscWarning
from skdisc.group import ProxyDisparity
from skdisc.group._proxy_disparity._calibration import calibration_table
from skdisc.preprocessing import SurnameGeocoding

GROUPS = ["black", "white", "asian"]
NAMES, TOWNS, FIRST = ["Washington", "Müller", "Kim"], ["02139", "60601"], ["Ann", "Bo", "Cy"]


def joint_law(seed):
    """Return P(group, surname, town, first name); these are independent given the group."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet([1] * 3)
    surname, town, first = (rng.dirichlet([0.5] * k, 3) + 1e-6 for k in (3, 2, 3))
    law = np.einsum("r,rs,rg,rf->rsgf", share, surname, town, first)
    return law / law.sum()


def tables_of(law, n=1e6):
    """Return the numbers of people by group and surname, town and first name."""
    own = {"surnames": ((2, 3), NAMES), "places": ((1, 3), TOWNS), "first_names": ((1, 2), FIRST)}
    return {k: pd.DataFrame(n * law.sum(out).T, who, GROUPS) for k, (out, who) in own.items()}


def everyone():
    return pd.DataFrame(
        [(s, g, f) for s in NAMES for g in TOWNS for f in FIRST], columns=["surname", "place", "f"]
    )


def by_bayes(law):
    """Return P(group | surname, town, first name), one row for each combination."""
    return (law / law.sum(axis=0)).reshape(len(law), -1).T


def geocoding(law, **more):
    tables = tables_of(law)
    return SurnameGeocoding(**{**tables, "first_name": "f", "prior": 0.0, **more})


@settings(max_examples=25)
@given(st.integers(0, 2**16))
def test_it_is_bayes_on_the_joint_law(seed):
    law = joint_law(seed)
    found = geocoding(law).fit_transform(everyone())
    assert list(found) == ["p_black", "p_white", "p_asian"]
    assert found.to_numpy() == pytest.approx(by_bayes(law), abs=1e-9)
    assert found.sum(axis=1).to_numpy() == pytest.approx(1)
    without = geocoding(law, first_names=None, first_name=None).fit_transform(everyone())
    law = np.repeat(law.sum(axis=3, keepdims=True), 3, axis=3)
    assert without.to_numpy() == pytest.approx(by_bayes(law), abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.integers(0, 2**16))
def test_the_order_of_rows_and_groups_does_not_matter(seed, other):
    law, rng = joint_law(seed), np.random.default_rng(other)
    X = everyone()
    first = geocoding(law, prior=2.0).fit_transform(X)
    mixed = {k: t.sample(frac=1, random_state=other) for k, t in tables_of(law).items()}
    mixed["surnames"] = mixed["surnames"][rng.permutation(GROUPS)]
    again = SurnameGeocoding(**mixed, first_name="f", prior=2.0)
    X = X.sample(frac=1, random_state=other)
    found = again.fit(X).transform(X)
    assert found.index.equals(X.index)
    pd.testing.assert_frame_equal(found.sort_index()[list(first)], first)


@settings(max_examples=25)
@given(st.integers(0, 2**16))
def test_names_and_places_may_change_roles(seed):
    """P(r | s) P(g | r) and P(r | g) P(s | r) are one law; only names are normalized more."""
    law, X = joint_law(seed), everyone()
    tables = tables_of(law)
    of_names = SurnameGeocoding(tables["surnames"], tables["places"], prior=0.0)
    of_places = SurnameGeocoding(
        tables["places"], tables["surnames"], surname="place", place="surname", prior=0.0
    )
    expected = of_names.fit_transform(X)
    assert of_places.fit_transform(X).to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.sampled_from(["surname", "place", "f"]))
def test_what_no_table_has_is_not_observed(seed, column):
    law, X = joint_law(seed), everyone()
    axis = 1 + list(X).index(column)
    marginal = np.broadcast_to(law.sum(axis=axis, keepdims=True), law.shape)
    with pytest.warns(SkdiscWarning, match=f"18 of 18 values of column '{column}'.*'other'"):
        model = geocoding(law).fit(X.assign(**{column: "other"}))
    found = model.transform(X.assign(**{column: "other"}))
    assert found.to_numpy() == pytest.approx(by_bayes(marginal), abs=1e-9)
    assert model.unknown_ == {c: len(X) * (c == column) for c in X}


def test_without_a_known_name_and_place_nothing_is_known():
    X = everyone().assign(surname=[NAMES[0], *["other"] * 17], place="elsewhere")
    with pytest.warns(SkdiscWarning, match=r"(17|18) of 18 .*e\.g\. '(other|elsewhere)'"):
        found = geocoding(joint_law(0)).fit_transform(X)
    assert found.notna().all(axis=1).tolist() == [True] + [False] * 17


@pytest.mark.parametrize("column", ["surname", "place", "f"])
def test_what_is_missing_is_missing(column):
    X = everyone()
    X.loc[[2, 5], column] = None
    model = geocoding(joint_law(0)).fit(X)
    found = model.transform(X)
    assert found.index[found.isna().any(axis=1)].tolist() == [2, 5]
    assert set(model.unknown_.values()) == {0}


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.floats(0.1, 100))
def test_the_prior_adds_people_of_the_composition_of_the_table(seed, prior):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (3, 3)) + np.diag([1, 1, 1])
    table = pd.DataFrame(counts, NAMES, GROUPS)
    places = pd.DataFrame(rng.integers(1, 9, (2, 3)), TOWNS, GROUPS)
    found = SurnameGeocoding(table, places, prior=prior).fit_transform(everyone())
    share = counts.sum(0) / counts.sum()
    of_name = (counts + prior * share) / (counts.sum(1, keepdims=True) + prior)  # E[Dirichlet]
    whole = places.to_numpy()
    of_place = whole + prior * whole.sum(0) / whole.sum()
    product = of_name[:, None] * (of_place / of_place.sum(0))[None]
    expected = (product / product.sum(axis=2, keepdims=True)).reshape(-1, 3).repeat(3, axis=0)
    assert found.to_numpy() == pytest.approx(expected)
    assert ((found > 0) & (found < 1)).all(axis=None)


def test_a_name_that_contradicts_its_place_is_undefined_without_a_prior():
    names = pd.DataFrame({"a": [9, 1], "b": [0, 9]}, ["Ek", "Po"])
    places = pd.DataFrame({"a": [0, 5, 0], "b": [5, 5, 0]}, ["here", "there", "nowhere"])
    X = pd.DataFrame({"surname": ["Ek", "Po", "Po"], "place": ["here", "here", "nowhere"]})
    model = SurnameGeocoding(names, places, prior=0)
    found = model.fit_transform(X)
    assert found.iloc[0].isna().all()
    assert found.iloc[1].tolist() == [0, 1]
    assert found.iloc[2].tolist() == pytest.approx([0.1, 0.9])
    assert model.unknown_ == {"surname": 0, "place": 1}  # nobody lives there
    found = SurnameGeocoding(names, places).fit_transform(X)
    assert found.notna().all(axis=None)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("  o'brien ", "O BRIEN"),
        ("García-López", "garcia lopez"),
        ("de la Cruz", "DELACRUZ"),
        ("Smith, Jr.", "smith"),
        ("SMITH III", "Smith"),
        ("Grün", "Gru\u0308n"),
        ("Weiß", "WEISS"),
        ("Søren", "Soren"),
    ],
)
def test_names_that_are_one(name, same):
    places = pd.DataFrame({"a": [1], "b": [1]}, ["here"])
    names = pd.DataFrame({"a": [3, 1, 1], "b": [1, 5, 0]}, [same, "Jr", name])
    X = pd.DataFrame({"surname": [name, same, "jr"], "place": ["here", "HERE ", " Here"]})
    found = SurnameGeocoding(names, places, prior=0).fit(X)
    assert found.unknown_ == {"surname": 0, "place": 0}
    assert found.transform(X)["p_a"].tolist() == pytest.approx([0.8, 0.8, 1 / 6])  # rows add up


def test_numbers_name_places():
    places = pd.DataFrame({"a": [1, 2], "b": [1, 0]}, ["2139", "17"])
    names = pd.DataFrame({"a": [1], "b": [1]}, ["x"])
    X = pd.DataFrame({"surname": "x", "place": [2139.0, 17.0, np.nan]})
    model = SurnameGeocoding(names, places).fit(X)
    assert model.unknown_["place"] == 0
    assert model.transform(X)["p_a"].isna().tolist() == [False, False, True]


def test_a_detector_reads_the_columns():
    law = joint_law(3)
    rng = np.random.default_rng(0)
    X = everyone().sample(600, replace=True, random_state=0).assign(income=rng.normal(size=600))
    coded = ColumnTransformer(
        [("group", geocoding(law), ["surname", "place", "f"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    detector = ProxyDisparity(protected=[f"p_{g}" for g in GROUPS], learner="linear")
    pipe = make_pipeline(coded, detector).fit(X, rng.integers(0, 2, 600))
    assert set(pipe[0].get_feature_names_out()) == {"p_black", "p_white", "p_asian", "income"}
    subjects = pipe[-1].result_.to_frame()["subject"].astype(str)
    assert sorted(subjects) == [f"group of p_{g}" for g in sorted(GROUPS)]


def test_arrays_give_arrays():
    law = joint_law(0)
    X = everyone()
    named = {"surname": 0, "place": 1, "first_name": 2}
    found = geocoding(law, **named).fit(X.to_numpy()).transform(X.to_numpy())
    assert isinstance(found, np.ndarray)
    assert found == pytest.approx(geocoding(law).fit_transform(X).to_numpy())


NAMED = pd.DataFrame({"a": [3.0, 1], "b": [1.0, 2]}, ["x", "y"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"surnames": None}, r"surnames is None"),
        ({"places": None}, r"places is None"),
        ({"first_names": NAMED}, r"first_names is given, and first_name is None"),
        ({"first_name": "f"}, r"first_name='f' is given, and first_names is None"),
        ({"places": NAMED.rename(columns={"a": "z"})}, r"places has the columns \['z', 'b'\]"),
        ({"surnames": NAMED - 2}, r"surnames holds -1\.0 in row 'x', column 'b'"),
        ({"surnames": NAMED.assign(a=[1, None])}, r"surnames holds nan in row 'y', column 'a'"),
        ({"surnames": NAMED.astype(str) + "%"}, r"surnames has text in column 'a'"),
        ({"surnames": NAMED.div(NAMED.sum(axis=1), axis=0)}, r"adds up to 1\b.*numbers of people"),
        ({"places": NAMED.assign(a=0)}, r"places has nobody in column 'a'"),
        ({"surnames": NAMED[["a"]]}, r"surnames has 1 column"),
        ({"places": NAMED.set_axis(["x", None])}, r"places has a missing name.*keep_default_na"),
        ({"surname": None}, r"surname must name one column of X, got None"),
        ({"surname": pd.NA}, r"surname must name columns of X, got <NA>"),
        ({"surname": "name"}, r"surname='name' is not a column"),
    ],
)
def test_tables_that_cannot_be_right(changed, message):
    X = pd.DataFrame({"surname": ["x", "y"], "place": ["x", "y"], "f": ["x", "y"]})
    with pytest.raises(ValueError, match=message):
        SurnameGeocoding(**{"surnames": NAMED, "places": NAMED, **changed}).fit(X)


@pytest.mark.statistics
@pytest.mark.parametrize("clustered", [False, True])
def test_names_that_cluster_in_places_are_found_where_groups_are_known(clustered):
    """The tables are right in both worlds; in one, a name of a group lives in one town only."""
    surname, town = np.array([[0.5, 0.4, 0.1], [0.2, 0.6, 0.2]]), np.array([[0.6, 0.4], [0.3, 0.7]])
    law = np.array([0.3, 0.7])[:, None, None] * surname[:, :, None] * town[:, None, :]
    enclave = law.copy()
    enclave[0] = 0.3 * np.array([[0.5, 0.0], [0.1, 0.3], [0.0, 0.1]])
    assert enclave.sum(axis=1) == pytest.approx(law.sum(axis=1))
    assert enclave.sum(axis=2) == pytest.approx(law.sum(axis=2))
    names, towns = (pd.DataFrame(1e6 * law.sum(axis=k).T, columns=GROUPS[:2]) for k in (2, 1))
    codes, alarms = SurnameGeocoding(names.set_axis(NAMES), towns.set_axis(TOWNS), prior=0.0), []
    for seed in range(200):
        rng, world = np.random.default_rng(seed), enclave if clustered else law
        r, s, g = np.unravel_index(rng.choice(world.size, 500, p=world.ravel()), world.shape)
        X = pd.DataFrame({"surname": np.array(NAMES)[s], "place": np.array(TOWNS)[g]})
        q = codes.fit_transform(X)["p_black"].to_numpy()
        table = calibration_table({"p_black": q}, {"p_black": r == 0}, "holm", 0.05)
        alarms.append(table["p_value"][0] <= 0.05)
    share = np.mean(alarms)
    assert share >= 0.95 if clustered else share <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)
