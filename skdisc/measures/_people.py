"""What users hand to a measure: decisions about somebody."""

from skdisc.measures._core import check_decisions


def check_people(y_true, y_pred, protected, **how):
    """Return the `Decisions` of `check_decisions`, refusing those about nobody."""
    if y_pred is not None and not len(y_pred):
        raise ValueError("y_pred is empty: there is nobody to compare.")
    return check_decisions(y_true, y_pred, protected, **how)
