"""A table of any number of rows and columns, by which the growth of detectors is measured."""

import numpy as np
import pandas as pd


def made(folder, n_rows=None, n_columns=14):
    """Return a table, labels and decisions; `n_rows` of None: Adult itself."""
    rng = np.random.default_rng(0)
    adult = pd.read_csv(folder / "adult.csv.gz").drop(columns="split")
    n_rows, is_drawn = n_rows or len(adult), n_rows is not None
    table = (
        adult.copy()
        if not is_drawn
        else adult.iloc[rng.integers(0, len(adult), n_rows)].reset_index(drop=True)
    )
    y = (table.pop("income") == ">50K").to_numpy().astype(int)
    table = table.iloc[:, :n_columns]
    noise = {
        f"noise_{i}": rng.integers(0, 1000, n_rows)
        if i % 4 == 3
        else np.array(list("abcdefg"))[rng.integers(0, 3 + i % 5, n_rows)]
        for i in range(n_columns - table.shape[1])
    }
    return table.assign(**noise), y, np.where(rng.random(n_rows) < 0.15, 1 - y, y)
