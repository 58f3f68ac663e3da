"""A fitted detector may be asked by several threads at once: it answers each as if alone."""

import sys
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from itertools import chain, cycle, islice

import numpy as np
import pandas as pd
import pytest
from smallest import smallest

from skdisc import AuditResult, all_detectors

N_THREADS, N_AUDITS = 4, 20
FEW = {"ThresholdTest": 8}  # audits of half a second, in which threads take turns as often


@pytest.fixture(autouse=True)
def _hurried():
    """Let threads take turns a hundred times as often as they do, so that mistakes show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def people():
    """Return 200 people, their labels and their weights, some of which are 0."""
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": pd.Categorical(rng.choice(list("abc"), n)),
            "points": rng.integers(0, 20, n),
        }
    )
    y = (X["points"] + 5 * (X["sex"] == "M") + rng.normal(0, 2, n) > 11).astype(int)
    return X, y.to_numpy(), rng.integers(0, 4, n).astype(float)


def decide(X):
    return (X["points"] + 4 * (X["sex"] == "M") > 11).astype(int).to_numpy()


def calls_of(detector, name, people):
    """Return calls of a method on rows of several sizes; with weights, too, if it takes any."""
    arguments, calls = signature(getattr(detector, name)).parameters, []
    for n in (90, 31):
        X, y, weight = (values[-n:] for values in people)
        given = {"y": y} if "y" in arguments else {}
        calls.append((name, X, given))
        if "sample_weight" in arguments:
            calls.append((name, X, {**given, "sample_weight": weight}))
    return calls


def answer(detector, call):
    """Return what a method returns in a form that can be compared, or why it does not."""
    name, X, given = call
    try:
        got = getattr(detector, name)(X, **given)
    except ValueError as error:  # those that take no weights
        return str(error)
    if isinstance(got, AuditResult):
        return got._timeless()
    return got.tolist() if isinstance(got, np.ndarray) else repr(got)


@pytest.mark.slow  # all together
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_threads_get_what_one_gets(name, people):
    detector = smallest(name, protected=["sex"]).fit(*people[:2], decide)
    names = [name for name in ("audit", "score", "transform") if hasattr(detector, name)]
    audits, *others = (calls_of(detector, name, people) for name in names)
    calls = [*chain(*others), *islice(cycle(audits), FEW.get(name, N_AUDITS))]
    calls = [calls[i] for i in np.random.default_rng(0).permutation(len(calls))]
    alone = {id(call): answer(detector, call) for call in chain(audits, *others)}
    with ThreadPoolExecutor(N_THREADS) as threads:
        together = list(threads.map(lambda call: answer(detector, call), calls))
    wrong = [call[0] for call, got in zip(calls, together, strict=True) if got != alone[id(call)]]
    assert wrong == []
