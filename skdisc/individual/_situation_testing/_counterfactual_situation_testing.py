"""CounterfactualSituationTesting: situation tests around a person's counterfactual."""

from typing import Any

import pandas as pd

from skdisc._task._card import Card
from skdisc._utils._hashing import canonical_order
from skdisc._utils._settings import setting
from skdisc._utils._validation import is_favorable
from skdisc.causal._counterfactual_rows import counterfactual_rows, is_frame, ready_each, take_rows
from skdisc.individual._situation_testing._base import SituationDetector


class CounterfactualSituationTesting(SituationDetector):
    r"""Compare members of a group with people similar to their counterfactual in the reference.

    As `SituationTesting`, but the test group of a person c is centered at :math:`x_c^{cf}`, the row
    that c would have as a member of the reference, according to a causal model. Differences in
    other attributes that the protected attribute causes therefore do not justify a difference in
    decisions.

    .. math:: \Delta p = p_c - p_t

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found, as in `SituationTesting`. Where the counterfactual decision is known,
        ``people`` has ``flip``, the own decision minus the counterfactual one (-1: rejected, but
        accepted in the counterfactual), ``counts`` the number of such people, and ``rates`` the
        share of unfavorable decisions (of numbers, the mean) of each group in both worlds.
    {inherited}

    Raises
    ------
    ValueError
        As in `SituationTesting`; also if a protected column has no source of counterfactuals, or
        `centers` is set and the decisions about the counterfactuals are not known.

    Notes
    -----
    Distances have one scale, learned from X. The published tables standardize the two worlds
    separately, which removes the mean effect of the causal model; so does
    ``Similarity(metric="alvarez2023")``. With `centers`, for small k the counterfactual decision
    dominates the test, and centers are not a random sample.

    References
    ----------
    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: uncovering discrimination under
    fairness given the difference. EAAMO 2023. :doi:`10.1145/3617694.3623222`

    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: from single to multidimensional
    discrimination. JAIR 82 (2025).

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import Similarity
    >>> loans = make_loan(1000, random_state=0)
    >>> test = CounterfactualSituationTesting(
    ...     protected="gender",
    ...     counterfactuals=loans.counterfactual.data,
    ...     criterion="gap",
    ...     similarity=Similarity(caliper=None),
    ... )
    >>> test.fit(loans.data, loans.target).result_.tables["counts"][["n", "gap", "adjusted"]]
         n  gap  adjusted
    0  470  106        86
    """

    counterfactuals: Any = setting(
        None,
        "no_validation",
        """A `StructuralCausalModel` (fitted on X unless it is fitted), a callable ``(X, do) ->
        frame`` (such as ``lambda X, do: scm.counterfactual(X, do, block=edges)``), a frame aligned
        with X, a pair of one and its decisions, or with `combine` "multiple" a dict of them by
        protected column. None: no other column depends on the protected attribute, and this is
        situation testing.""",
        kind="source of counterfactual rows",
    )
    centers: bool = setting(
        False,
        ["boolean"],
        """Count the person in the control group and their counterfactual in the test group.
        This needs the decision about the counterfactual, from a model or given.""",
    )

    null = "counterfactual"
    _needs = ("worlds",)
    card = Card(
        finds="individual",
        where="model or data",
        access="decisions and counterfactual rows",
        statistic="share of unfavorable decisions around a person minus that around their "
        "counterfactual",
        output="cases: people with their control and test groups, intervals and p-values",
        published="16.8 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Alvarez and Ruggieri, JAIR 2025",
        summary="people whose outcome differs from that of people similar to their counterfactual "
        "self",
        needs="decisions, a causal model",
        claims="On average, people of a protected group are decided otherwise than people of the "
        "reference group similar to their counterfactual row.",
        does_not_say="That the causal model is right.",
        family="groups with a reference",
        bounded="mean gap of matched people",
        decides="gap",
    )
    _versus = "people of the reference similar to their counterfactuals"
    rule_fields = ("significance", "correction", "relevant_gap")
    own_correction = "bh"

    def _sources(self, task):
        sources = self.counterfactuals
        if not isinstance(sources, dict):
            sources = dict.fromkeys(self.protected_, sources)
        lacking = [c for c in self.protected_ if c not in sources]
        if lacking:
            raise ValueError(
                f"counterfactuals has no source for the protected column {lacking[0]!r}."
            )
        # In an order that depends on values only, as a causal model may be fitted to these rows.
        aligned_sources = {c: take_rows(source, task.people.stay) for c, source in sources.items()}
        return ready_each(aligned_sources, task.X.iloc[canonical_order(task.X)])

    def _counterparts(self, sources, comparison, X, is_new):
        source = sources[comparison.columns[0]]
        if is_frame(source) and is_new:
            raise ValueError(
                "The counterfactual rows were given for the rows of fit and not for others. Give a "
                "causal model or a callable to audit new rows."
            )
        # Without effects on other columns, counterfactuals differ in protected columns only, which
        # distances leave out.
        if source is None:
            return X, None
        return counterfactual_rows(source, X, comparison.do)

    def _decided(self, counterparts, decisions, comparison, task):
        """Return the outcomes of the counterfactuals, given or queried, else None."""
        if decisions is not None:
            are_numbers = self.output == "value"
            outcomes = decisions if are_numbers else is_favorable(decisions, self.pos_label_)
            return outcomes.astype(float)
        if task.queries is None or self.model_.model is None:
            if self.centers:
                raise ValueError(
                    "centers=True needs the decisions about the counterfactual rows: audit a "
                    "model, or give counterfactuals=(frame, decisions)."
                )
            return None
        return task.queries.decide(counterfactual_rows(None, counterparts, comparison.do)[0])

    def _more_tables(self, task, outcome, judged):
        rows = []
        for part in judged:
            if part.decided is not None:
                c = part.comparison
                groups = (str(c.group), c.control(task.X)), (c.versus, c.test(task.X))
                values = [self._values(o)[:, 0] for o in (outcome, part.decided)]
                rows += [(n, int(m.sum()), *(_mean_of(v[m]) for v in values)) for n, m in groups]
        table = pd.DataFrame(rows, columns=["group", "n", "factual", "counterfactual"])
        return {"rates": table.drop_duplicates(ignore_index=True)}

    def _notes(self, task):
        notes = super()._notes(task)
        if any(source is None for source in task.memory.sources.values()):
            notes.append("No counterfactuals were given: the test is situation testing.")
        return notes


def _mean_of(values):
    """Return the mean of some numbers, NaN if there are none."""
    return float(values.mean()) if len(values) else float("nan")
