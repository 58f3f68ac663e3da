"""The detectors of the benchmark with their settings, and what each of them cannot be given."""

import inspect
from dataclasses import dataclass, field
from types import SimpleNamespace

from benchmarks.calibration import grid, oracle
from benchmarks.calibration.hard import HARD
from skdisc import Audit, Limits, all_detectors
from skdisc._blackbox._default_models import default_model

FEW = {"limits": Limits(tests=1000)}
SMALL = {  # settings of single detectors; all others are the defaults
    **dict.fromkeys(["ADF", "EIDIG"], FEW | {"n_seeds": 50, "n_local": 20}),
    **dict.fromkeys(["Aequitas", "KOSEI", "SG", "ExactTree"], FEW),
    "BoundarySearch": FEW | {"n_pool": 1000},
    "LIMI": FEW | {"n_samples": 300, "n_boundary": 300},
    "ExpGA": FEW | {"n_draws": 100, "n_generations": 3},
}
VARIANTS = {  # further configurations: name -> detector, settings
    "GroupDisparity, best": ("GroupDisparity", {"reference": "best"}),
    "GroupDisparity, rest": ("GroupDisparity", {"reference": "rest"}),
    "GroupDisparity, four_fifths": ("GroupDisparity", {"preset": "four_fifths"}),
    "GroupDisparity, ll144": ("GroupDisparity", {"preset": "ll144"}),
    "DivExplorer, everyone": ("DivExplorer", {"versus": "everyone"}),
    "DivExplorer, 2 conditions": ("DivExplorer", {"max_predicates": 2}),
    "DiscriminatoryRules, 2 conditions": ("DiscriminatoryRules", {"max_predicates": 2}),
    "DisparityPursuit, 2 conditions": ("DisparityPursuit", {"max_predicates": 2}),
    "DivExplorer, confirm": ("DivExplorer", {"confirm": 0.5}),
    "BiasScan, confirm": ("BiasScan", {"confirm": 0.5}),
    "DiscriminatoryRules, confirm": ("DiscriminatoryRules", {"confirm": 0.5}),
    "DiscriminationPatterns, confirm": ("DiscriminationPatterns", {"confirm": 0.5}),
    "SliceLine, confirm": ("SliceLine", {"confirm": 0.5}),
    "SliceFinder, confirm": ("SliceFinder", {"confirm": 0.5}),
    "GroupDisparity, confirm": ("GroupDisparity", {"confirm": 0.5}),
    "SliceFinder, tree": ("SliceFinder", {"approach": "tree"}),
    "SituationTesting, largest": ("SituationTesting", {"reference": "largest"}),
    "SituationTesting, sex": ("SituationTesting", {"protected": ["sex"]}),
}
LEARNED = ("GerrymanderingAudit", "MultiaccuracyAudit", "MulticalibrationAudit")
FEW_WORLDS = ("coin", "legitimate", "correlated", "30 values", "rare 5 %", "uneven", "missing")
HARD_WORLDS = tuple(world.name for world in HARD)
WHERE = {  # worlds of further configurations and of slow detectors, by a part of their names
    "GroupDisparity,": (
        "coin",
        "30 values",
        "legitimate",
        "correlated",
        "margin",
        "ratio",
        "fair,",
    ),
    "confirm": ("coin", "legitimate", "intervals", "gap .20"),
    "2 conditions": ("n = 5,000, gap", "n = 50,000, gap"),
    "everyone": ("coin", "legitimate", "interaction"),
    "tree": ("coin", "legitimate", "noisy labels", "errors"),
    "SituationTesting,": ("coin", "legitimate", "correlated", "simpson", "fair model", "woman"),
    "FlipTest": ("coin", "legitimate", "fair model", "scm", "n = 100", "woman"),
    **dict.fromkeys(
        ("EffectDecomposition", "MultiaccuracyAudit"),
        (*FEW_WORLDS, "places", "simpson", "agreement", "grid", "fair, n", *HARD_WORLDS),
    ),
    "RankingDisparity": FEW_WORLDS,
    "Audit, all": ("coin", "legitimate", "30 values", "fair model", "missing values"),
    "Audit, boosting": ("coin", "legitimate", "30 values"),
    "Audit, logistic": ("coin", "legitimate", "30 values"),
}
AUDITS = {  # whole audits, with their settings
    "Audit": {},
    "Audit, all detectors": {"detectors": "all"},
    "Audit, logistic": {"estimator": default_model("logistic", 0)},
    "Audit, boosting": {"estimator": default_model("boosting", 0)},
}
BASELINE = oracle.NAME


@dataclass(frozen=True)
class Configuration:
    """A detector with settings, or an audit, or the baseline.

    Parameters
    ----------
    name : str
    kind : type or None
        The class of the detector.
    settings : dict
    """

    name: str
    kind: type | None
    settings: dict = field(default_factory=dict)

    def unable(self, world, people):
        """Return why a world cannot be measured, or ""."""
        if self.name == BASELINE:
            return "" if world.kind == "power" else "ranks groups only"
        if world.only and self.name.partition(",")[0] not in world.only:
            return f"for {', '.join(world.only)}"
        if world.kind == "shares" and (self.kind is None or self.kind.null != "individual"):
            return "estimates no share of inputs"
        if self._elsewhere(world.name):
            return "measured in other worlds"
        if world.kind in ("grid", "after", "fair") and (
            reason := self._cannot_claim(world, people)
        ):
            return reason
        if world.kind == "equal" and self.kind is not None and self.null != "conditional":
            return "estimates nothing at equal columns"
        number = set(people.y.tolist()) - {0, 1}
        if world.kind == "coverage" and (self.kind is None or self.kind.card.finds == "individual"):
            return "lists no groups with intervals"
        if self.kind is None:
            return _not_audited(self.name, world, people, bool(number))
        if unknown := set(self.settings) - set(_parameters(self.kind)):
            return f"has no setting {', '.join(sorted(unknown))}"
        return self._lacks(world, people)

    def _cannot_claim(self, world, people):
        """Return why a detector says nothing about candidates that a world can judge, or ""."""
        if self.name in VARIANTS or (self.kind is None and self.name != "Audit"):
            return "measured with its defaults"
        if self.kind is None:
            return "audits ask several questions" if world.kind == "after" else ""
        if self.null not in ("marginal", "contextual", "conditional"):
            return "asks another question"
        if "relevant_size" not in self.kind.rule_fields:
            return "has no candidates"
        if self.name == "RiskAdjustedRegression":
            return "compares decisions with outcomes, and these worlds have one of them"
        if self.name in LEARNED:
            return "answers about the group that its witness chose"
        if world.kind == "grid" and not grid.relevant(people)[self.level]:
            return "no gap that it could deny is relevant there"
        return "lists no findings" if world.kind == "after" and not self._lists else ""

    @property
    def null(self):
        """The null hypothesis of the detector, asked about protected columns; "" of an audit."""
        return "" if self.kind is None else self.kind(protected=["sex"], **self.settings).null

    @property
    def level(self):
        """Whose gaps "no disparity found" denies: those of all "groups", or among "everyone"."""
        return "groups" if self.kind is None or self._lists else "everyone"

    @property
    def _lists(self):
        return self.kind.card.finds == "subgroup"

    def _elsewhere(self, world):
        places = [where for part, where in WHERE.items() if part in self.name]
        return bool(places) and not any(world.startswith(p) or p in world for p in places[-1])

    def _lacks(self, world, people):
        given = set(_parameters(self.kind.fit))
        if people.weight is not None and "sample_weight" not in given:
            return "takes no weights"
        if people.groups is not None and "groups" not in given:
            return "takes no clusters"
        name = self.name.partition(",")[0]
        if name == "CounterfactualFairness" and "counterfactuals" not in people.settings:
            return "" if people.model is not None else "measured in the world scm"
        if name == "RankingDisparity" and world.name == "uneven numbers":
            return "a larger spread takes the first places: its gap is true"
        asked = people.model is not None or people.fitted is not None
        if self.kind._asks and not asked and not world.name.startswith(("surrogate", "scm")):
            return "audits a model; see the worlds with one"
        if not self.kind._asks and world.name.startswith("surrogate"):
            return "audits the labels; see coin and legitimate"
        return ""

    def fit(self, people, seed, **more):
        """Return the fitted detector."""
        known = _parameters(self.kind)
        settings = {"protected": people.protected, "random_state": seed, "pos_label": 1}
        if set(people.y.tolist()) - {0, 1} or (people.model is not None and not self.kind._asks):
            settings.pop("pos_label")
        settings |= SMALL.get(self.kind.__name__, {})
        settings |= {k: v for k, v in people.settings.items() if k in known}
        if "rule" in settings:
            settings["rule"] = settings["rule"].only(self.kind.rule_fields)
        detector = self.kind(people.fitted, **(settings | self.settings | more))
        given = {"sample_weight": people.weight, "groups": people.groups}
        given = {name: value for name, value in given.items() if value is not None}
        return detector.fit(people.X, people.y, people.model, **given)

    def result(self, people, seed):
        """Return the fitted detector (None for an audit) and its result."""
        if self.name == BASELINE:
            return None, oracle.search(people.X, people.y, people.protected)
        if self.kind is None:
            return None, audit(people, AUDITS[self.name], seed)
        detector = self.fit(people, seed)
        return detector, detector.result_


def audit(people, settings, seed):
    """Return the verdict of a whole audit, with its answers and findings."""
    own = {k: v for k, v in people.settings.items() if k in _parameters(Audit)}
    kept = {"protected": people.protected, "random_state": seed, "estimator": people.fitted}
    asked = Audit(**(kept | own | settings))
    given = {"sample_weight": people.weight, "groups": people.groups}
    found = asked.fit(people.X, people.y, people.model, **given).report_.document
    n_found = sum(row["found"] for row in found["evidence"])
    words = {"verdict": found["verdict"]["verdict"], "reason": found["verdict"]["reason"]}
    words |= {"null": "audit", "notes": found["limits"]}
    return SimpleNamespace(**words, n_found=n_found, document=found)


def configurations():
    """Return all configurations by name."""
    known = all_detectors()
    found = {name: Configuration(name, kind) for name, kind in known.items()}
    for name, (base, settings) in VARIANTS.items():
        found[name] = Configuration(name, known[base], settings)
    found |= {name: Configuration(name, None) for name in [*AUDITS, BASELINE]}
    return dict(sorted(found.items()))


def _not_audited(name, world, people, is_number):
    """Return why an audit of a world cannot be measured, or ""."""
    if is_number:
        return "audits decisions with two values"
    if world.name.startswith("surrogate"):
        return "audits the labels; see coin and legitimate"
    if AUDITS[name].get("estimator") and (people.model is not None or people.fitted is not None):
        return "trains a model of its own"
    return ""


def _parameters(thing):
    return inspect.signature(thing).parameters
