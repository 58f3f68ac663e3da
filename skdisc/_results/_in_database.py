"""InDatabase: the tables of a result as tables of a database."""

from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import pandas as pd

from skdisc._utils._json import jsonable
from skdisc._utils._optional import require

_ABOUT = (
    *("detector", "audited", "null", "verdict", "reason", "n_samples", "n_tested", "n_found"),
    *("n_queries", "stopped_by", "total_time"),
)
_SCALARS = (str, int, float, bool, type(None))


class InDatabase:
    """A result that can be written to a database."""

    def to_sql(self, connection: Any, prefix: str = "result", **how: Any) -> None:
        """Write the tables to a database, by `DataFrame.to_sql`.

        Table `prefix` has one row for the result, ``{prefix}_findings`` those of `to_frame`, and
        ``{prefix}_NAME`` those of each of `tables`. The column ``result`` is the key of the result
        in all of them. Nothing is left out: the tables can hold rows of people. `without_people`
        returns a result that can be handed on.

        Parameters
        ----------
        connection : engine, connection or URL of SQLAlchemy, or connection of sqlite3
            With an engine or a URL, all rows are written in one transaction.
        prefix : str, default="result"
        **how
            Further arguments of `DataFrame.to_sql`; ``if_exists="append"`` for one more result.

        Raises
        ------
        ValueError
            If a table exists and `if_exists` is not passed.
        ImportError
            If a URL is passed, and the extra ``sql`` (SQLAlchemy) is not installed.
        """
        key = sha256(self.to_json().encode()).hexdigest()[:16]
        facts = pd.DataFrame([{name: getattr(self, name) for name in _ABOUT}])
        tables = {prefix: facts, f"{prefix}_findings": self.to_frame()}
        tables |= {f"{prefix}_{name}": table.copy() for name, table in self.tables.items()}
        with opened(connection) as database:
            for name, frame in tables.items():
                _flat(frame, key).to_sql(name, database, index=False, **how)


def _flat(frame, key):
    """Return a table with text in place of what a database has no type for, and the key."""
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    for name in frame.columns[[d.kind == "O" for d in frame.dtypes]]:
        frame[name] = frame[name].map(_cell).astype(object)
    frame.insert(0, "result", key)
    return frame


def _cell(value):
    value = jsonable(value) if not isinstance(value, _SCALARS) else value
    return value if isinstance(value, _SCALARS) else str(value)


@contextmanager
def opened(connection):
    """Open a URL or an engine for one transaction; a connection is its owner's."""
    if isinstance(connection, str):
        sqlalchemy = require("sqlalchemy", extra="sql", purpose="Writing to the database of a URL")
        engine = sqlalchemy.create_engine(connection)
        try:
            with engine.begin() as started:
                yield started
        finally:
            engine.dispose()
    elif hasattr(connection, "connect"):
        with connection.begin() as started:
            yield started
    else:
        yield connection
