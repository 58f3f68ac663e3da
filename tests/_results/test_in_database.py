"""A result in a database: every table of every kind of result can be read back."""

import sqlite3

import pandas as pd
import pytest
from smallest import smallest

from skdisc import AuditResult
from skdisc.datasets import make_loan


@pytest.fixture(scope="module")
def loans():
    X, y = make_loan(300, random_state=0, return_X_y=True)
    return X, y


@pytest.mark.parametrize(
    "name", ["GroupDisparity", "DivExplorer", "SliceFinder", "SituationTesting", "FlipTest"]
)
def test_every_table_is_read_back(name, loans):
    result = smallest(name, protected=["gender"]).fit(*loans).result_
    connection = sqlite3.connect(":memory:")
    result.to_sql(connection)
    again = AuditResult.from_json(result.to_json())
    again.to_sql(connection, if_exists="append")
    row = pd.read_sql("SELECT * FROM result", connection)
    assert row["verdict"].tolist() == 2 * [result.verdict]
    assert row["n_found"].tolist() == 2 * [result.n_found]
    for table in ("findings", *result.tables):
        expected = result.to_frame(table)
        read = pd.read_sql(f"SELECT * FROM result_{table}", connection)
        assert len(read) == 2 * len(expected)
        assert set(read.columns) == {"result", *map(str, expected.columns)}
        assert set(read["result"]) <= set(row["result"])
        for column in expected.columns[[d.kind in "if" for d in expected.dtypes]]:
            both = pd.concat([expected[column]] * 2, ignore_index=True).astype(float)
            pd.testing.assert_series_equal(
                read[str(column)].astype(float), both, check_names=False, check_index=False
            )
    with pytest.raises(ValueError, match="already exists"):
        result.to_sql(connection)
    connection.close()


def test_a_result_handed_on_has_no_rows_of_people(loans):
    result = smallest("SituationTesting", protected=["gender"]).fit(*loans).result_
    connection = sqlite3.connect(":memory:")
    result.without_people().to_sql(connection, prefix="shown")
    tables = pd.read_sql("SELECT name FROM sqlite_master", connection)["name"]
    assert "shown_people" not in set(tables)
    assert set(tables) >= {"shown", "shown_gaps"}
    connection.close()
