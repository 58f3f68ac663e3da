"""SearchDetector: the base of the detectors that supply a strategy of the shared search."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._results._findings import Discovery, feature_names
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import OF_CASES, Card
from skdisc._task._limits import QUERIES, SECONDS
from skdisc._task._task import Request, Task
from skdisc._utils._settings import COUNT, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc.base import SCORE
from skdisc.individual._base import SPACE, IndividualDetector
from skdisc.individual._case_share import time_kept
from skdisc.individual._prober import Prober, n_inputs
from skdisc.individual._search._loop import Ledger, run
from skdisc.individual._search._quality import quality

SEED_CHOICES = [StrOptions({"both", "clusters", "data", "uniform"}), pd.DataFrame]
_POINTS = 100
_NOT_DRAWN = (
    "No input was drawn at random, so finding no case is no evidence of how many there may be."
)


@dataclass
class _Part:
    """The outcome of one search: the only one, or the one that varies one protected column."""

    varied: str
    prober: Prober
    ledger: Ledger
    has_draws: bool
    shares: list
    notes: list
    quality: pd.DataFrame | None


class SearchDetector(IndividualDetector):
    """Base of the detectors that search for cases; a subclass supplies the strategy."""

    space: FeatureSpace | None = SPACE
    scope: str = setting(
        "joint",
        [StrOptions({"joint", "each"})],
        """Whether protected columns vary together, or one at a time with an equal share of each
        limit; the other protected columns are then part of the input and change like any other
        column.""",
    )
    store_tested: bool = setting(
        False,
        ["boolean"],
        """Keep all inputs tested, and whether they are cases, in ``result_.tables["tested"]``,
        so that `skdisc.testing.replay` can query another model about them.""",
    )
    n_quality: int = setting(
        0,
        [COUNT],
        """Size of the samples of random inputs, rows of X and cases from which
        ``result_.tables["quality"]`` is computed: how frequent cases are, and how natural,
        diverse and severe the cases found are. 0 omits the table.""",
    )
    output: str = setting("decision")

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="none",
        reference="",
        **OF_CASES,
    )
    limit_fields = {
        "tests": "distinct inputs tested",
        "queries": QUERIES,
        "found": "cases",
        "seconds": SECONDS,
    }
    own_limits = {"tests": 10_000}
    _needs_repeatable = True

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the success rate (SUR) of a new search that starts from the rows of X.

        It is the share of discriminatory inputs among those tested; NaN if none was tested.
        """
        self._refuse_weight(sample_weight)
        task = Task.open(self, self._read(Request(X)), is_audit=True)
        return self._conclude(task, self._search(task, from_rows=True)).metrics["SUR"]

    def _discover(self, task):
        return self._search(task, from_rows=False)

    @abstractmethod
    def _strategy(self, task, prober, from_rows):
        """Return the `Strategy` of the search.

        Parameters
        ----------
        task : Task
        prober : Prober
        from_rows : bool
            Whether to start from the rows of ``task.X`` regardless of the settings.
        """

    def _search(self, task, from_rows):
        """Search all parts of the task and return the Discovery."""
        with time_kept(task):
            parts = [self._search_part(part, from_rows) for part in task.parts(self.scope)]
        share = self._share_of_people(task, [p.ledger for p in parts])
        by_value = {}
        for part in parts:
            by_value |= part.ledger.by_value()
        blind = self._blindness(task, max(*(p.prober.largest_gap for p in parts), share.estimate))
        notes = dict.fromkeys(note for p in parts for note in p.notes)
        has_draws = all(p.has_draws for p in parts)
        if not has_draws and not task.budget.found and task.budget.tests:
            notes[_NOT_DRAWN] = None
        return Discovery(
            findings=self._joined(task, [p.prober.cases(*p.ledger.found()) for p in parts]),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            by_value=by_value,
            estimates=self._shares([row for p in parts for row in p.shares], first=share),
            tables=self._tables(parts),
            notes=self._probe_notes(task) + blind + list(notes),
            answer=share.answer(self, blind),
        )

    def _search_part(self, task, from_rows):
        """Run one search and measure the quality of the cases found."""
        prober = Prober(task, self.min_gap)
        strategy = self._strategy(task, prober, from_rows)
        ledger = run(strategy, prober, task.budget, task.progress, self.store_tested)
        seeds, n_tested = strategy.seeds, len(ledger.hit)
        varied = ", ".join(map(str, task.space.protected))
        ended = task.budget.stopped_by == "found"
        shares = [] if seeds is None else seeds.shares(ledger.hit, ended_by_case=ended)
        if self.scope == "each":
            shares = [(f"{name} ({varied} varied)", *counts) for name, *counts in shares]
        n = min(n_tested, strategy.n_random) if seeds is None else seeds.n_random(n_tested)
        return _Part(
            varied,
            prober,
            ledger,
            n > 0 or n_tested >= n_inputs(task.space),
            shares,
            list(strategy.notes),
            quality(self, task, ledger) if self.n_quality else None,
        )

    def _tables(self, parts):
        """Return the tables of the result by name."""
        clock = [point for p in parts for point in p.ledger.clock]
        tables = {"curve": _curve(np.concatenate([p.ledger.hit for p in parts]), clock)}
        if self.store_tested:
            tested, tried = zip(*(_tested(p.varied, p.ledger) for p in parts), strict=True)
            tables["tested"] = pd.concat(tested, ignore_index=True)
            tables["tried"] = pd.concat(tried, ignore_index=True)
        if self.n_quality:
            named = [p.quality.assign(varied=p.varied) for p in parts]
            tables["quality"] = pd.concat(named, ignore_index=True)
        return tables


def _curve(hit, clock):
    """Return the table of tests, cases found and seconds, at up to a hundred points."""
    n_tested = np.unique(np.linspace(1, len(hit), _POINTS).astype(np.int64)) if len(hit) else []
    n_tested = np.asarray(n_tested, dtype=np.int64)
    n_found = np.cumsum(hit)[n_tested - 1].astype(np.int64)
    seconds = np.interp(n_tested, *zip((0, 0.0), *clock, strict=True))
    return pd.DataFrame({"tested": n_tested, "found": n_found, "seconds": seconds})


def _tested(varied, ledger):
    """Return the inputs tested, with whether they are cases, and the protected values tried."""
    space, combos = ledger.prober.space, ledger.prober.combos
    codes = np.concatenate([np.empty((0, len(space)), np.int64), *ledger.tested])
    codes[:, space.p_index] = combos[0]
    rows, tried = space.decode(codes), space.variants(np.zeros((1, len(space)), np.int64), combos)
    names = feature_names(space.names, ("varied", "is_case", "is_case_now"))
    rows, tried = (f.rename(columns=names) for f in (rows, tried[list(space.protected)]))
    return rows.assign(varied=varied, is_case=ledger.hit), tried.assign(varied=varied)
