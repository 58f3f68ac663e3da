"""Rule: when a question is answered, the same for detectors, audits, command line and monitor."""

import re
from numbers import Real
from typing import Self

from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._utils._settings import INNER_SHARE, NOT_NEGATIVE
from skdisc._utils._shared_object import SharedObject, TakesObjects, refuse_unused

CORRECTIONS = ("bh", "by", "holm", "bonferroni", "none")
OF_RATES = (  # fields that detectors of groups use
    *("significance", "correction", "min_effect"),
    *("relevant_gap", "relevant_ratio", "relevant_size"),
)
_PERCENT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


class Rule(SharedObject):
    """When a question is answered: what counts as a disparity, and what excludes one.

    Detectors, `Audit`, the command line and the monitor take one as ``rule``. A detector lists the
    fields that it uses in ``rule_fields``; another field, set away from its default on the detector
    itself, is an error. `Audit` hands down to each detector the fields that it uses.

    Parameters
    ----------
    significance : float, default=0.05
        Level of the verdict, of intervals and of corrected p-values.
    relevant_gap : float, str or None, default=None
        The gap that matters: "no disparity found" excludes larger ones. A number is in the unit of
        the outcome (a share, for rates). None stands for 0.2 standard deviations of a yes-or-no
        outcome, 0.2 √(p (1 - p)) with p the favorable share of all people whom the measure is about
        (or the mean of probabilities), and for 5 % of the mean of a number (that of the reference,
        where there is one), rounded down to two digits. A text such as "3%" is this share of the
        mean of a number.
    relevant_ratio : float, default=0.8
        The ratio of rates that matters, which "no disparity found" excludes in a marginal question.
    relevant_size : float, default=0.05
        Share of the people from which on a group is judged: "no disparity found" is about all
        groups of this size or more.
    relevant_share : float, default=0.01
        Share of people with a case that matters, in searches for single cases.
    min_effect : float, default=0.0
        Largest effect that is not worth a finding: "disparity found" rejects smaller ones, too. In
        the unit of the outcome.
    correction : {"bh", "by", "holm", "bonferroni", "none", "alpha-investing"} or None, default=None
        Correction of the p-values for their number. None: the detector's own. "alpha-investing" is
        for `SliceFinder`.

    See Also
    --------
    skdisc.Audit : Asks several questions by one rule.

    Examples
    --------
    >>> from skdisc.group import GroupDisparity
    >>> detector = GroupDisparity(protected="sex", rule=Rule(relevant_gap=0.05))
    >>> detector.set_params(rule__significance=0.01).rule
    Rule(relevant_gap=0.05, significance=0.01)
    """

    _parameter_constraints = {
        "significance": [Interval(Real, 1e-12, 1, closed="left")],  # 1 - level / 2 < 1
        "relevant_gap": [Interval(Real, 0, None, closed="neither"), str, None],
        "relevant_ratio": [INNER_SHARE],
        "relevant_size": [INNER_SHARE],
        "relevant_share": [Interval(Real, 0, 1, closed="left")],
        "min_effect": [NOT_NEGATIVE],
        "correction": [StrOptions({*CORRECTIONS, "alpha-investing"}), None],
    }

    def __init__(
        self,
        *,
        significance: float = 0.05,
        relevant_gap: float | str | None = None,
        relevant_ratio: float = 0.8,
        relevant_size: float = 0.05,
        relevant_share: float = 0.01,
        min_effect: float = 0.0,
        correction: str | None = None,
    ) -> None:
        self.significance = significance
        self.relevant_gap = relevant_gap
        self.relevant_ratio = relevant_ratio
        self.relevant_size = relevant_size
        self.relevant_share = relevant_share
        self.min_effect = min_effect
        self.correction = correction

    def check(self) -> Self:
        """Raise ValueError if a field is not allowed; return the rule.

        Returns
        -------
        Rule

        Raises
        ------
        ValueError
            If a field is outside its limits.
        """
        super().check()
        if isinstance(self.relevant_gap, str):
            share_of_mean(self.relevant_gap)
        return self


def share_of_mean(text: str) -> float:
    """Return the share that a text such as "5%" names; raise ValueError for another text."""
    match = _PERCENT.fullmatch(text)
    share = float(match[1]) / 100 if match else 0.0
    if not share > 0:
        raise ValueError(
            f"relevant_gap={text!r} is not allowed: give a number in the unit of the outcome, a "
            'share of the mean of a number, such as "5%", or None.'
        )
    return share


def rule_text(cls: type) -> str:
    """Return what the setting `rule` of a class does: which fields of a rule it uses."""
    names = [
        f'`correction` (here "{cls.own_correction}")' if n == "correction" else f"`{n}`"
        for n in cls.rule_fields
    ]
    *first, last = names
    used = f"{', '.join(first)} and {last}" if first else last
    return f"When the question is answered. None: ``Rule()``. It uses {used}."


class RuledMixin(TakesObjects):
    """Gives an estimator with a parameter ``rule`` its fields, read only, and makes it when set.

    `rule_fields` names the fields that the class uses, `own_correction` its correction where the
    rule leaves it open, and `own_corrections` those that it has.
    """

    _objects = {"rule": Rule}
    rule = None
    rule_fields: tuple[str, ...] = ("significance",)
    own_correction: str | None = None
    own_corrections: tuple[str, ...] = CORRECTIONS

    @property
    def significance(self) -> float:
        """Level of the verdict, of intervals and of corrected p-values."""
        return self._rule_in_force.significance

    @property
    def relevant_gap(self) -> float | str | None:
        """The gap that matters, as the rule has it."""
        return self._rule_in_force.relevant_gap

    @property
    def relevant_ratio(self) -> float:
        """The ratio of rates that matters."""
        return self._rule_in_force.relevant_ratio

    @property
    def relevant_size(self) -> float:
        """Share of the people from which on a group is judged."""
        return self._rule_in_force.relevant_size

    @property
    def relevant_share(self) -> float:
        """Share of people with a case that matters."""
        return self._rule_in_force.relevant_share

    @property
    def min_effect(self) -> float:
        """Largest effect that is not worth a finding."""
        return self._rule_in_force.min_effect

    @property
    def correction(self) -> str | None:
        """Correction of the p-values for their number."""
        return self._rule_in_force.correction or self.own_correction

    @property
    def _rule_in_force(self):
        return _DEFAULT if self.rule is None else self.rule

    def _check_rule(self):
        """Raise ValueError if a field of the rule is not allowed, or not used here."""
        if self.rule is None:
            return
        name = type(self).__name__
        refuse_unused(self.rule.check(), "rule", self.rule_fields, name)
        correction = self.rule.correction
        if correction is not None and correction not in self.own_corrections:
            raise ValueError(
                f"rule has correction={correction!r}, which {name} does not have. Its corrections: "
                f"{', '.join(map(repr, self.own_corrections))}."
            )

    def _rule_to_dict(self):
        """Return the fields that the class uses, with their values in force, a JSON object."""
        return {name: getattr(self, name) for name in self.rule_fields}


_DEFAULT = Rule()
