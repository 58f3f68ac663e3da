"""Reports of a monitor, one after the other: what follows from their differences."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdisc import Predicate, Subgroup
from skdisc.monitoring import DisparityMonitor, _last_shown
from skdisc.monitoring._last_shown import LastShown, log_of_two_digits

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import follow  # noqa: E402

sys.path.remove(str(ROOT))

WOMEN_IN_U = Subgroup([Predicate.equals("sex", "f"), Predicate.equals("town", "u")])
WORLDS = {
    "two columns": {"protected": ["sex", "race"]},
    "a rare value": {"protected": "race"},
    "intersections": {"protected": ["sex", "race"], "intersections": 2},
    "strata": {"protected": "race", "strata": ["sex", "town"]},
    "contexts": {
        "protected": "sex",
        "subgroups": [WOMEN_IN_U, Subgroup([Predicate.equals("sex", "m")])],
    },
}


def batches(seed, n_batches, largest=25):
    """Yield batches of few people; the third race is rare."""
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        n = rng.integers(1, largest)
        X = pd.DataFrame({name: rng.choice(list(v), n) for name, v in (("sex", "fm"),)})
        X["race"], X["town"] = rng.choice(list("abc"), n, p=[0.6, 0.36, 0.04]), "u"
        X.loc[rng.random(n) < 0.3, "town"] = "v"
        yield X, (rng.random(n) < 0.4 + 0.2 * (X["race"] == "a")).astype(int)


def read(monitor):
    """Return the rows of the JSON of a report, by the name of the group."""
    d = json.loads(monitor.result_.without_people().to_json())["discovery"]
    table, names = (
        d["findings"]["table"],
        [str(s) for s in monitor.result_.without_people().findings.subgroups],
    )
    rows = dict(zip(table["columns"], table["data"], strict=True))
    return {
        name: tuple(rows[c][i] for c in ("support", "support_rest", "outcome", "outcome_rest"))
        for i, name in enumerate(names)
    }


def sides_of(name, X):
    """Return who is in a group that a report names, and the others of its context."""
    conditions = {c.split(" = ")[0]: c.split("'")[1] for c in name.split(" and ")}
    inside = np.logical_and.reduce([X[c] == v for c, v in conditions.items()])
    context = X["town"] == conditions["town"] if "town" in conditions else np.ones(len(X), bool)
    return inside & context, ~inside & context


def attacked(seed, world, n_batches=20):
    """Return how many sets of fewer than ten people follow from all reports, and how many sums.

    The attacker knows who came in which batch, and all columns. Sets are all that columns describe
    (people of a group, its others, or of one combination of values) and came in successive batches.
    """
    monitor, X, known = DisparityMonitor(**WORLDS[world], random_state=0), None, {}
    sums, first = [], 0
    for i, (more, y) in enumerate(batches(seed, n_batches)):
        more = more.assign(batch=i)
        X = more if X is None else pd.concat([X, more], ignore_index=True)
        report = read(monitor.partial_fit(more.drop(columns="batch"), y))
        changed = [name for name, row in report.items() if known.get(name) != row]
        for name in changed:
            since = first if name in known else 0  # a row of few is left out at first
            own = [side & (X["batch"] >= since).to_numpy() for side in sides_of(name, X)]
            n = np.array([side.sum() for side in own])
            if not (n + (known[name][:2] if name in known else 0) == report[name][:2]).all():
                assert name not in known
                own = [side & (X["batch"] >= first).to_numpy() for side in own]
                assert [side.sum() for side in own] == list(report[name][:2])
            sums += own  # a row grows by those who came since
        known, first = report, i + 1 if changed else first
    sums = np.array([np.pad(side, (0, len(X) - len(side))) for side in sums], dtype=bool)
    _, cell, n = np.unique(X.astype(str).sum(axis=1), return_inverse=True, return_counts=True)
    place = np.unique(cell, return_index=True)[1]
    goals = [g[place] for g in few_of(X, known)]
    goals = np.unique(np.array([g for g in goals if 0 < n @ g < 10], dtype=int), axis=0)
    return int(follow(sums[:, place].astype(int), goals).sum()), len(sums), len(goals)


def few_of(X, names):
    """Yield sets of people of successive batches."""
    masks = [side for name in names for side in sides_of(name, X)]
    text = X[["sex", "race", "town"]].sum(axis=1)
    masks += [np.ones(len(X), bool), *((text == t).to_numpy() for t in text.unique())]
    masks += [(X[c] == v).to_numpy() for c in ("sex", "race") for v in X[c].unique()]
    batch = X["batch"].to_numpy()
    for first in range(batch.max() + 1):
        for last in range(first, batch.max() + 1):
            since = (batch >= first) & (batch <= last)
            yield from (since & mask for mask in masks)


QUICK = [("contexts", range(1))]
SLOW = [
    pytest.param(world, range(1, 4), marks=pytest.mark.slow, id=f"many {world}") for world in WORLDS
]


@pytest.mark.parametrize(("world", "seeds"), [*QUICK, *SLOW])
def test_nothing_follows_about_few_people_from_successive_reports(world, seeds):
    found = [attacked(seed, world) for seed in seeds]
    assert sum(n for n, *_ in found) == 0 < sum(n for _, n, _ in found)
    assert min(n for *_, n in found) > 100


@pytest.mark.parametrize("without", ["waiting", pytest.param("the choice", marks=pytest.mark.slow)])
def test_the_attack_finds_what_a_simpler_rule_leaves(without, monkeypatch):
    """Rows that are renewed with each batch, or each as soon as it has enough new people."""
    if without == "waiting":
        monkeypatch.setattr(_last_shown, "LEAST", 1)
    monkeypatch.setattr(_last_shown, "_LATE", (0, 0.0))
    monkeypatch.setattr(LastShown, "_chosen", lambda self, groups, enough: enough)
    assert attacked(0, "a rare value")[0] > 0


@pytest.mark.slow
def test_a_report_does_not_depend_on_people_who_wait():
    """Nor do its history, notes and bounds; the verdict is that of all people."""
    monitor = DisparityMonitor(protected=["sex", "race"], random_state=0)
    for X, y in batches(0, 12):
        monitor.partial_fit(X, y)
    state = monitor.to_json()
    X, y = next(batches(5, 1))
    reports, exact = [], []
    for outcome in (y, 1 - y):
        again = DisparityMonitor.from_json(state).partial_fit(X, outcome)
        reports.append(again.result_.without_people())
        exact.append(again.result_)
    assert reports[0] == reports[1]
    assert exact[0] != exact[1]  # the object has the numbers of all people
    n = f"those after {monitor._memory.shown.n_people} people. They are renewed when so many"
    assert any(n in note for note in reports[0].notes)
    history = reports[0].tables["history"]
    assert set(history["n"]) < set(exact[0].tables["history"]["n"])


def test_a_verdict_of_people_who_wait_says_so(monkeypatch):
    monkeypatch.setattr(_last_shown, "_LATE", (10**6, 0.1))
    rng = np.random.default_rng(0)
    monitor = DisparityMonitor(protected="race", random_state=0)
    X = pd.DataFrame({"race": np.repeat(["a", "b"], [60, 60])})
    monitor.partial_fit(X, rng.integers(0, 2, 120))
    X = pd.DataFrame({"race": [*"ab" * 20_000, "c"]})  # for whom the others wait
    monitor.partial_fit(X, rng.integers(0, 2, len(X)))
    shown = monitor.result_.without_people()
    assert shown.verdict == monitor.result_.verdict == "no disparity found"
    assert shown.answer.bound > 0.1 > monitor.result_.answer.bound
    assert (
        shown.reason == "by all people so far, of whom the numbers below do not have the last ones"
    )


@pytest.mark.slow
def test_an_older_state_counts_as_shown():
    monitor = DisparityMonitor(protected=["sex", "race"], random_state=0)
    for X, y in batches(0, 12):
        monitor.partial_fit(X, y)
    state = json.loads(monitor.to_json())
    del state["stream"]["shown"]
    again = DisparityMonitor.from_json(json.dumps(state))
    exact = monitor.result_.findings.table[["support", "effect"]].sort_values("support")
    shown = again.result_.without_people().findings.table[["support", "effect"]]
    expected = exact[exact["support"] >= 10].to_numpy()
    np.testing.assert_allclose(shown.sort_values("support").to_numpy(), expected)
    assert (
        again.partial_fit(X.head(3), y[:3]).result_.without_people().findings.table["support"].sum()
        == shown["support"].sum()
    )


@pytest.mark.parametrize(
    ("value", "rounded"), [(1, 1), (25.4, 25), (0.00129, 0.0012), (1e300, 1e300), (99.9, 99)]
)
def test_wealths_have_two_digits(value, rounded):
    assert np.exp(log_of_two_digits(np.log(value))) == pytest.approx(rounded, rel=1e-9)
    assert log_of_two_digits(-np.inf) == -np.inf


def test_damaged_numbers_that_were_shown_are_refused():
    monitor = DisparityMonitor(protected="sex", random_state=0)
    for X, y in batches(0, 6):
        monitor.partial_fit(X, y)
    for change in (
        {"rows": []},
        {"n_people": "many"},
        {"waiting": [[["sex = 'f'"], -1]]},
        {"history": [{"n": 1}]},
    ):
        state = json.loads(monitor.to_json())
        state["stream"]["shown"] |= change
        with pytest.raises(ValueError, match="not the state of a DisparityMonitor"):
            DisparityMonitor.from_json(json.dumps(state))


def test_groups_without_numbers_are_counted_and_the_bound_is_not_about_them():
    """Of 1,000 people, 322 and 52 of two groups had no row, and no word said so."""
    draw = np.random.default_rng(5)
    monitor, n_said = DisparityMonitor(protected="race"), 0
    for n_seen in range(1, 5):
        race = draw.permutation(np.repeat(["a", "b", "c"], [150, 88, 12]))
        monitor.partial_fit(pd.DataFrame({"race": race}), draw.integers(0, 2, 250))
        shown = monitor.result_.without_people()
        n_hidden = 3 - len(shown.to_frame())
        said = [note for note in shown.notes if note.startswith("No numbers are shown yet of")]
        assert len(said) == (0 < n_hidden < 3)
        if said:
            n_said += 1
            assert f"of {n_hidden} group" in said[0]
            assert "How large gaps may be is said of the groups that are shown" in said[0]
        assert n_seen < 4 or n_said


def test_where_nothing_is_shown_no_group_is_said_to_wait_for_the_others():
    """A group of fewer than ten people is no group whose numbers are shown."""
    X = pd.DataFrame({"race": ["a"] * 30 + ["b"] * 4})
    monitor = DisparityMonitor(protected="race").partial_fit(X, np.arange(34) % 2)
    shown = monitor.result_.without_people()
    assert not len(shown.to_frame())
    assert "No numbers are shown yet" not in " ".join(shown.notes)
