"""Probabilities of membership: whether they are right, and those given outcomes, too."""

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skdisc._utils._types import ArrayLike, FrameLike
from skdisc._utils._validation import check_frame, check_labels, check_protected, is_favorable
from skdisc.group._proxy_disparity._calibration import calibration_table, known_members
from skdisc.group._proxy_disparity._latent_groups import columns_of_probabilities
from skdisc.group._proxy_disparity._latent_rates import updated_memberships


class MembershipsMixin:
    """Adds methods about the columns of probabilities."""

    def calibration(
        self,
        X: FrameLike,
        known: ArrayLike,
        groups: Mapping[Hashable, Hashable] | None = None,
    ) -> pd.DataFrame:
        """Compare the probabilities with the groups of some people, where these are known.

        The null hypothesis is that people of probability q are members with probability q. It is
        tested on the numbers of members in up to five bins of q, by a chi-squared law of known
        variances. A large p-value does not prove calibration: the interval says how far off the
        share of the group can be. People whose group is known may differ from the others.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Rows with the columns of fit.
        known : array-like of shape (n_samples,)
            The group of each person, missing where it is not known.
        groups : dict of column to value of `known`, default=None
            Which group each column of probabilities is about; None: "p_black" is about "black".

        Returns
        -------
        DataFrame
            A row per column of probabilities: ``n`` people of known group, ``expected`` and
            ``observed`` share of members, their ``difference`` with interval, ``n_bins``,
            ``p_value`` and ``p_adjusted``, corrected over columns. The p-value is NaN if so few
            people are known that the number of members has an expected variance below 10.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `known` has another length than X, nobody's group is known, a column is about none
            of the groups, or there is no column of probabilities.
        """
        frame, columns = self._with_probabilities(X)
        is_known, member = known_members(known, columns, groups, len(frame))
        q = {c: frame.loc[is_known, c].to_numpy(dtype=float, na_value=np.nan) for c in columns}
        members = {c: m[is_known] for c, m in member.items()}
        return calibration_table(q, members, self.correction, self.significance)

    def memberships(self, X: FrameLike, y: ArrayLike) -> pd.DataFrame:
        r"""Return the probabilities of membership of each person, given the outcome, too.

        By Bayes' rule :math:`P(a \mid y, z) \propto q_a \theta_a^y (1 - \theta_a)^{1 - y}`, with
        the rates :math:`\theta` of the estimate ``model`` (BIRDiE), learned from these rows within
        each `place`. They rest on its assumption: given group and place, outcomes do not depend
        on the name. The rate of y among people weighted by them is the one of the model.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Rows with the columns of fit.
        y : array-like of shape (n_samples,)
            Labels or decisions, which are compared with ``pos_label_``.

        Returns
        -------
        DataFrame of shape (n_samples, n_probabilities)
            With the index of X, a column for each column of probabilities. NaN for people without a
            probability, and in places where probabilities vary too little to tell rates apart.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If y has another length than X or missing values, or there is no column of
            probabilities.
        """
        frame, columns = self._with_probabilities(X)
        good = is_favorable(check_labels(y, len(frame)), self.pos_label_).astype(float)
        q = frame[columns].to_numpy(dtype=float, na_value=np.nan)
        has_probability, place = ~np.isnan(q).any(axis=1), self._places(frame)
        updated = np.full(q.shape, np.nan)
        updated[has_probability] = updated_memberships(
            good[has_probability], q[has_probability], place[has_probability]
        )
        return pd.DataFrame(updated, index=getattr(X, "index", None), columns=columns)

    def _with_probabilities(self, X):
        """Return rows, and their columns of probabilities; there must be one."""
        check_is_fitted(self, "result_")
        frame, _ = check_frame(self, X, reset=False)
        columns = self._probabilities(frame, self.space_)
        if not columns:
            raise ValueError(
                f"protected={self.protected_!r} has no column of probabilities. Name it with "
                "proba=."
            )
        return frame, columns

    def _probabilities(self, X, space):
        """Return the columns of probabilities."""
        named = self.proba
        if not isinstance(named, str):
            named = check_protected(named, self.protected_, "proba")
        elif named != "auto":
            named = check_protected([named], self.protected_, "proba")
        return columns_of_probabilities(X, space, self.protected_, named)

    def _places(self, X):
        """Return the code of the place of each row; 0 without places."""
        if self.place is None:
            return np.zeros(len(X), dtype=int)
        names = check_protected(self.place, list(X), "place")
        return X.groupby(names, dropna=False, observed=True).ngroup().to_numpy()
