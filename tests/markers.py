"""A table of people with markers in every cell, and the search for them in a text."""

import re

import numpy as np
import pandas as pd

N = 240


def marked_people():
    """Return people who are recognized by name, income and partly origin, and their outcomes."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], N),
            "origin": [
                f"orig{i}mark" if i < 6 else draw.choice(["here", "there"]) for i in range(N)
            ],
            "name": [f"name{i}mark" for i in range(N)],
            "points": draw.integers(0, 20, N),
            "income": 20_000 + 137 * draw.permutation(N) + 0.37,
        }
    )
    X.loc[draw.random(N) < 0.1, "points"] = 77  # so that no odd number is shared
    score = X["points"] + 8 * (X["sex"] == "m") + draw.normal(0, 3, N)
    return X, np.where(score > 14, "yes", "no")


def model(rows):
    return np.where(rows["points"] + 4 * (rows["sex"] == "m") > 12, "yes", "no")


def numbers_in(text):
    """Return all numbers of a text, without thousands separators; not the ends of intervals."""
    text = re.sub(r'"(low|high)": [\d.]+|[(\[][\\\d.inf-]+,[\\\d.inf-]+[)\]]', "", text)
    text = re.sub(r"(&lt;|&gt;|[<>])=? ?-?[\d,.]+|-?[\d,.]+ ?(&lt;|&gt;|[<>])=?", "", text)
    return {float(t.replace(",", "")) for t in re.findall(r"\d[\d,]*\.\d+", text)}


def described(text, X):
    """List the markers of people that a text has."""
    found = [m for m in [*X["name"], *X["origin"][:6]] if re.search(rf"\b{m}\b", text)]
    incomes = numbers_in(text) & set(X["income"].round(2))
    return found + sorted(incomes)
