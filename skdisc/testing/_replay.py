"""Replay of the inputs that a search tested, on another model."""

import numpy as np
import pandas as pd

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._queries import Queries
from skdisc._results._audit_result import AuditResult
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._utils._types import Model


def replay(result: AuditResult, model: Model) -> pd.DataFrame:
    """Query a model with every input that a search tested, and compare the cases.

    Parameters
    ----------
    result : AuditResult
        Result of a search with ``store_tested=True``; it may have been saved by `to_json`.
    model : fitted model, callable or BlackBox
        A callable receives the rows as a DataFrame.

    Returns
    -------
    DataFrame
        One row per tested input, with the columns of X, the protected columns that were varied
        (`varied`), whether it was a case (`is_case`), and whether it is a case now
        (`is_case_now`).

    Raises
    ------
    ValueError
        If the inputs were not stored.

    Examples
    --------
    >>> from skdisc.individual import SG
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> search = SG(n_seeds=50, store_tested=True, random_state=0)
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> result = search.fit(space, model=loan).result_
    >>> again = replay(result, lambda X: X["income"] > 50)
    >>> bool(again["is_case"].any()), bool(again["is_case_now"].any())
    (True, False)
    """
    if "tested" not in result.tables:
        raise ValueError("The result has no tested inputs. Search with store_tested=True.")
    tested, tried = result.tables["tested"], result.tables["tried"]
    people = tested.drop(columns=["varied", "is_case"])
    people = people.set_axis(result.findings.original.columns, axis=1)
    varied_columns, tried = (
        tried["varied"],
        tried.drop(columns="varied").set_axis(result.protected, axis=1),
    )
    is_case_now = np.zeros(len(tested), dtype=bool)
    if tested.empty:
        return tested.assign(is_case_now=is_case_now)
    space, output = FeatureSpace.from_frame(people), result.params["output"]
    queries = Queries(BlackBox(model), result.pos_label, space, Budget(), output)
    for varied, rows in tested.groupby("varied").indices.items():
        values = tried[varied_columns == varied]
        variants = people.iloc[np.repeat(rows, len(values))].reset_index(drop=True)
        for column in result.protected:
            if str(column) == varied or result.params["scope"] == "joint":
                new_values = values[column].iloc[np.tile(np.arange(len(values)), len(rows))]
                variants[column] = new_values.astype(people[column].dtype).reset_index(drop=True)
        outcomes = queries.decide(variants).reshape(len(rows), len(values))
        is_case_now[rows] = np.ptp(outcomes, axis=1) > result.params["min_gap"]
    return tested.assign(is_case_now=is_case_now)
