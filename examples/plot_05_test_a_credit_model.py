"""
How do I keep discrimination out of a model with a test suite?
==============================================================

Two kinds of test: an assertion that searches for a person or a group who is treated differently,
and properties that hypothesis checks on people it makes up. Where they fail they name the simplest
person. Then the people found go back into the training data, and the tests are run again.
"""

# %%
# A credit model that has learned from decisions which favoured men.
import numpy as np
import pandas as pd
from hypothesis import find
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skdisc import FeatureSpace
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
# What a test suite would say. In a suite the assertions stand alone; here the failures are printed.
def told(check):
    """Run a check, and return what it says."""
    try:
        check()
    except AssertionError as error:
        return f"{check.__name__} failed. {error}\n"
    return f"{check.__name__} passed.\n"


def nobody_is_treated_differently():
    """No person's decision depends on sex alone."""
    assert_no_individual_discrimination(model, X, protected="sex", max_queries=20_000)


def the_sexes_fare_alike():
    """The acceptance rates of the sexes do not differ by more than 0.1."""
    assert_no_disparity(model, X, protected="sex", reference="male")


print(told(nobody_is_treated_differently))
print(told(the_sexes_fare_alike))

# %%
# As a property: ``@given(individual_pairs(space))`` in a suite; ``find`` shows the simplest
# counterexample of the same property.
space = FeatureSpace.from_frame(X, protected=["sex"])
print(find(individual_pairs(space), lambda pair: len(set(model.predict(pair))) > 1))

# %%
# Repair: cases found by a search, labelled by a vote of several models, go back into the data.
search = KOSEI(credit_model(), protected="sex", max_tests=5000, random_state=0)
X_more, y_more = CaseResampler(search, share=0.5, random_state=0).fit_resample(X, y)
repaired = credit_model().fit(X_more, y_more)
report = repair_report(model, repaired, X, y, protected="sex", pos_label=1)
print(report[["before", "after", "change"]].round(3))
