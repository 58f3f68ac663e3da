"""SDVSampler: draws people from a synthesizer of SDV instead of `GaussianCopula`."""

import warnings
from contextlib import contextmanager, redirect_stderr
from io import StringIO

import numpy as np
import pandas as pd

from skdisc._space._subgroup import Subgroup
from skdisc._utils._optional import require
from skdisc.datasets._copula._copula import as_group, generator, table

_POOL = 2**14  # number of people drawn to estimate the shares of subgroups
_POINTS = 2**14  # number of people over whom a mean is taken
_MOST_ROUNDS = 50  # rounds of rejection sampling for interval conditions
_TABLE = "people"


def fit_sdv(frame, schema):
    """Fit SDV's Gaussian copula; columns that are not numeric in the schema are categorical."""
    named = {"extra": "sdv", "purpose": "synthesizer='sdv'"}
    columns = {
        a.name: {"sdtype": "numerical" if a.kind == "numeric" else "categorical"}
        for a in schema.attributes
    }
    plain_dtypes = frame.astype({n: object for n in columns if frame[n].dtype == "category"})
    with _quiet():
        tables = {"tables": {_TABLE: {"columns": columns}}}
        metadata = require("sdv.metadata", **named).Metadata.load_from_dict(tables)
        synthesizer = require("sdv.single_table", **named).GaussianCopulaSynthesizer(metadata)
        synthesizer.fit({_TABLE: plain_dtypes})
    return synthesizer


def draw_sdv(synthesizer, n, fixed, rng):
    """Draw at most `n` people; the draw depends on the state of `rng` only.

    `fixed`: values of the columns that are fixed.
    """
    with _quiet():
        synthesizer.reset_sampling()
        synthesizer._set_random_state(int(rng.integers(2**31)))
        if fixed:
            condition = require("sdv.sampling", extra="sdv", purpose="Conditions").Condition
            drawn = synthesizer.sample_from_conditions([condition(fixed, num_rows=n)])
        else:
            drawn = synthesizer.sample(n)
    (people,) = drawn.values()
    return people


@contextmanager
def _quiet():
    """Silence the progress bars and warnings of SDV."""
    with warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        yield


class SDVSampler:
    """People drawn from a fitted synthesizer of SDV, with the columns of a schema.

    Single values are passed to SDV as conditions; other conditions are met by rejection sampling.
    Probabilities and means, which are exact for `GaussianCopula`, are estimated from draws.
    """

    def __init__(self, synthesizer, schema):
        self.schema = schema
        self._synthesizer = synthesizer
        self._pool = None

    def sample(self, n_samples, condition=None, *, random_state=None):
        """Draw people, as `GaussianCopula.sample` does."""
        rng = generator(random_state)
        group = as_group(condition)
        fixed, unfixed = {}, []
        for predicate in group.predicates:
            if predicate.values is not None and len(predicate.values) == 1:
                value = predicate.values[0]
                fixed[predicate.column] = np.nan if value is None else value
            else:
                unfixed.append(predicate)
        rest_of_group, parts, n_found, n_tried = Subgroup(unfixed), [], 0, 0
        for _ in range(_MOST_ROUNDS):
            rate = (n_found + 1) / (n_tried + 1)
            n = min(int(1.1 * (n_samples - n_found) / rate) + 1, 10 * n_samples + 1000)
            people = self._cast(draw_sdv(self._synthesizer, n, fixed, rng))
            parts.append(people[rest_of_group.mask(people)].head(n_samples - n_found))
            n_found, n_tried = n_found + len(parts[-1]), n_tried + n
            if n_found == n_samples:
                return pd.concat(parts, ignore_index=True)
        raise ValueError(
            f"Too few of the people that the synthesizer draws satisfy the condition '{group}'."
        )

    def sample_each(self, sizes, conditions, *, random_state=None):
        """Draw people under several conditions, one after the other, into one table."""
        rng = generator(random_state)
        parts = [
            self.sample(int(n), condition, random_state=rng)
            for n, condition in zip(sizes, conditions, strict=True)
        ]
        return pd.concat(parts, ignore_index=True)

    def probability(self, condition, *, n_draws=_POOL):
        """Estimate the probability of a condition from at least 16,384 draws."""
        if self._pool is None or len(self._pool) < n_draws:
            self._pool = self.sample(max(n_draws, _POOL), random_state=0)
        return float((Subgroup() & condition).mask(self._pool).mean())

    def integrate(self, function, condition):
        """Estimate means as `GaussianCopula.integrate` does, by plain Monte Carlo."""
        rng = generator(0)
        people = self.sample(_POINTS, condition, random_state=rng)
        values = np.asarray(function(people, rng.random(_POINTS)), dtype=float)
        return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(_POINTS)

    def _cast(self, people):
        """Return the columns of the schema in their dtypes."""
        columns = {}
        for a in self.schema.attributes:
            column = people[a.name]
            if a.kind == "numeric":
                x = column.to_numpy(dtype=float)
                columns[a.name] = (np.rint(x) if a.dtype.startswith("int") else x).astype(a.dtype)
                continue
            codes = a.codes(column)
            if (codes < 0).any():
                raise ValueError(
                    f"The synthesizer draws {a.name!r} values such as "
                    f"{column[codes < 0].iloc[0]!r}, which the schema does not have: {a.values!r}."
                )
            columns[a.name] = a.take(codes)
        return table(columns)
