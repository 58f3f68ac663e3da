"""Public audits of numbers: no figure tells the number of one person, nor two figures together."""

import json
import re
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Audit, AuditReport, BlackBox
from skdisc._stats._printed_sums import PrintedSums
from skdisc.auditing._numbers import banded
from skdisc.auditing._public import merged
from skdisc.cli import main

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import follow, table  # noqa: E402

sys.path.remove(str(ROOT))


def pay_of(X, seed):
    """Pay that depends on a column, of which a few people have far more than all others."""
    rng = np.random.default_rng(seed)
    pay = 2000 * np.exp(rng.normal(0, 0.3, len(X)) + 0.1 * (X["p"] == X["p"].mode()[0]))
    pay[rng.random(len(X)) < 0.01] *= 20
    return pd.Series(pay, name="pay")


def bonus_of(X, seed):
    """A bonus that few get, one of them a hundred times as much."""
    rng = np.random.default_rng(seed)
    bonus = np.where(rng.random(len(X)) < 0.1, rng.uniform(100, 900, len(X)), 0.0)
    bonus[0] = 90_000.0
    return pd.Series(bonus, name="bonus")


def document(X, y, **settings):
    audit = Audit(protected=["p", "q"], disclosure="public", output="value", **settings)
    out = audit.fit(X, y).report_.document
    out["about"]["seconds"] = 0.0
    for line in out["log"]:
        line["seconds"] = 0.0
    return json.loads(json.dumps(out, default=str))


def moved_within_bands(y, min_cell, seed):
    """Return other numbers of the same people: the same bands, with the same middles."""
    rng, y = np.random.default_rng(seed), y.to_numpy(dtype=float)
    bands, moved = banded(y, 2 * min_cell), y.copy()
    for band in np.unique(bands):
        members = np.flatnonzero(bands == band)
        members = members[np.argsort(y[members], kind="stable")]
        n = len(members)
        # The one or two in the middle stay; others move on their side of them.
        for several, ends in (
            (members[: (n - 1) // 2], (y[members[0]], y[members[(n - 1) // 2]])),
            (members[n // 2 + 1 :], (y[members[n // 2]], y[members[-1]])),
        ):
            moved[several] = rng.uniform(*ends, len(several)) if ends[0] < ends[1] else ends[0]
    return pd.Series(moved)


@given(
    values=st.lists(
        st.one_of(st.floats(-1e6, 1e6), st.integers(0, 3).map(float)), min_size=1, max_size=150
    ),
    least=st.integers(1, 20),
)
def test_bands_have_enough_people_and_stay_in_order(values, least):
    raw = np.array(values)
    out = banded(raw, least)
    _, people = np.unique(out, return_counts=True)
    assert people.min() >= min(least, len(raw))
    assert len(people) <= 20
    order = np.argsort(raw, kind="stable")
    assert (np.diff(out[order]) >= 0).all()
    assert all(float(f"{v:.3g}") == v for v in out)
    np.testing.assert_array_equal(banded(out, least), out)


@pytest.mark.parametrize("seed", [2, 5])
@pytest.mark.parametrize("of", [pay_of, bonus_of])
def test_no_figure_depends_on_where_in_its_band_a_number_lies(seed, of):
    """Each person may have any number of the band: all figures of the document stay the same."""
    X, _ = table(seed)
    y = of(X, seed)
    moved = moved_within_bands(y, 10, seed)
    same = pd.Series(banded(y.to_numpy(), 20), name=y.name)
    assert (moved != y).mean() > 0.05
    first = document(X, y)
    assert first == document(X, same)
    np.testing.assert_array_equal(banded(moved.to_numpy(), 20), same)
    assert first == document(X, moved.rename(y.name))


def test_the_same_with_logarithms_and_where_less_is_better():
    X, _ = table(2)
    y = pay_of(X, 2)
    same = pd.Series(banded(y.to_numpy(), 20), name=y.name)
    settings = {"outcome_scale": "log", "pos_label": "low"}
    assert document(X, y, **settings) == document(X, same, **settings)


def test_an_internal_document_does_depend_on_single_numbers():
    """So that the tests above can fail."""
    X, _ = table(2)
    y = pay_of(X, 2)
    audit = Audit(protected=["p"], output="value", detectors=["GroupDisparity"])
    first = audit.fit(X, y).report_.document["groups"]
    y.iloc[y.argmax()] *= 3
    assert audit.fit(X, y).report_.document["groups"] != first


def test_no_figure_is_near_the_largest_number():
    X, _ = table(2)
    y = pay_of(X, 2)
    y.iloc[7] = 1e9
    numbers = re.findall(r"\d+(?:\.\d+)?(?:e\+?\d+)?", json.dumps(document(X, y)["groups"]))
    assert max(map(float, numbers)) < 1e6


def printed_groups(out, X):
    """Return the members of all groups with figures, of their contexts, and of the others there."""
    joined = pd.DataFrame({c: merged(X[c], 20) for c in X})
    everyone = np.ones(len(X), dtype=bool)
    texts = {(row["group"], row.get("attribute")) for row in out["groups"] if not row["suppressed"]}
    texts |= {(row["group"], row["attributes"][0]) for row in out["evidence"]}
    masks = [everyone]
    for text, attribute in texts:
        group = context = everyone
        for column, value in re.findall(r"(\w+) = '([^']*)'", text):
            mask = (joined[column] == value).to_numpy()
            group = group & mask
            context = context if column == attribute else context & mask
        masks += [group, context & ~group]
    return np.unique(np.array(masks), axis=0)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 20), marks=pytest.mark.slow)])
def test_no_sum_of_few_numbers_follows_from_two_figures_or_from_all(seeds):
    """Differences of any two printed groups, and linear combinations of all."""
    n_groups = 0
    for seed in seeds:
        X, _ = table(seed)
        masks = printed_groups(document(X, pay_of(X, seed)), X)
        n_groups += len(masks)
        for one, other in combinations(masks, 2):
            inside = one & ~other, other & ~one
            if not (inside[0].any() and inside[1].any()):  # one is a part of the other
                assert max(part.sum() for part in inside) >= 10
        raw = PrintedSums([merged(X[c], 20) for c in X], 10)
        small = raw.small.toarray().astype(int)
        assert len(small) > 0
        assert not follow(masks[:, raw.first].astype(int), small).any()
    assert n_groups > 10


def test_the_document_says_what_it_is():
    X, _ = table(2)
    out = document(X, pay_of(X, 2))
    text = " ".join(out["limits"])
    assert re.search(r"middle of their band, in three digits: \d+ bands of 20 people or", text)
    assert "This is a public document" in out["about"]["sentence"]
    assert {row["measure"] for row in out["groups"]} == {"mean"}


@pytest.mark.parametrize("output", ["value", "probability"])
def test_predictions_of_a_model_are_refused(output):
    X, y = table(2)
    audit = Audit(protected="p", disclosure="public", output=output)
    with pytest.raises(ValueError, match="pass its predictions as y"):
        audit.fit(X, y, BlackBox(decisions=np.arange(len(X)) % 2))


def test_the_command_line_writes_a_public_report_of_numbers(tmp_path):
    X, _ = table(2)
    hours = np.random.default_rng(0).choice([20.0, 40.0], len(X))
    path, report = tmp_path / "pay.csv", tmp_path / "pay.json"
    X.assign(hours=hours, pay=(pay_of(X, 2) * hours).round(2)).to_csv(path, index=False)
    asked = ["--target", "pay", "--number", "--hours", "hours", "--protected", "p,q"]
    assert main(["audit", str(path), *asked, "--public", "--report", str(report)]) in (0, 1, 3)
    out = AuditReport.from_json(report.read_text(encoding="utf-8")).document
    assert out["about"]["outcome"]["name"] == "pay per hour"
    assert "Numbers count as the middle" in " ".join(out["limits"])
    assert main(["verify", str(report), str(path)]) == 0
