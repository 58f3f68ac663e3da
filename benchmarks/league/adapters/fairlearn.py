"""fairlearn: rates of the protected groups, with its bootstrap."""

import pandas as pd
from fairlearn.metrics import MetricFrame, selection_rate

PACKAGE = "fairlearn"


def find(table, settings):
    """Claim the group with the lowest rate if the interval of the largest difference is above 0."""
    y, columns = table[settings["outcome"]], settings["protected"]
    frame = MetricFrame(
        metrics=selection_rate,
        y_true=y,
        y_pred=y,
        sensitive_features=table[columns],
        n_boot=100,
        ci_quantiles=[0.025, 0.975],
        random_state=settings["seed"],
    )
    low, high = frame.difference_ci()
    lows, highs = frame.by_group_ci
    first = {"group": _group(columns, frame.by_group.idxmin()), "claimed": bool(low > 0)}
    first |= {"effect": frame.difference(), "low": low, "high": high, "versus": "largest"}
    rates = pd.DataFrame({"effect": frame.by_group, "low": lows, "high": highs}).dropna()
    others = [
        {"group": _group(columns, row.Index), "claimed": False, "versus": "nobody"}
        | {"effect": row.effect, "low": row.low, "high": row.high}
        for row in rates.itertuples()
    ]
    return {"findings": [first, *others], "also": bool(rates["low"].max() > rates["high"].min())}


def _group(columns, values):
    values = values if isinstance(values, tuple) else (values,)
    return {column: [value] for column, value in zip(columns, values, strict=True)}
