"""Every number of a report is read by what it is about: none has two values or two intervals."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import Audit, BlackBox

pytestmark = pytest.mark.every(12)  # each test makes its reports anew in its worker
INTERVAL = r"\[(-?[\d.,]+), (-?[\d.,]+)\]"
CONSTANTS = (
    "account for it",
    "its gap from the others in its context is not significant",
    "lists no such group",
    "too few people to judge",
    "Not accounted for",
)


def people(seed=0, n=1500, gap=0.2):
    """Return people; women of one town are selected less often, and hours do not matter."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    hours = np.where(rng.random(n) < np.where(sex == "F", 0.8, 0.2), "part", "full")
    X = pd.DataFrame({"sex": sex, "hours": hours, "town": rng.choice(list("abc"), n)})
    X["race"] = rng.choice(["black", "white"], n, p=[0.3, 0.7])
    X["age"] = rng.integers(20, 60, n)
    here = (X["sex"] == "F") & (X["town"] == "a")
    return X, (rng.random(n) < 0.55 - gap * here).astype(int)


def labels():
    X, y = people()
    return Audit(protected="sex").fit(X, y).report_


def several_protected_columns():
    X, y = people(1)
    return Audit(protected=["sex", "race"]).fit(X, y).report_


def decisions():
    X, y = people(2, gap=0.1)
    made = np.where(np.random.default_rng(2).random(len(y)) < 0.2, 1 - y, y)
    return Audit(protected="sex").fit(X, y, BlackBox(decisions=made)).report_


def model():
    X, y = people(3, n=800)
    columns = ["sex", "hours", "town"]
    fitted = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[columns], y)
    return Audit(protected="sex").fit(X[columns], y, fitted).report_


def fitted_model():
    X, y = people(4, n=600)
    columns = ["sex", "hours", "town"]
    learner = make_pipeline(OneHotEncoder(), LogisticRegression())
    audit = Audit(protected="sex", detectors=["GroupDisparity", "Themis"])
    return audit.fit(X[columns], y, BlackBox(learner, n_refits=19)).report_


def weights():
    X, y = people(5)
    weight = np.random.default_rng(5).uniform(0.5, 3, len(y))
    return Audit(protected="sex").fit(X, y, sample_weight=weight).report_


def clusters():
    X, y = people(6)
    groups = np.arange(len(y)) // 3
    return Audit(protected="sex").fit(X, y, groups=groups).report_


def confirm():
    X, y = people(7, n=2500, gap=0.4)
    return Audit(protected="sex", confirm=0.5, random_state=0).fit(X, y).report_


def bins():
    X, y = people(8)
    return Audit(protected="sex", n_bins=8, max_predicates=2).fit(X, y).report_


def zip_codes():
    X, _ = people(9)
    rng = np.random.default_rng(9)
    X["code"] = rng.integers(0, 25, len(X))
    y = (rng.random(len(X)) < 0.3 + 0.016 * X["code"]).astype(int)
    return Audit(protected="sex").fit(X, y).report_


def fair_20_000():
    X, y = people(10, n=20_000, gap=0.0)
    return Audit(protected="sex").fit(X[["sex", "hours", "town"]], y).report_


def tiny():
    X, y = people(11, n=60)
    return Audit(protected=["sex", "race"]).fit(X, y).report_


def four_fifths():
    """Of two groups, a gap from the reference is the gap from everyone else."""
    X, y = people(12, gap=0.4)
    return Audit(protected="sex", template="four_fifths").fit(X, y).report_


def pay_table(seed=13, n=900):
    """Return workers; women of one grade earn 22 % less, and more of them work part-time."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    grade = rng.choice(["g1", "g2", "g3"], n)
    hours = np.where(rng.random(n) < np.where(sex == "F", 0.4, 0.1), 20.0, 40.0)
    rate = 20 * np.exp(0.15 * rng.standard_normal(n)) * (1 + 0.2 * (grade == "g3"))
    rate = rate * np.where((sex == "F") & (grade == "g2"), 0.78, 1.0)
    variable = np.where(rng.random(n) < 0.5, rate * hours * 0.1, 0.0)
    years = rng.integers(0, 30, n)
    X = pd.DataFrame({"sex": sex, "grade": grade, "hours": hours, "variable": variable})
    return X.assign(years=years, base=rate * hours)


PAY = {"category": "grade", "base": "base", "variable": "variable", "hours": "hours"}


def pay():
    return Audit(protected="sex", template="pay_transparency", pay=PAY).fit(pay_table()).report_


def pay_with_weights():
    X = pay_table(14)
    weight = np.random.default_rng(14).uniform(0.5, 2, len(X))
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    return audit.fit(X, sample_weight=weight).report_


def pay_of_several_years():
    X = pay_table(15)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    return audit.fit(X, groups=np.arange(len(X)) // 2).report_


def pay_in_the_united_kingdom():
    columns = {"variable": "variable", "hours": "hours", "base": "base"}
    audit = Audit(protected="sex", template="uk_gender_pay_gap", pay=columns)
    return audit.fit(pay_table(16)).report_


def prices():
    """More is worse, and one of three groups pays more."""
    X = pay_table(17)
    price = X["base"] * np.where(X["grade"] == "g1", 1.2, 1.0)
    audit = Audit(protected="grade", output="value", pos_label="low")
    return audit.fit(X[["grade", "years"]], price).report_


REPORTS = {
    f.__name__: f
    for f in (
        *(labels, several_protected_columns, decisions, model, fitted_model, weights),
        *(clusters, confirm, bins, zip_codes, fair_20_000, tiny, four_fifths),
        *(pay, pay_with_weights, pay_of_several_years, pay_in_the_united_kingdom, prices),
    )
}


@pytest.fixture(scope="module", params=REPORTS, ids=str)
def report(request):
    return REPORTS[request.param]()


def what_rows_are_about(document):
    """Yield quantity, estimate, ends and level of every number with an interval in a document."""
    held = document["settings"]["confirm"] is not None

    def told(what, attribute, group, measure, row, names):
        if row[names[0]] is not None and group is not None:
            yield (what, attribute, group, measure), *(row[name] for name in names)

    numbers = ("effect", "ci_low", "ci_high", "ci_level")
    for row in document["figures"]:
        key = row["what"], row["attribute"], row["group"], row["measure"]
        yield key, row["estimate"], row["low"], row["high"], row["level"]
    several = sum(row["kind"] == "cause" for row in document["evidence"]) > 1
    for row in document["evidence"]:
        kind = "beside" if several else "equal"
        what = kind if row["kind"] == "cause" else "gap"
        (attribute, *more), group, measure = row["attributes"], row["group"], row["measure"]
        if more:
            continue  # found for several columns, of which the first has the record
        gap = tuple(f"gap{end}" for end in ("", "_ci_low", "_ci_high", "_ci_level"))
        if not held:
            yield from told(what, attribute, group, measure, row, numbers)
            yield from told("gap", attribute, group, measure, row, gap)
            for name in ("equal", "alone"):
                own = tuple(g.replace("gap", name) for g in gap)
                yield from told("equal", attribute, group, measure, row, own)
    for row in document["shadows"]:
        if not held:
            cause = document["evidence"][row["of"] - 1]
            attribute = cause["attributes"][0]
            if len(cause["attributes"]) == 1:
                yield from told("gap", attribute, row["group"], cause["measure"], row, numbers)
    for row in document["groups"]:
        what = "ratio" if row["measure"] == "impact_ratio" else "gap"
        names = ("gap", "ci_low", "ci_high", "ci_level")
        yield from told(what, row["attribute"], row["group"], row["measure"], row, names)
        for share, name in (("relative", "mean"), ("median", "median")):
            if share in row:
                about = row["attribute"], row["group"], name, row[share]
                yield from told("share", *about, names)
    yield from shares_on_the_first_page(document)
    yield from figures_of_pay(document)
    rate = "mean" if "outcome" in document["about"] else "selection_rate"
    for row in document["comparable"]:
        of = row["attribute"], row["group"], rate, row
        gap = ("gap", "gap_ci_low", "gap_ci_high", "gap_ci_level")
        yield from told("gap", *of, gap)
        yield from told("equal", *of, numbers)
    whats = {"gap": "gap", "equal": "equal"}
    attributes = {row["group"]: row["attribute"] for row in document["comparable"]}
    for row in document["gaps"]:
        is_of_other_rows = "people" in row and (row["kind"] == "gap" or held)
        if row["kind"] in whats:
            names = ("amount", "ci_low", "ci_high", "ci_level")
            of = attributes[row["group"]], row["group"], rate
            yield from told(
                whats[row["kind"]] + " of other rows" * is_of_other_rows, *of, row, names
            )
    for row in document["verdicts"]:
        what = {"conditional": "equal"}.get(row["null"], "gap")  # all that a group differs by
        if row["kind"] == "cell" and not held and row["null"] != "individual":
            yield from told(what, row["attribute"], row["group"], row["measure"], row, numbers)


def shares_on_the_first_page(document):
    """Yield the gaps that the first page prints in percent of the others' average.

    It tells them of the side that is worse off, negative where that has less.
    """
    is_less_better = (document["about"].get("outcome") or {}).get("better") == "low"
    for answer in document["answers"]:
        raw, worst = answer["raw"] or {}, answer["worst"]
        if "about_pay" in document and worst is not None and worst["at_equal_columns"]:
            about = "share at equal columns", answer["attribute"], worst["group"], "mean"
            shares = (
                worst[name] / worst["rate_others"] for name in ("effect", "ci_low", "ci_high")
            )
            yield about, *shares, worst["ci_level"]
        for share, measure in (("relative", "mean"), ("medians", "median")):
            group = raw.get("worse_off", {}).get("group")
            side = 1 if group is not None else -1
            side *= -1 if is_less_better else 1
            if share in raw:
                row = raw[share]
                ends = sorted([side * row["ci_low"], side * row["ci_high"]])
                about = answer["attribute"], group or raw["better_off"]["group"], measure
                yield ("share", *about), side * row["gap"], *ends, row["ci_level"]


def figures_of_pay(document):
    """Yield the gaps of total pay of all people, as the audit of it names and signs them."""
    about = document.get("about_pay")
    if about is None:
        return
    sex, women = about["columns"]["sex"], about["columns"]["women"]
    group = f"{sex} = '{women}'"
    basis = next(r["basis"] for r in document["pay"] if r["figure"] == "mean")
    for row in document["pay"]:
        is_total = row["figure"] in ("mean", "median") and row["component"] == "total"
        if is_total and row["basis"] == basis and row["ci_low"] is not None:
            key = "share", sex, group, row["figure"]
            yield key, -row["gap"], -row["ci_high"], -row["ci_low"], row["ci_level"]
    for row in about["equal"]:
        if row["ci_low"] is None:
            continue
        category = about["columns"]["category"]
        where = "" if row["group"] is None else f"{category} = '{row['group']}' and "
        key = "share at equal columns", sex, f"{where}{group}", "mean"
        yield key, -row["remains"], -row["ci_high"], -row["ci_low"], row["ci_level"]


FOUND = "disparity found"


@pytest.mark.parametrize("make", [pay, pay_with_weights, pay_of_several_years])
def test_the_table_and_the_paragraph_of_pay_print_one_range(make):
    """What is printed of mean and median pay of all people is read back from the page."""
    report = make()
    text = " ".join(report.to_text(1000).split())
    first, _, rest = text.partition("All people:")
    table, _, paragraphs = rest.partition("sex: ")
    for sentence, row, beside in (
        (r"mean pay per hour is ([\d.]+) % lower than men's \(([\d.]+) to ([\d.]+)\)",
         r"\(a\) Mean pay: .*?per hour ([\d.]+) % \[([\d.]+), ([\d.]+)\]",
         r", ([\d.]+) % less \(([\d.]+) % to ([\d.]+) %\)"),
        (r"median is ([\d.]+) % lower than men's \(([\d.]+) to ([\d.]+)\)",
         r"\(c\) Median pay: .*?per hour ([\d.]+) % \[([\d.]+), ([\d.]+)\]",
         r"medians are .*?\(gap: ()([\d.]+) % to ([\d.]+) % less\)"),
    ):  # fmt: skip
        of_sentence = re.search(sentence, first).groups()
        of_row = re.search(row, table).groups()
        of_paragraph = re.search(beside, paragraphs).groups()
        assert of_sentence == of_row
        assert of_paragraph[1:] == of_row[1:]
        assert of_paragraph[0] in ("", of_row[0])


def test_no_quantity_has_two_values_or_two_intervals(report):
    known = {}
    for key, *numbers in what_rows_are_about(report.document):
        first = known.setdefault(key, numbers)
        assert numbers == pytest.approx(first, nan_ok=True), key
    assert any(len(key) == 4 for key in known)


@pytest.mark.slow
def test_both_sides_of_a_comparison_have_one_interval(report):
    known = {key: numbers for key, *numbers in what_rows_are_about(report.document)}
    for (what, attribute, group, measure), numbers in known.items():
        other = group.replace("sex = 'F'", "sex = 'M'")
        mirror = known.get((what, attribute, other, measure))
        if attribute == "sex" and what in ("gap", "equal") and other != group and mirror:
            estimate, low, high, level = numbers
            assert mirror == pytest.approx([-estimate, -high, -low, level], abs=1e-9), group


def test_gaps_are_differences_of_the_rates_beside_them(report):
    for row in report.document["figures"]:
        if row["what"] == "gap" and None not in (row["rate"], row["rate_others"]):
            assert row["estimate"] == pytest.approx(row["rate"] - row["rate_others"], abs=1e-9)
        if None not in (row["low"], row["high"]):
            assert row["low"] <= row["estimate"] <= row["high"]
            assert 0 < row["level"] < 1


def test_no_interval_passes_the_bound_beside_it(report):
    document = report.document
    for row in document["verdicts"]:
        if row["bound"] is None or row["answer"] is None:
            continue
        found = row["answer"]["n_found"] or row["verdict"] == FOUND
        if row["effect"] is not None and not found and row["judged"]:
            assert max(abs(row["ci_low"]), abs(row["ci_high"])) <= row["bound"] + 1e-12
        for other in document["families"]:
            if (other["attribute"], other["null"]) == (row["attribute"], row["null"]):
                assert other["found"] or other["upper"] <= row["bound"] * (1 + 1e-9)
        if row["verdict"] == "no disparity found":
            gap = row["answer"]["relevant_gap"]
            gaps = gap.values() if isinstance(gap, dict) else [gap]
            assert row["bound"] <= max(gaps) * (1 + 1e-9)


@pytest.mark.slow
def test_each_question_about_groups_says_what_it_excludes(report):
    asked = [r for r in report.document["verdicts"] if r["null"] in ("marginal", "contextual")]
    assert asked
    for row in asked:
        answer = row["answer"]
        assert answer["relevant_size"] == 0.05
        assert 0 <= answer["n_cleared"] <= answer["n_family"] - answer["n_found"]
        rows = [
            r
            for r in report.document["families"]
            if (r["attribute"], r["null"]) == (row["attribute"], row["null"])
        ]
        if len(rows) == answer["n_family"]:  # small groups are not described
            assert sum(r["cleared"] for r in rows) == answer["n_cleared"]
        sizes = [r["comparison"] for r in rows]
        assert sizes == sorted(sizes, reverse=True)
        cleared = [r["cleared"] for r in rows if not r["found"]]
        assert cleared == sorted(cleared, reverse=True)  # from the largest to the first left open


@pytest.mark.slow
def test_no_reason_is_a_constant(report):
    for text in (report.to_text(), report.to_markdown(), report.to_html(), report.to_json()):
        flat = " ".join(text.split())
        for constant in CONSTANTS:
            assert constant not in flat, constant


def shown(value):
    """Return a number as pages print it."""
    return float(f"{value:.3f}") if abs(value) >= 0.001 else float(f"{value:.2g}")


def test_pages_print_no_interval_that_the_document_does_not_have(report):
    """Each pair of ends on a page is one of the document's, in all forms alike."""
    known = {
        (shown(low), shown(high))
        for _, _, low, high, _ in what_rows_are_about(report.document)
        if None not in (low, high)
    }
    known |= {(shown(r["ci_low"]), shown(r["ci_high"])) for r in ends_of(report.document)}
    about = report.document.get("about_pay") or {"equal": []}
    rows_of_pay = [*about["equal"], *report.document.get("pay", [])]
    known |= {  # which pages print in percent
        (round(100 * r["ci_low"], 1), round(100 * r["ci_high"], 1))
        for r in rows_of_pay
        if r["ci_low"] is not None
    }
    for text in (report.to_text(200), report.to_markdown(), report.to_html()):
        plain = re.sub(r"<script>.*</script>|<code>.*</code>|\\", "", text, flags=re.S)
        pairs = re.findall(INTERVAL + r" \(\d", plain)
        assert pairs or not known
        for low, high in pairs:
            pair = tuple(float(end.replace(",", "")) for end in (low, high))
            assert any(
                math.isclose(pair[0], a, abs_tol=2e-3) and math.isclose(pair[1], b, abs_tol=2e-3)
                for a, b in known
            ), pair


def ends_of(document):
    """Yield rows with ends that are about no gap: held-out effects, shares and ratios."""
    for row in document["evidence"]:
        for at in ("held_out_", "alone_", "gap_", "equal_", ""):
            if row[f"{at}ci_low"] is not None:
                yield {"ci_low": row[f"{at}ci_low"], "ci_high": row[f"{at}ci_high"]}
    for row in [*document["verdicts"], *document["shadows"], *document["cases"]]:
        if row["ci_low"] is not None:
            yield row
    for row in document["groups"]:
        if row["measure"] == "impact_ratio" and row["ci_low"] is not None:
            move = (row["rate"] or row["gap"]) - row["gap"]
            yield {"ci_low": row["ci_low"] + move, "ci_high": row["ci_high"] + move}
