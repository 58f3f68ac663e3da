"""Run: python -m benchmarks.first_pages FOLDER [--only NAME ...] [--numbered]

Writes the pages of twelve audits whose truths are known, one for each kind of answer, into a
folder: NAME.html, NAME.md and NAME.json. Who has seen nothing but the first screen of a page (1,280
by 900) is then asked the ten questions of `QUESTIONS`. With --numbered the names of the files,
which would give the truths away, are numbers in a drawn order; truths.txt says which is which.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import Audit, Rule

QUESTIONS = (
    "Who is worse off, and compared with whom?",
    "By how many points?",
    "How sure is that?",
    "Out of how many people?",
    "What remains at equal columns?",
    "Which columns were these?",
    "What could this audit not see?",
    "What should be done next?",
    "Which number should be quoted?",
    "Is it against the law?",
)


def people(rng, n):
    """Return applicants: sex, town, years of experience and a test result."""
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Abo", "Bern", "Cork", "Delft", "Essen", "Faro"], n),
            "experience": rng.gamma(3.0, 3.0, n).round().astype(int),
            "test": rng.normal(60.0, 12.0, n).round(),
        }
    )


def hired(rng, X, change=0.0):
    """Return who is hired: by experience and test alone, and a change of the probability."""
    score = 0.04 * (X["experience"] - 9) + 0.012 * (X["test"] - 60)
    chance = np.clip(0.4 + score + change, 0.02, 0.98)
    return pd.Series((rng.random(len(X)) < chance).astype(int), index=X.index, name="hired")


def fair(n):
    """Nothing depends on sex."""
    rng = np.random.default_rng(1)
    X = people(rng, n)
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X)


def at_equal_columns():
    """Women are hired .12 less often than equal men."""
    rng = np.random.default_rng(2)
    X = people(rng, 3000)
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X, -0.12 * (X["sex"] == "f"))


def one_town():
    """Women of one town are hired .3 less often than the men of that town."""
    rng = np.random.default_rng(3)
    X = people(rng, 4000)
    there = (X["sex"] == "f") & (X["town"] == "Cork")
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X, -0.3 * there)


def accounted_for():
    """Women have fewer years of experience; nothing else."""
    rng = np.random.default_rng(4)
    X = people(rng, 12000)
    X.loc[X["sex"] == "f", "experience"] = (X["experience"] * 0.6).round().astype(int)
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X)


def open_at_equal_columns():
    """Women have fewer years of experience, among 700 people: too few to know the rest."""
    rng = np.random.default_rng(5)
    X = people(rng, 700)
    X.loc[X["sex"] == "f", "experience"] = (X["experience"] * 0.5).round().astype(int)
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X)


def too_few():
    """Sixty people."""
    rng = np.random.default_rng(6)
    X = people(rng, 60)
    return Audit(protected=["sex"], random_state=0), X, hired(rng, X)


def two_columns():
    """Origin b is hired .15 less often than the others; sex plays no part."""
    rng = np.random.default_rng(7)
    X = people(rng, 6000)
    X["origin"] = rng.choice(["a", "b", "c"], len(X), p=[0.6, 0.25, 0.15])
    y = hired(rng, X, -0.15 * (X["origin"] == "b"))
    return Audit(protected=["sex", "origin"], random_state=0), X, y


def single_people():
    """A model that uses sex decides."""
    rng = np.random.default_rng(8)
    X = people(rng, 3000)
    y = hired(rng, X, -0.15 * (X["sex"] == "f"))
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    audit = Audit(protected=["sex"], random_state=0)
    return audit, X, y, model.fit(X[["sex", "town", "experience", "test"]], y)


def errors_of_a_model():
    """A forest decides; labels of women are as good as those of men."""
    rng = np.random.default_rng(9)
    X = people(rng, 3000)
    y = hired(rng, X, -0.1 * (X["sex"] == "f"))
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"),
        RandomForestClassifier(n_estimators=30, min_samples_leaf=5, random_state=0),
    )
    return Audit(protected=["sex"], random_state=0), X, y, model.fit(X[:1500], y[:1500])


def four_fifths():
    """A template of a law; women are hired .1 less often."""
    rng = np.random.default_rng(10)
    X = people(rng, 2500)
    audit = Audit(protected=["sex"], template="four_fifths", random_state=0)
    return audit, X, hired(rng, X, -0.1 * (X["sex"] == "f"))


def favored_few():
    """One of eight origins is hired .25 more often than all others."""
    rng = np.random.default_rng(11)
    X = people(rng, 5000)
    X["origin"] = rng.choice(list("abcdefgh"), len(X))
    audit = Audit(protected=["origin"], random_state=0, rule=Rule(relevant_gap=0.1))
    return audit, X.drop(columns="sex"), hired(rng, X, 0.25 * (X["origin"] == "c"))


PAGES = {
    "at_equal_columns": at_equal_columns,
    "one_town": one_town,
    "accounted_for": accounted_for,
    "open_at_equal_columns": open_at_equal_columns,
    "nothing_found": lambda: fair(40000),
    "as_far_as_one_can_see": lambda: fair(2000),
    "too_few": too_few,
    "two_columns": two_columns,
    "single_people": single_people,
    "errors_of_a_model": errors_of_a_model,
    "four_fifths": four_fifths,
    "favored_few": favored_few,
}


def main():
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PAGES, default=list(PAGES))
    parser.add_argument("--numbered", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names, truths = list(options.only), []
    if options.numbered:
        np.random.default_rng(0).shuffle(names)
    for i, name in enumerate(names, 1):
        audit, *table = PAGES[name]()
        report = audit.fit(*table).report_
        stem = f"page_{i:02d}" if options.numbered else name
        for ending in ("html", "md", "json"):
            report.save(options.folder / f"{stem}.{ending}")
        truths.append(f"{stem}: {name}. {PAGES[name].__doc__ or 'Nothing depends on sex.'}")
        print(truths[-1], flush=True)
    (options.folder / "truths.txt").write_text("\n".join(truths) + "\n")


if __name__ == "__main__":
    main()
