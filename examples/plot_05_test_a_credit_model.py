"""
How does a test suite keep discrimination out of a model?
=========================================================

There are two kinds of test: assertions, which search for people or groups that are treated
differently, and properties, which hypothesis checks on generated people. A failing test shows the
simplest counterexample. The cases found are then used to repair the model.
"""

# %%
# A credit model trained on decisions that favored men.
import numpy as np
import pandas as pd
from hypothesis import find, settings
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skdisc import FeatureSpace, Limits
from skdisc.individual import KOSEI
from skdisc.repair import CaseResampler, repair_report
from skdisc.testing import (
    assert_no_disparity,
    assert_no_individual_discrimination,
    individual_pairs,
)

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "income": rng.integers(10, 100, 2000),
        "years_employed": rng.integers(0, 40, 2000),
        "sex": rng.choice(["female", "male"], 2000),
    }
)
points = X["income"] + X["years_employed"] + 15 * (X["sex"] == "male")
y = (points + rng.normal(0, 5, 2000) > 80).astype(int)


def credit_model():
    """Return an unfitted model with its preprocessing inside."""
    columns = make_column_transformer((OrdinalEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier(30, min_samples_leaf=5, random_state=0))


model = credit_model().fit(X, y)


# %%
# Two assertions. A test suite would contain them directly; here their messages are printed.
def outcome_of(check):
    """Run a check and return its message."""
    try:
        check()
    except AssertionError as error:
        return f"{check.__name__} failed. {error}\n"
    return f"{check.__name__} passed.\n"


def no_decision_depends_on_sex():
    """No decision changes with sex alone."""
    assert_no_individual_discrimination(model, X, protected="sex", max_queries=20_000)


def acceptance_rates_are_similar():
    """The acceptance rates of women and men differ by at most 0.1."""
    assert_no_disparity(model, X, protected="sex", reference="male")


print(outcome_of(no_decision_depends_on_sex))
print(outcome_of(acceptance_rates_are_similar))

# %%
# The same as a property. A test suite would use ``@given(individual_pairs(space))``; ``find``
# returns the simplest counterexample.
space = FeatureSpace.from_frame(X, protected=["sex"])
patient = settings(deadline=None)  # a busy machine is no failure
print(
    find(individual_pairs(space), lambda pair: len(set(model.predict(pair))) > 1, settings=patient)
)

# %%
# Repair: cases found by a search are added to the training data, labeled by the vote of several
# models.
search = KOSEI(credit_model(), protected="sex", limits=Limits(tests=5000), random_state=0)
X_more, y_more = CaseResampler(search, share=0.5, random_state=0).fit_resample(X, y)
repaired = credit_model().fit(X_more, y_more)
report = repair_report(model, repaired, X, y, protected="sex", pos_label=1)
print(report[["before", "after", "change"]].round(3))
