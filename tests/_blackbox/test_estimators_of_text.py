"""An estimator that cannot read text is answered with what to pass, without values of cells."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc.exceptions import ModelError
from skdisc.group import GroupDisparity

X = pd.DataFrame({"sex": ["f", "m"] * 50, "age": np.arange(100), "town": ["Ulm", "Bonn"] * 50})
Y = np.arange(100) % 3 > 0


@pytest.mark.parametrize("as_category", [False, True])
@pytest.mark.parametrize("as_model", [False, True])
def test_a_bare_model_on_text_is_told_of_a_pipeline(as_category, as_model):
    rows = X.astype({"town": "category", "sex": "category"}) if as_category else X
    tree = DecisionTreeClassifier()
    detector = GroupDisparity(None if as_model else tree, protected="sex")
    with pytest.raises(ValueError, match="Pass a pipeline that encodes them") as caught:
        detector.fit(rows, Y, model=tree if as_model else None)
    assert "DecisionTreeClassifier cannot be fitted to the columns ['sex', 'town']" in str(
        caught.value
    )
    assert "'f'" not in str(caught.value)
    assert "Ulm" not in str(caught.value)


def test_the_pipeline_of_the_message_works():
    tree = DecisionTreeClassifier()
    with pytest.raises(ValueError, match="make_pipeline") as caught:
        GroupDisparity(tree, protected="sex").fit(X, Y)
    code = str(caught.value).partition("encodes them: ")[2].rstrip(".")
    names = {
        "make_pipeline": make_pipeline,
        "make_column_transformer": make_column_transformer,
        "OneHotEncoder": OneHotEncoder,
        "DecisionTreeClassifier": DecisionTreeClassifier,
    }
    model = eval(code, names)  # the text of our own message
    assert GroupDisparity(model, protected="sex").fit(X, Y).audited_ == "refit"


def test_arrays_and_other_errors():
    with pytest.raises(ValueError, match="LogisticRegression cannot be fitted to text"):
        GroupDisparity(LogisticRegression(), protected=[0]).fit(X.to_numpy(), Y)
    with pytest.raises(ValueError, match="max_depth"):
        GroupDisparity(DecisionTreeClassifier(max_depth=-1), protected="sex").fit(X, Y)


@pytest.mark.parametrize("as_array", [False, True])
def test_a_fitted_model_of_numbers_is_told_of_a_pipeline(as_array):
    numbers = X.assign(sex=X["sex"] == "f", town=X["town"] == "Ulm").astype(float)
    rows, protected = (X, "sex") if not as_array else (X.to_numpy(), [0])
    tree = DecisionTreeClassifier().fit(numbers.to_numpy() if as_array else numbers, Y)
    with pytest.raises(ModelError, match=r"such as make_pipeline\(encoder, model\)") as caught:
        GroupDisparity(protected=protected).fit(rows, model=tree)
    which = "text" if as_array else "the columns ['sex', 'town'], which are no numbers"
    assert f"The audited model, DecisionTreeClassifier, cannot read {which}. " in str(caught.value)
    assert "'f'" not in str(caught.value)
    assert "Ulm" not in str(caught.value)
