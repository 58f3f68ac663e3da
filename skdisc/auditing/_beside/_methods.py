"""BesideMixin: what an `Audit` does beside the audit of rows."""

from collections.abc import Mapping
from functools import wraps
from typing import Any, Self

import pandas as pd
from sklearn.base import clone

from skdisc._space._bins import Bins
from skdisc._utils._json import jsonable
from skdisc._utils._types import ArrayLike, FilePath, FrameLike, Model
from skdisc._verdicts._relevant import NUMBER, RATE, relevant_gap
from skdisc.auditing._audit_report import AuditReport
from skdisc.auditing._beside._counts import audit_counts
from skdisc.auditing._beside._plan_file import (
    make_plan_file,
    plan_sha256,
    read_plan,
    write_plan,
)
from skdisc.auditing._beside._power import power_table
from skdisc.auditing._beside._robustness import robustness_table
from skdisc.auditing._disclosure import PUBLIC
from skdisc.auditing._document import NOT_SETTINGS, shared_from_dict, shared_to_dict


def _of_an_audit(method):
    """Return the method, which says so if it is called on the class."""

    @wraps(method)
    def checked(*args, **kwargs):
        if not args or not isinstance(args[0], BesideMixin):
            got = f", with {type(args[0]).__name__} in place of an audit" if args else ""
            name = method.__name__
            raise TypeError(
                f"Audit.{name} was called on the class{got}: it is a method of an audit with its "
                f"settings. Write Audit(protected=...).{name}(...)."
            )
        return method(*args, **kwargs)

    return checked


class BesideMixin:
    """Audits of counts, power before data are collected, plans, and robustness; of an `Audit`."""

    @classmethod
    def from_counts(cls, table: FrameLike, **settings: Any) -> AuditReport:
        """Audit published counts: how many people of each group there are, and were selected.

        So bias audits of hiring tools are published (Local Law 144 of New York City). Each
        attribute is asked about its marginal question; an intersection is one more attribute.

        Parameters
        ----------
        table : DataFrame, or a dict or list that makes one
            One row for each group: "attribute" (such as "sex", or "sex x race"), "group", "n" (the
            number of people), and "selected" (how many of them were selected).
        **settings
            Parameters of the audit, such as ``template="ll144"``.

        Returns
        -------
        AuditReport

        Raises
        ------
        ValueError
            If a column or a number is missing, negative or a fraction, more people are selected
            than there are, a group has two rows, or an attribute has one group only.

        Examples
        --------
        >>> from skdisc import Audit
        >>> groups = {"attribute": "sex", "group": ["F", "M"]}
        >>> table = groups | {"n": [900, 1100], "selected": [180, 440]}
        >>> Audit.from_counts(table).to_frame("verdicts")[["attribute", "verdict"]]
          attribute          verdict
        0       sex  disparity found
        """
        audit = cls(**settings)
        audit._check_settings()
        if audit.disclosure == PUBLIC:
            raise ValueError(
                "disclosure='public' chooses groups among rows, and these are counts that may be "
                "known already. skdisc.auditing.public_counts makes such counts of rows."
            )
        return audit_counts(audit, table)

    @_of_an_audit
    def power(
        self, n: int, shares: Mapping | FrameLike, rate: float = 0.5, **how: Any
    ) -> pd.DataFrame:
        """Return what this audit could show, before data are collected.

        Parameters
        ----------
        n : int
            Number of people.
        shares : dict or DataFrame
            The share of each group: ``{"sex": {"F": 0.4, "M": 0.6}}``, or columns "attribute",
            "group" and "share".
        rate : float, default=0.5
            Share of favorable outcomes among all.
        **how
            ``spread``, for numbers such as pay: their standard deviation as a share of the mean,
            among people who are equal in the legitimate columns; all gaps are then shares of the
            mean, and `rate` plays no part. ``power=0.8``; ``n_questions``, over which the level is
            shared (by default three for each attribute: marginal, contextual and conditional);
            ``context=1.0``, the share of the people among whom a group differs; and
            ``n_contexts=1``, among how many contexts it is looked for.

        Returns
        -------
        DataFrame
            One row for each group: attribute, group, people; level, of the test of its gap after
            correction; gap_below and gap_above, the smallest gap to the other people that is shown
            with this power where the group has the lower or the higher rate (NaN: none). What is
            excluded with probability .9 where there is no gap: excludes, above which all gaps of
            the group are; excludes_in_context, the same in a context so small that the group has
            `relevant_size` of all people there; side_needed, with how many people on each side
            a gap of `relevant_gap` is; and cleared, whether the group and the others are as good as
            that. A question is answered "no disparity found" only if all of its groups are
            cleared: that about all people by its rows here, those about contexts down to
            excludes_in_context. Normal tails: where a group expects fewer than 10 outcomes of the
            rarer kind, the power may be off by a tenth.

        Raises
        ------
        ValueError
            If shares do not add up to 1, or a number is not allowed.

        Examples
        --------
        >>> from skdisc import Audit
        >>> table = Audit().power(2000, {"sex": {"F": 0.4, "M": 0.6}}, rate=0.3)
        >>> table[["group", "people", "gap_below", "excludes"]].round(3)
          group  people  gap_below  excludes
        0     F   800.0      0.067     0.069
        1     M  1200.0      0.068     0.069
        """
        self._check_settings()
        kind, mean = (RATE, rate) if how.get("spread") is None else (NUMBER, 1.0)
        gap = relevant_gap(self.relevant_gap, kind=kind, mean=mean).size
        return power_table(
            n,
            shares,
            rate,
            significance=self.significance,
            relevant_gap=gap,
            relevant_size=self.relevant_size,
            **how,
        )

    @_of_an_audit
    def to_plan(self, path: FilePath | None = None) -> dict:
        """Return the settings as a plan, and write it to a file, before the data are read.

        Parameters
        ----------
        path : str or Path, optional
            A JSON file.

        Returns
        -------
        dict
            Schema, version of skdisc, and settings. What answers do not depend on is left out, and
            so are objects: estimator and counterfactuals.

        Raises
        ------
        ValueError
            If a setting is not allowed, or an object that a file cannot hold.
        """
        self._check_settings()
        plan = make_plan_file("settings", self._planned_settings())
        if path is not None:
            write_plan(plan, path)
        return plan

    @classmethod
    def from_plan(cls, path: FilePath, **others: Any) -> Self:
        """Return the Audit of a plan; its reports have the plan's hash.

        Parameters
        ----------
        path : str or Path
            A file written by `to_plan`.
        **others
            Parameters that a plan leaves open: estimator, counterfactuals, cache, meta, n_jobs and
            verbose.

        Returns
        -------
        Audit
            If its settings are changed, `fit` raises a ValueError.

        Raises
        ------
        ValueError
            If the file is no such plan, or a parameter contradicts it.
        """
        plan = read_plan(path, "settings")
        audit = cls(**others)
        places = [n for n in plan["settings"] if n in NOT_SETTINGS]
        if places:
            raise ValueError(
                f"The plan sets {places[0]!r}, which no plan may set: pass it beside the plan."
            )
        unknown = [n for n in plan["settings"] if n not in audit.get_params(deep=False)]
        if unknown:
            raise ValueError(f"The plan has the setting {unknown[0]!r}, which there is not.")
        planned = {n: v for n, v in plan["settings"].items() if n not in others}
        planned = shared_from_dict(planned)
        audit.set_params(**planned)
        audit._plan = plan
        audit._sha256_of_plan()
        return audit

    @_of_an_audit
    def robustness(
        self,
        X: FrameLike,
        y: ArrayLike | None = None,
        model: Model | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return how the verdicts move with settings that are matters of choice.

        One setting at a time is changed: n_bins (3, 4, 6), missing ("category", "drop"),
        relevant_gap (.05, .1, .15; of numbers 2.5 %, 5 % and 10 %), relevant_ratio (.7, .8, .9; of
        decisions) and max_predicates (1, 2, 3).
        This takes up to nine audits; what a setting does not change is not computed again. A report
        of `fit` about the same rows keeps the table in its document.

        Parameters
        ----------
        X, y, model, sample_weight, groups
            As in `fit`.

        Returns
        -------
        DataFrame
            attribute, null, setting, value and verdict. The first value of a setting is that of
            this audit.

        Raises
        ------
        ValueError
            If a setting, a column or a label is not allowed; the message names it.
        """
        self._check_settings()
        if self.disclosure == PUBLIC:
            raise ValueError(
                "disclosure='public' goes without robustness: audits with other settings compare "
                "other groups."
            )
        extra = {"sample_weight": sample_weight, "groups": groups}
        table, report = robustness_table(self, X, y, model, **extra)
        fitted_report = getattr(self, "report_", None)
        same = ("fingerprints", "groups")  # of people, and of their outcomes
        if fitted_report is not None and all(
            fitted_report.document[n] == report.document[n] for n in same
        ):
            fitted_report.document["robustness"] = jsonable(table.to_dict("records"))
        return table

    def _planned_settings(self):
        """Return the parameters that a plan fixes."""
        settings = self.get_params(deep=False) | shared_to_dict(self)
        if isinstance(self.n_bins, Bins):
            settings["n_bins"] = self.n_bins.to_dict()
        return {n: v for n, v in settings.items() if n not in NOT_SETTINGS}

    def _sha256_of_plan(self):
        """Return the hash of the plan, None without one; raise ValueError if it is not kept."""
        plan = getattr(self, "_plan", None)
        if plan is None:
            return None
        settings = make_plan_file("settings", self._planned_settings())["settings"]
        # A setting that did not exist when the plan was written was at its default there.
        defaults = jsonable(type(self)()._planned_settings())
        for name, value in settings.items():
            planned = plan["settings"].get(name, defaults[name])
            pairs = {name: (value, planned)}
            if name in ("rule", "limits"):
                planned = defaults[name] | planned
                pairs = {field: (value[field], planned[field]) for field in value}
            for field, (current_value, planned_value) in pairs.items():
                if current_value != planned_value:
                    raise ValueError(
                        f"{field}={current_value!r} contradicts the plan, which says "
                        f"{planned_value!r}. Keep to the plan, or write another by to_plan, before "
                        "you look."
                    )
        return plan_sha256(plan)

    def __sklearn_clone__(self):
        params = {n: clone(v, safe=False) for n, v in self.get_params(deep=False).items()}
        copy = type(self)(**params)
        if hasattr(self, "_plan"):
            copy._plan = self._plan
        return copy
