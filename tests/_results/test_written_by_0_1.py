"""Results that version 0.1 wrote can be read, and are found again by the same settings."""

import json
import math
from pathlib import Path

import pytest
from write_results import RUNS, outcomes

from skdisc import AuditResult, all_detectors, report

FOLDER = Path(__file__).parent / "written_by_0_1"
FILES = sorted(path.name for path in FOLDER.glob("*.json") if path.stem != "scores")
CLOSE = {"rel_tol": 1e-9, "abs_tol": 1e-12}  # on one machine they are equal
UNTOLD = {"total_time", "versions", "notes", "versus", "dtypes", "schema_version"}  # may differ
RENAMED = {"store_neighbours": "store_neighbors"}  # settings with another name since
LATER = {"shared_values", "null", "judgment", "equivalence"}  # what results have since
CHANGED = {n for n in RUNS if n.endswith("_weighted")}  # weights have another meaning since
TAILS = ("p_value", "p_adjusted", "test")  # columns about p-values
ENDS = ("ci_low", "ci_high")  # of CounterfactualFairness, no longer interpolated
SEARCHED = {"n_tested", "by_value", "min_detectable_gap", "smallest_gap", "reached_by"}
WORDS = {"seconds", "reason"}  # columns that may
BRITISH, AMERICAN = "avourable", "avorable"  # as version 0.1 spelled it, as later ones do


def read(name):
    return (FOLDER / name).read_text()


def test_every_detector_of_0_1_wrote_a_result():
    assert {RUNS[name][0] for name in RUNS} <= set(all_detectors())
    assert {f"{name}.json" for name in RUNS} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_what_0_1_wrote_is_read(name):
    data = json.loads(read(name))
    result = AuditResult.from_json(read(name))
    now = of_one_pandas(result.to_dict())
    assert (now["schema_version"], now.pop("null"), now["discovery"].pop("judgment")) == (
        2,
        "",
        None,
    )
    assert {**now, "schema_version": 1} == of_one_pandas(data)
    assert AuditResult.from_dict(result.to_dict()) == result
    assert len(result) == len(list(result)) == len(result.to_frame())
    assert all(str(finding) for finding in result)
    own = "pairs" if data["discovery"]["findings"]["kind"] == "case" else "subgroups"
    assert len(result.to_frame(own)) >= len(result)
    for table, written in data["discovery"]["tables"].items():
        assert list(result.tables[table]) == written["columns"]
    assert result.detector in report.to_text(result)
    assert result.detector in report.to_html(result)
    assert result.detector in report.to_markdown(result)


def of_one_pandas(data):
    """Return the data of a result with one name for text, which has two among pandas' versions."""
    if isinstance(data, dict):
        return {
            key: ["str" if d == "object" else d for d in value]
            if key == "dtypes"
            else of_one_pandas(value)
            for key, value in data.items()
        }
    return [of_one_pandas(v) for v in data] if isinstance(data, list) else data


@pytest.mark.parametrize("name", [name for name in RUNS if name not in CHANGED])
def test_what_0_1_found_is_found(name):
    at_fit, again, own = outcomes(name)
    written = json.loads(read(f"{name}.json"))
    other = differences(as_then(at_fit.to_dict(), written), written)
    if RUNS[name][0] == "BiasScan":  # it looks at other subsets on its way since 0.2
        other = (d for d in other if not SEARCHED & set(d[0].split("/")))
    assert list(other) == []
    if f"{name}-audit.json" in FILES:
        written = json.loads(read(f"{name}-audit.json"))
        assert list(differences(as_then(again.to_dict(), written), written)) == []
    assert list(differences(own, json.loads(read("scores.json"))[name])) == []


def as_then(now, written):
    """Return a result without the share of people with a case, and the queries for it.

    Searches, Themis and ExactTree have estimated it since 0.2, in the first row of the estimates.
    In an audit it was there under another name, with an interval for other people than those of X.
    """
    now = with_first_rules(with_single_intervals(now, written))
    if "transported" in (tables := now["discovery"]["tables"]):  # its name since 0.2
        tables = tables | {"pairs": tables["transported"]}
        now = {**now, "discovery": {**now["discovery"], "tables": tables}}
    estimates = now["discovery"]["estimates"]
    if not estimates or estimates["data"][0][:1] != ["share of people with a case"]:
        return now
    columns, then = estimates["data"], written["discovery"]["estimates"]["data"]
    if then[0] == ["share of the rows of X with a case"]:
        kept = [then[0], columns[1], then[2], then[3], columns[4]]
    else:
        kept = [column[1:] for column in columns]
    if now["params"].get("scope") == "each":  # a case that ends the seeds is no draw since 0.2
        kept = [kept[0], kept[1], then[2], kept[3], then[4]]
    own = {**now["discovery"], "estimates": {**estimates, "data": kept}}
    return {**now, "n_queries": written["n_queries"], "discovery": own}


def with_first_rules(now):
    """Return a result of SliceFinder with the names of its table of rules in 0.1, from 0."""
    tables = now["discovery"]["tables"]
    if "feature_name" not in tables.get("rules", {}).get("columns", []):
        return now
    own = dict(zip(tables["rules"]["columns"], tables["rules"]["data"], strict=True))
    own["feature"], own["val_diff_outcome"] = own.pop("feature_name"), own.pop("effect")
    own["order"] = [number - 1 for number in own["order"]]
    del own["effect_size"]
    rules = {**tables["rules"], "columns": list(own), "data": list(own.values())}
    return {**now, "discovery": {**now["discovery"], "tables": {**tables, "rules": rules}}}


def with_single_intervals(now, written):
    """Return a result of GroupDisparity without the intervals of its findings.

    They have had the level of the false coverage rate since 0.2, and a column that says so; those
    of single groups are in the table of measures, which is compared.
    """
    found, then = (data["discovery"]["findings"].get("table") for data in (now, written))
    if not found or "ci_significance" not in found["columns"]:
        return now
    kept = dict(zip(found["columns"], found["data"], strict=True))
    del kept["ci_significance"]
    old = dict(zip(then["columns"], then["data"], strict=True))
    kept |= {name: old[name] for name in ("ci_low", "ci_high")}
    table = {**found, "columns": list(kept), "data": list(kept.values())}
    findings = {**now["discovery"]["findings"], "table": table}
    return {**now, "discovery": {**now["discovery"], "findings": findings}}


def differences(now, written, at=""):
    """Yield what is not as it was: where, what it is, what it was."""
    if isinstance(written, dict):
        now, written = without_words(now), without_words(written)
        if at == "/params":  # others may come
            written = {RENAMED.get(key, key): value for key, value in written.items()}
            now = {key: value for key, value in now.items() if key in written}
        now = {key: value for key, value in now.items() if key not in LATER}
        if at.startswith("/discovery/tables"):  # tables, and their columns, may be added
            now = {key: value for key, value in now.items() if key in written}
        now, written = without_tails(now, written), without_tails(written, written)
        if now.keys() != written.keys():
            yield at, sorted(now), sorted(written)
        interpolated = ENDS if at == "/discovery/tables/effects" else ()
        for key in now.keys() & written.keys() - UNTOLD - set(interpolated):
            yield from differences(now[key], written[key], f"{at}/{key}")
    elif isinstance(written, list) and isinstance(now, list) and len(now) == len(written):
        for i, pair in enumerate(zip(now, written, strict=True)):
            yield from differences(*pair, f"{at}/{i}")
    elif not alike(now, written):
        yield at, now, written


def without_tails(table, written):
    """Return a table without p-values of rows where 0.1 had one below .001: they are exact now."""
    p_values = written.get("p_value")
    if not isinstance(p_values, list) or not isinstance(table.get("p_value"), list):
        return table
    keep = [i for i, p in enumerate(p_values) if p is None or not p < 1e-3]
    small = {name: [table[name][i] for i in keep] for name in TAILS if name in table}
    return {**table, **small}


def without_words(data):
    """Return a table as a dict of its columns, without those that may differ."""
    if "data" not in data:
        return data
    columns = zip(data["columns"], data["data"], strict=True)
    return {name: values for name, values in columns if name not in WORDS}


def alike(now, written):
    if isinstance(now, float) and isinstance(written, float):
        return math.isclose(now, written, **CLOSE) or (math.isnan(now) and math.isnan(written))
    if isinstance(now, str) and "|" in now and isinstance(written, str) and "|" in written:
        slots = [text.split("|") for text in (now, written)]  # a key, which may hold numbers
        return len(slots[0]) == len(slots[1]) and all(map(alike, *map(numbers_in, slots)))
    if isinstance(now, str) and isinstance(written, str):
        return now.replace(BRITISH, AMERICAN) == written.replace(BRITISH, AMERICAN)
    return now == written and type(now) is type(written)


def numbers_in(slots):
    """Return the slots of a key, those with a decimal point as numbers."""
    plain = [s.replace("\\", "") for s in slots]  # a minus sign is escaped
    is_number = [s.lstrip("-").replace(".", "", 1).isdecimal() and "." in s for s in plain]
    return [float(p) if yes else s for s, p, yes in zip(slots, plain, is_number, strict=True)]


@pytest.mark.parametrize(
    ("now", "at"),
    [
        ({"n": 2, "t": {"columns": ["a"], "data": [[0.5]]}}, "/n"),
        ({"n": 1, "t": {"columns": ["a"], "data": [[0.5 + 1e-8]]}}, "/t/a/0"),
        ({"n": 1, "t": {"columns": ["a", "b"], "data": [[0.5], [1]]}}, "/t"),
        ({"n": 1, "t": {"columns": ["a"], "data": [[0.5, 1.0]]}}, "/t/a"),
        ({"n": True, "t": {"columns": ["a"], "data": [[0.5]]}}, "/n"),
    ],
)
def test_a_difference_would_be_seen(now, at):
    written = {"n": 1, "t": {"columns": ["a"], "data": [[0.5]]}}
    assert list(differences(written, written)) == []
    assert [place for place, *_ in differences(now, written)] == [at]
