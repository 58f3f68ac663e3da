"""One run of a search: how candidates are fitted, chosen and asked."""

import sys
import time
from dataclasses import replace
from hashlib import sha256
from numbers import Integral

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from skdisc._utils._json import describe
from skdisc._utils._safe_text import clean
from skdisc._utils._validation import is_favorable
from skdisc.auditing._fingerprints import settings_fingerprint
from skdisc.model_selection._alternatives import _candidates as tried
from skdisc.model_selection._alternatives._choice import Choice
from skdisc.model_selection._alternatives._split import N_FOLDS, least_people

_HELD_OUT = 0.4  # of the design part, on which fitted models are chosen
_FEW = 500  # people
_CLUSTERS = 5  # the fewest that are divided into folds


def _digest(array):
    """Return a hash of the values of an array."""
    return sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


class SearchRun:
    """One search: the models, the people, and how they are fitted."""

    def __init__(self, search, everyone, arguments, rows, question, clusters):
        self.search, self.everyone, self.arguments = search, everyone, arguments
        self.rows, self.question = rows, question
        self.clusters = None if clusters is None else np.asarray(clusters)
        seed = search.random_state if isinstance(search.random_state, Integral) else 0
        self.trial = tried.CandidateTrial(
            question.favorable, search.scoring, seed, np.unique(rows.y)
        )
        self.errors = {}
        self.texts = [tried.text_of(c.estimator) for c in everyone]
        self.is_of_seeds = tried.differ_in_seeds(everyone[0].estimator, everyone[1:])
        self._began, self._n_chosen = time.monotonic(), 0

    def check_margin(self, n):
        """Raise ValueError if n people cannot show the margin, whatever they say."""
        least = least_people(self.search.margin, -ndtri(self.search.significance))
        if n < least:
            raise ValueError(
                f"An alternative cannot be shown here: a margin of {self.search.margin:g} takes at "
                f"least {least:,} people whom nothing has seen, and there are {n:,}. Pass more "
                "people, or allow a larger margin."
            )

    def check_clusters(self, *several):
        """Raise ValueError if some rows have too few clusters for folds."""
        if self.clusters is None:
            return
        n = min(len(pd.unique(self.clusters[rows])) for rows in several)
        if n < _CLUSTERS:
            raise ValueError(
                f"groups has {len(pd.unique(self.clusters)):,} different values, and one part of "
                f"the people has {n:,} of them; it takes at least {_CLUSTERS}. Pass people of more "
                "clusters, or no groups if people are independent."
            )

    def check_people(self, parts):
        """Raise ValueError if the parts are too small, before anything is fitted."""
        self.check_clusters(parts.design, parts.claim)
        self.check_margin(len(parts.claim))
        for what, rows in (("design", parts.design), ("claim", parts.claim)):
            part = self.question.take(rows)
            perfect = tried.Predictions(part.y)
            for name, groups in part.groups.items():
                rate = part.rates(perfect, name)
                if np.isnan(rate).any():
                    group = groups.names[int(np.flatnonzero(np.isnan(rate))[0])]
                    raise ValueError(
                        f"{self.search.metric} is undefined in the group {group!r} of {name!r}: "
                        f"the {what} part has nobody who counts. Join small groups, raise "
                        "min_support, or pass more people."
                    )

    def choose(self, design):
        """Return the choice on the design part, and the outcomes."""
        how = self.search.choice
        is_held_out = how == "held-out" or (how == "auto" and self.is_of_seeds)
        if is_held_out:
            n = round(len(design) * (1 - _HELD_OUT))
            folds, final_rows = [(design[:n], design[n:])], None
            if self.clusters is not None:  # rows are in the order of their clusters' hashes
                same = self.clusters[design] == self.clusters[design[n - 1]]
                folds = [(design[:n], design[n:][~same[n:]])]
        else:
            folds, final_rows = self.folds(design), design
        outcomes = self.outcomes(range(len(self.everyone)), folds, final_rows, announce=True)
        question = self.question.take(np.sort(np.concatenate([ask for _, ask in folds])))
        question = self.of_folds(question, folds)
        return Choice.of(question, [o.predictions for o in outcomes]), outcomes

    def of_folds(self, question, folds):
        """Return a question whose people know by which clones they were predicted."""
        rows = np.concatenate([ask for _, ask in folds])
        part = np.concatenate([np.full(len(ask), k) for k, (_, ask) in enumerate(folds)])
        return replace(question, part=part[np.argsort(rows, kind="stable")])

    def folds(self, design):
        """Return five folds of the design part, as rows of the table."""
        y = self.rows.y[design]
        if self.clusters is not None:
            several = StratifiedGroupKFold(5).split(y, y, self.clusters[design])
        else:
            least = int(np.unique(y, return_counts=True)[1].min())
            several = StratifiedKFold(max(2, min(5, least))).split(y, y)
        return [(design[learn], design[ask]) for learn, ask in several]

    def outcomes(self, numbers, folds, final_rows, announce=False):
        """Return the outcome of some models; raise what the present one raises."""
        n_jobs = self.search.n_jobs
        models = (self.everyone[i] for i in numbers)
        outcomes = self.trial.run(
            self._announced(models) if announce else models,
            self.rows,
            folds,
            final_rows,
            [self.arguments[i] for i in numbers],
            n_jobs,
        )
        for i, outcome in zip(numbers, outcomes, strict=True):
            if outcome.error and i == 0:
                raise outcome.exception
            if outcome.error:
                self.errors[i - 1] = outcome.error
        return outcomes

    def _announced(self, models):
        """Yield the models, and announce each before it is fitted."""
        n_choices = 1
        if self.search.claim == "recipe":
            n_choices = N_FOLDS * self.search.n_partitions
        for model in models:
            self._n_chosen += 1
            progress = f"{self._n_chosen} of {max(n_choices * len(self.everyone), self._n_chosen)}"
            self.tell(f"{progress}: {model.name}")
            yield model

    def tell(self, text):
        """Write what is done next to standard error, if the search is verbose."""
        if self.search.verbose:
            seconds = time.monotonic() - self._began
            sys.stderr.write(f"AlternativeSearch: {clean(text)}, {seconds:.0f} s\n")
            sys.stderr.flush()

    def choose_recipe(self, learn):
        """Return the choice among some people, and a function that fits to people and asks."""
        folds = self.folds(learn)
        outcomes = self.outcomes(range(len(self.everyone)), folds, None, announce=True)
        question = self.question.take(np.sort(learn))
        question = self.of_folds(question, folds)
        return Choice.of(question, [o.predictions for o in outcomes], by_part=True), self.fit

    def fit(self, numbers, learn, ask):
        """Fit models to some people, and ask them about others."""
        return self.outcomes(numbers, [(learn, ask)], None)

    def ask(self, outcomes, rows):
        """Return the predictions of fitted models for some people; None where a model fails."""
        part, answers = self.rows.take(rows), []
        for i, outcome in enumerate(outcomes):
            answers.append(None)
            if outcome.model is None:
                continue
            try:
                answers[-1] = self.trial.ask(outcome.model, part, outcome)
            except Exception as error:
                if i == 0:
                    raise
                outcome.error = f"{type(error).__name__}: {error}"
        return answers

    def fingerprint(self, rows, answers, ladders):
        """Return a hash of all that is tried, and of all that it says about the people.

        Models that are written alike can differ: in functions, weights, and what they learned. But
        they are no other models to these people than their predictions.

        `rows`: the people of the claim, in the order of their places. `answers`: of all models that
        are tested, for these people. `ladders`: which are tested, in their order.
        """
        settings = {
            n: describe(v)
            for n, v in self.search.get_params(deep=False).items()
            if n not in ("estimator", "candidates", "n_jobs", "log", "verbose")
        }
        models = [[c.name, text] for c, text in zip(self.everyone, self.texts, strict=True)]
        people = {str(name): _digest(g.code[rows]) for name, g in self.question.groups.items()}
        digests = [p and self._said(p, self.rows.y[rows]) for p in answers]
        return settings_fingerprint(
            {
                "settings": settings,
                "models": models,
                "people": [people, _digest(self.question.is_favorable[rows])],
                "said": digests,
                "ladders": ladders,
            }
        )

    def _said(self, predictions, y):
        """Return digests of what a model says about people: favors, is right, and its scores."""
        label, score = predictions.label, predictions.score
        favors = np.asarray(is_favorable(label, self.question.favorable))
        scores = "" if score is None else _digest(np.round(score, 9) + 0.0)  # -0 is 0
        return [_digest(favors), _digest(np.asarray(label == y)), scores]

    def read_protected(self, models, predictions, people):
        """Return whether models need the protected columns to predict.

        None if there is no model, or it cannot be asked about other protected values.
        """
        variants = tried.with_other_groups(self.rows.take(people))
        few = np.arange(min(_FEW, len(people)))  # which show most of the models that need them
        sample, needs_protected = [v.take(few) for v in variants], []
        for model, p in zip(models, predictions, strict=True):
            needs_protected.append(None if p is None else tried.takes_protected(model, "predict"))
            if needs_protected[-1] is False:
                cases = self.cases(model, p.label[few], sample)
                if cases is not None and not cases.any():
                    cases = self.cases(model, p.label, variants)
                needs_protected[-1] = None if cases is None else bool(cases.any())
        return needs_protected

    def cases(self, model, before, variants):
        """Return whose decision changes with other protected values, or None if none is known."""
        try:
            after = [
                np.ravel(tried._predict(model, "predict", people, self.trial.random_state))
                for people in variants
            ]
        except Exception:  # of values, or combinations of them, that the model does not know
            return None
        return np.logical_or.reduce([answers != before for answers in after])

    def probabilities_and_cases(self, findings):
        """Return probabilities and cases of both models on the people of the claim."""
        people, n = findings.people, len(findings.people)
        probabilities = [np.full(n, np.nan) for _ in range(2)]
        cases, is_known = np.zeros((2, n), dtype=bool), [True, True]
        for *models, mask in findings.models:
            where = np.arange(n) if mask is None else np.flatnonzero(mask)
            part = self.rows.take(people[where])
            variants = tried.with_other_groups(part)
            for k, model in enumerate(models):
                p = tried.probabilities(
                    model, part, self.question.favorable, self.trial.random_state
                )
                probabilities[k][where] = np.nan if p is None else p
                changed = self.cases(model, findings.predictions[k].label[where], variants)
                is_known[k] &= changed is not None
                cases[k][where] = False if changed is None else changed
        return (
            [None if np.isnan(p).any() else p for p in probabilities],
            [c if has_cases else None for c, has_cases in zip(cases, is_known, strict=True)],
        )

    def results(self, findings):
        """Return `cv_results_`."""
        n, choice, claim = len(self.everyone), findings.choice, findings.claim
        outcomes, claimed = findings.outcomes, findings.claim_predictions
        step = np.zeros(n, dtype=int)
        step[[k + 1 for k in choice.ladder]] = np.arange(1, len(choice.ladder) + 1)
        tested, shown = np.zeros((2, n), dtype=bool)
        for s in claim.steps:
            if s.index >= 0:
                tested[s.index + 1], shown[s.index + 1] = True, s.shown
        params = np.empty(n, dtype=object)
        params[:] = [c.params for c in self.everyone]
        foreseen = choice.foreseen(len(findings.people), self.search.significance)
        results = {
            "name": np.array([c.name for c in self.everyone], dtype=object),
            "params": params,
            "score": choice.score,
            "gap": choice.gap,
            "score_z": np.r_[np.nan, choice.score_z],
            "gain_z": np.r_[np.nan, choice.gain_z],
            "foreseen": np.r_[np.nan, foreseen],
            "step": step,
            "tested": tested,
            "shown": shown,
            "fit_time": np.array([o.fit_time for o in outcomes]),
            "predict_time": np.array([o.predict_time for o in outcomes]),
            "error": np.array([o.error for o in outcomes], dtype=object),
        }
        if claimed is None:
            return results | {"times_chosen": findings.times_chosen}
        question = findings.question
        results["claim_score"] = np.array(
            [np.nan if p is None else question.score(p) for p in claimed]
        )
        results["claim_gap"] = np.array(
            [
                np.nan if p is None else max(gap for _, gap in question.widest(p).values())
                for p in claimed
            ]
        )
        results["gain_low"], results["gain_high"] = (
            np.r_[np.nan, claim.low],
            np.r_[np.nan, claim.high],
        )
        results["reads_protected"] = np.array(
            self.read_protected([o.model for o in outcomes], claimed, findings.people), dtype=object
        )
        return results
