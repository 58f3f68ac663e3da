"""A finding whose effect has the other sign on the rows held out is not confirmed by them."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdisc._results._judgment import FOUND, confirmed_p, is_reversed
from skdisc.auditing import _cells, _evidence
from skdisc.auditing._audited_rows import Masks
from skdisc.auditing._plan import LEAD, AuditStep
from skdisc.group import GroupDisparity
from skdisc.report._together import p_of
from skdisc.subgroup import DivExplorer

N = 800
RNG = np.random.default_rng(0)
X = pd.DataFrame({"sex": RNG.choice(["F", "M"], N), "town": RNG.choice(list("abc"), N)})
Y = (RNG.random(N) < np.where(X["sex"] == "M", 0.7, 0.3)).astype(int)
DETECTORS = [
    DivExplorer(protected="sex", confirm=0.5, random_state=0),
    GroupDisparity(protected="sex", confirm=0.5, random_state=0),
]


def with_drift(result):
    """Return a result with the rows held out of a world in which all effects are turned around."""
    turned = deepcopy(result)
    table = turned.findings.table
    drifted = {
        "held_out_effect": -table["held_out_effect"],
        "held_out_ci_low": -table["held_out_ci_high"],
        "held_out_ci_high": -table["held_out_ci_low"],
    }
    for name, values in drifted.items():
        table[name] = values
    return turned


def evidence_of(result):
    step = AuditStep("s", result.detector, "sex", ["sex"], result.null, LEAD)
    verdict = {"attribute": "sex", "null": result.null, "kind": "cell", "verdict": FOUND}
    plan = SimpleNamespace(steps=[step])
    audited = SimpleNamespace(X=X, frequency=None, protected=["sex"], masks=Masks(X))
    audited.drew_others = lambda result: False
    members = _evidence._FoundMembers(audited.masks)
    verdicts = [verdict | {"p_adjusted": 0.01}]
    rows = _evidence._collected(audited, plan, {"s": result}, verdicts, 0.05)
    return rows, list(members.of(step, result, 0.05))


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
def test_a_reversed_effect_is_no_confirmation(detector):
    result = detector.fit(X, Y).result_
    assert p_of(result) < 1e-3
    assert all(evidence_of(result))
    turned = with_drift(result)
    assert p_of(turned) == 1
    assert evidence_of(turned) == ([], [])
    assert (_cells.strength(turned.findings.table, "held_out_") < 1e-8).all()


def test_one_finding_does_not_lend_its_p_value_to_others():
    """The smallest p-value is one of a reversed effect, and the audit must not take that."""
    table = pd.DataFrame({"effect": [-0.2, -0.3], "held_out_effect": [0.4, -0.1]})
    table["held_out_p_adjusted"] = [1e-9, 0.04]
    assert confirmed_p(table).tolist() == [1.0, 0.04]
    again = table.rename(columns={"effect": "effect_at_fit", "held_out_effect": "effect"})
    assert is_reversed(again).tolist() == [True, False]
    assert not is_reversed(table[["effect"]]).any()
