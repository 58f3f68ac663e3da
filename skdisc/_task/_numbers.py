"""Numbers in y as what is audited: pay, prices, scores."""

import numpy as np


def numbers_of(y: object) -> np.ndarray:
    """Return y as floats.

    Raises ValueError if there is none, or if it holds something else than numbers.
    """
    if y is None:
        raise ValueError("Numbers in y were compared at fit, so y is needed to audit new data.")
    try:
        return np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"output='value' compares numbers in y, and y is not numeric: {error}. For labels, use "
            "output='decision'."
        ) from error
