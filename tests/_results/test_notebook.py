"""Results and findings in a notebook are short, readable and escaped."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits
from skdisc._results._notebook import finding_to_text
from skdisc.individual import KOSEI
from skdisc.subgroup import DivExplorer

EVIL = "<script>alert('x')</script>\x1b[31m & \"q\" of a name that is long"


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: rng.choice([EVIL, "plain"], 400), "points": rng.integers(0, 9, 400)})
    X["debt"] = rng.normal(0, 1, 400)  # so that inputs are nobody's row
    y = np.where(rng.random(400) < np.where(X[EVIL] == "plain", 0.7, 0.2), 1, 0)
    settings = {"protected": [EVIL], "pos_label": 1, "random_state": 0}

    def model(rows):
        return (rows["points"] > 4) & (rows[EVIL] == "plain")

    return [
        DivExplorer(**settings).fit(X, y).result_,
        KOSEI(**settings).fit(X, y, model).result_,
        KOSEI(**settings, limits=Limits(tests=0)).fit(X, y, model).result_,
    ]


def test_first_findings_and_verdict(results):
    for result in results:
        html, left = result._repr_html_(), result.without_people()
        assert result.verdict in html
        assert html.count("<tr>") == (min(len(left), 5) + 1 if len(left) else 0)
        assert "<script" not in html
        assert "\x1b" not in html + repr(result.findings)
        assert left.findings._repr_html_() in html
    assert len(results[1].without_people()) > 5
    assert "No findings." in results[2]._repr_html_()
    assert "of a name that is long" in re.sub(r"\s", " ", results[0]._repr_html_())


def test_figures_are_those_of_the_findings(results):
    first = results[0][0]
    html, text = results[0]._repr_html_(), repr(results[0].findings)
    for part in (f'<td style="text-align:left">{first.support}</td>', f"{first.effect:.3f}"):
        assert part in html
    assert f"effect {first.effect:.3f} [{first.ci_low:.3f}, {first.ci_high:.3f}]" in text
    assert text.startswith(f"GroupFindings with {len(results[0])} findings\n  1. ")
    assert len(text.splitlines()) == 1 + min(len(results[0]), 5) + (len(results[0]) > 5)
    assert repr(results[2].findings) == "CaseFindings with 0 findings"


def test_a_finding_reads_as_in_the_list_of_findings(results):
    for result in results[:2]:
        lines = repr(result.findings).splitlines()[1:]
        for i, finding in enumerate(result[:5]):
            assert lines[i] == f"  {i + 1}. {repr(finding).removeprefix(f'Finding {i + 1}: ')}"
            assert repr(finding).startswith(f"Finding {i + 1}: ")
    assert "\x1b" not in repr(results[0][0]) + repr(results[1][0])


@pytest.mark.parametrize(("effect", "text"), [(-0.0004, "0.000"), (-0.0006, "-0.001")])
def test_what_rounds_to_zero_has_no_sign(effect, text):
    finding = SimpleNamespace(subject="sex = 'f'", effect=effect, ci_low=-1.0, ci_high=effect)
    assert finding_to_text(finding) == f"sex = 'f': effect {text} [-1.000, {text}]"
