"""What models are compared by: the score, and the gap between groups."""

from dataclasses import dataclass, replace

import numpy as np

from skdisc._stats._non_inferiority import (
    bounded_mean_z,
    paired_auc_z,
    placements,
    tango_z,
)
from skdisc._stats._rates import rate_values
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._validation import is_favorable, of_numbers, plain
from skdisc.model_selection._alternatives._gains import (
    all_pairs,
    contrasts_of,
    extreme_sums,
    gains,
)
from skdisc.preprocessing._discretizer import Discretizer

CLIPPED = 0.01  # probabilities of the log loss
SCORES = {  # and the largest difference that two models can have about one person
    "accuracy": 1.0,
    "roc_auc": 1.0,
    "neg_brier_score": 1.0,
    "neg_log_loss": float(np.log((1 - CLIPPED) / CLIPPED)),
}
METRICS = (  # rates of people who do not depend on decisions
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
    "accuracy",
    "error_rate",
)


@dataclass(frozen=True)
class Predictions:
    """What one model says about some people.

    `score`: probability of the favorable label, or for areas any score; None if nothing needs it.
    """

    label: np.ndarray
    score: np.ndarray | None = None

    def take(self, rows):
        """Return the predictions for some of the people."""
        return Predictions(self.label[rows], None if self.score is None else self.score[rows])

    @classmethod
    def joined(cls, parts, rows):
        """Return the predictions of several models, each about its own rows of one table."""
        order = np.argsort(np.concatenate(rows), kind="stable")
        label = np.concatenate([p.label for p in parts])[order]
        if parts[0].score is None:
            return cls(label)
        return cls(label, np.concatenate([p.score for p in parts])[order])


@dataclass(frozen=True)
class Groups:
    """The groups of one protected column.

    Attributes
    ----------
    code : ndarray of int, shape (n,)
        Number of the group of each person; -1 for groups that are too small, and missing values.
    left_out : list of str
        Groups that are too small to be compared.
    is_missing : ndarray of bool, shape (n,), or None
        Who has no value; None if nobody.
    """

    code: np.ndarray
    names: list
    left_out: list
    is_missing: np.ndarray | None = None

    @classmethod
    def of(cls, column, min_support, n_bins):
        """Number the groups of a column; many numbers become bins."""
        if of_numbers(column.dtype):
            many = column.nunique() > n_bins
            if many:
                frame = column.to_frame("value")
                column = Discretizer(n_bins, encode="text").fit_transform(frame)["value"]
        counts = counts_of_values(column)
        enough = counts[counts >= min_support * len(column)]
        values = sorted(enough.index, key=lambda v: (str(type(v)), v))
        left_out = [str(plain(v)) for v in counts.index if v not in enough.index]
        code = column.map(dict(zip(values, range(len(values)), strict=True)))
        code = code.astype(float).fillna(-1).to_numpy().astype(int)
        missing = column.isna().to_numpy()
        return cls(code, [str(plain(v)) for v in values], left_out, missing)

    def take(self, rows):
        """Return the groups of some of the people."""
        missing = None if self.is_missing is None else self.is_missing[rows]
        return replace(self, code=self.code[rows], is_missing=missing)


@dataclass(frozen=True)
class Question:
    """Some people, and what two models are compared by about them.

    Attributes
    ----------
    favorable : list
        The favorable labels.
    part : ndarray of int, shape (n,)
        Number of the models that speak about each person: the folds of a cross-fitting.
    by_part : bool
        Whether a gap is the mean over the parts of the largest gap of each, rather than that of the
        people of all parts, in which gaps of opposite signs cancel.
    """

    y: np.ndarray
    favorable: list
    groups: dict
    scoring: str
    metric: str
    scale: str
    margin: float
    min_gain: float
    part: np.ndarray
    by_part: bool = False

    def take(self, rows):
        """Return the question about some of the people."""
        groups = {name: g.take(rows) for name, g in self.groups.items()}
        return replace(self, y=self.y[rows], part=self.part[rows], groups=groups)

    @property
    def is_favorable(self):
        """Whether the label of each person is favorable."""
        return is_favorable(self.y, self.favorable)

    def events(self, predictions, metric=None):
        """Return 1 for people with the event of the metric, 0 for others, NaN for no trial."""
        decided = is_favorable(predictions.label, self.favorable)
        cell = 2 * self.is_favorable.astype(int) + decided.astype(int)
        return rate_values(cell, metric or self.metric)

    def rates(self, predictions, name):
        """Return the rate of each group of a column; NaN where nobody counts."""
        groups, events = self.groups[name], self.events(predictions)
        counts = (groups.code >= 0) & ~np.isnan(events)
        size = len(groups.names)
        n = np.bincount(groups.code[counts], minlength=size)
        x = np.bincount(groups.code[counts], events[counts], minlength=size)
        return np.divide(x, n, out=np.full(size, np.nan), where=n > 0)

    def gap(self, predictions, name):
        """Return the two groups furthest apart, highest rate first, and their gap.

        With `by_part` these are the groups of each part, shape (n_parts, 2), and the mean over the
        parts of their largest gaps.
        """
        if self.by_part:
            several = [(q.gap(predictions.take(rows), name), w) for q, rows, w in self.parts()]
            pairs = np.array([pair for (pair, _), _ in several])
            return pairs, float(sum(w * gap for (_, gap), w in several))
        rate = self.rates(predictions, name)
        if np.isnan(rate).all():
            return (0, 1), np.nan
        high, low = int(np.nanargmax(rate)), int(np.nanargmin(rate))
        return (high, low), float(self._gap_between(rate[high], rate[low]))

    def gap_in_pair(self, predictions, name, pair):
        """Return the gap between two groups that are fixed, which is negative if it is reversed.

        Parameters
        ----------
        predictions : Predictions
        name : str
            Column.
        pair : array-like of shape (2,) or (n_parts, 2)
            The groups whose rates are added and subtracted; with `by_part` of each part, and the
            gap is the mean over the parts.
        """
        total = 0.0
        of_parts = list(self.parts())
        pairs = np.broadcast_to(pair, (len(of_parts), 2))
        for (question, rows, share), (high, low) in zip(of_parts, pairs, strict=True):
            rate = question.rates(predictions.take(rows), name)
            total += share * self._gap_between(rate[high], rate[low])
        return float(total)

    def _gap_between(self, high, low):
        """Return the gap between two rates on the scale; NaN for a ratio that is not defined."""
        if self.scale == "difference":
            return high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = 1 - low / high
        return gap if np.isfinite(gap) else np.nan

    def parts(self):
        """Yield the question about each part, its rows, and its share of the people."""
        if not self.by_part:
            yield self, np.arange(len(self.y)), 1.0
            return
        for k in np.unique(self.part):
            rows = np.flatnonzero(self.part == k)
            yield replace(self.take(rows), by_part=False), rows, len(rows) / len(self.y)

    def widest(self, predictions):
        """Return the two groups of the largest gap of each column, and that gap."""
        return {name: self.gap(predictions, name) for name in self.groups}

    def score(self, predictions):
        """Return the score of a model; greater is better."""
        if self.scoring == "roc_auc":
            return float(self._placements(predictions)[0].mean())
        return float(self._of_each(predictions).mean())

    def score_z(self, present, alternative):
        """Return z of "the score of the alternative is not worse by the margin"."""
        if self.scoring == "roc_auc":
            placements_of_present = self._placements(present)
            return paired_auc_z(placements_of_present, self._placements(alternative), self.margin)
        a, b = self._of_each(present), self._of_each(alternative)
        if self.scoring == "accuracy":
            return float(tango_z(np.sum(b > a), np.sum(a > b), len(a), self.margin))
        return bounded_mean_z(b - a, self.margin, SCORES[self.scoring])

    def _of_each(self, predictions):
        """Return the score of each person."""
        if self.scoring == "accuracy":
            return (predictions.label == self.y).astype(float)
        p = predictions.score
        if self.scoring == "neg_brier_score":
            return -((p - self.is_favorable) ** 2)
        p = np.clip(np.where(self.is_favorable, p, 1 - p), CLIPPED, 1 - CLIPPED)
        return np.log(p)

    def _placements(self, predictions):
        """Return the placements among people whom the same model speaks about."""
        parts = [self.part == k for k in np.unique(self.part)]
        truth = self.is_favorable
        several = [placements(predictions.score[p], truth[p]) for p in parts]
        return tuple(np.concatenate(side) for side in zip(*several, strict=True))

    def gain_z(self, present, alternative, pairs):
        """Return the smallest z of "the gap is smaller by more than `min_gain`".

        `pairs`: two groups of each column, which are fixed without these people: the gap of the
        present model is held to them; that of the alternative to all pairs.
        """
        several = [
            np.min((gain - self.min_gain) / error)
            for gain, error in (
                self.gains_of_pairs(present, alternative, n, p) for n, p in pairs.items()
            )
        ]
        return float(min(several))

    def hardest(self, present, alternative, pairs):
        """Return the column, and the two groups of the alternative, that give `gain_z`.

        The groups are None with `by_part`, where an assignment of pairs to parts gives it.
        """
        z_of_column = {}
        for name, pair in pairs.items():
            gain, error = self.gains_of_pairs(present, alternative, name, pair)
            z = ((gain - self.min_gain) / error).ravel()
            z_of_column[name] = float(z.min()), int(z.argmin())
        name = min(z_of_column, key=lambda n: z_of_column[n][0])
        if self.by_part:
            return name, None
        return name, tuple(all_pairs(len(self.groups[name].names))[z_of_column[name][1]])

    def gap_bound(self, predictions, name, critical):
        """Return an upper bound of the largest gap of a model; of a ratio, of its logarithm.

        No alternative can reduce the gap by more.
        """
        no_gap = (0, 0)
        gain, error = self.gains_of_pairs(predictions, predictions, name, None, no_gap)
        return float(np.max(gain + critical * error))

    def gain_bounds(self, present, alternative, present_pairs, alternative_pairs, critical):
        """Return a lower and an upper bound of the reduction of the largest gap.

        Lower: the present model is held to its pair and the alternative to all. Upper: the other
        way round. Of several columns the least reduction counts.
        """
        lows, highs = [], []
        for name in self.groups:
            gain, error = self.gains_of_pairs(present, alternative, name, present_pairs[name])
            lows.append(np.min(gain - critical * error))
            gain, error = self.gains_of_pairs(
                present, alternative, name, None, alternative_pairs[name]
            )
            highs.append(np.max(gain + critical * error))
        return float(min(lows)), float(min(highs))

    def gains_of_pairs(self, present, alternative, name, present_pairs, alternative_pairs=None):
        """Return gain and error for each two pairs of a column; None stands for all pairs.

        With `by_part` these are means over the parts, for those assignments of pairs to parts that
        can be extreme.
        """
        k = len(self.groups[name].names)
        parts, gain, variance = list(self.parts()), [], []
        pairs_by_model = [
            None if pairs is None else np.broadcast_to(pairs, (len(parts), 2))
            for pairs in (present_pairs, alternative_pairs)
        ]
        for i, (question, rows, share) in enumerate(parts):
            contrasts = [
                contrasts_of(all_pairs(k) if pairs is None else pairs[[i]], k)
                for pairs in pairs_by_model
            ]
            code = question.groups[name].code
            a, b = (question.events(p.take(rows)) for p in (present, alternative))
            counts = (code >= 0) & ~np.isnan(a)
            of_part, error = gains(
                a[counts] > 0,
                b[counts] > 0,
                code[counts],
                *contrasts,
                is_ratio=self.scale == "ratio",
                more=1 / len(parts),
            )
            gain.append(share * of_part.ravel())
            variance.append((share * error.ravel()) ** 2)
        if not self.by_part:
            return gain[0], np.sqrt(variance[0])
        return extreme_sums(gain, variance)

    def n_assignments(self, name):
        """Return how many ordered pairs, or assignments of pairs to parts, a column has."""
        k = len(self.groups[name].names)
        return (k * (k - 1)) ** sum(1 for _ in self.parts())
