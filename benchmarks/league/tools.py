"""The tools of the league: what each one asks, and what counts as its alarm."""

from dataclasses import dataclass, field

from skdisc import all_detectors


@dataclass(frozen=True)
class Tool:
    """A tool with settings.

    Parameters
    ----------
    name, adapter : str
    asks : str
        What it compares.
    alarm : str
        The rule by which a group is claimed; `also` is a second one.
    test : str
        The test behind the rule, or "none".
    unclaimed : str
        What the tool does not say, although the figures could be read so.
    settings : dict
    has_intervals : bool
        Whether its findings have intervals; the worlds of coverage are for such tools.
    fewer : float
        Share of the seeds that it is run on.
    """

    name: str
    adapter: str
    asks: str
    alarm: str
    test: str
    unclaimed: str
    also: str = ""
    settings: dict = field(default_factory=dict)
    has_intervals: bool = False
    fewer: float = 1.0


def _ours(name, asks, test, unclaimed, **more):
    alarm, settings = "verdict *disparity found*", {"detector": name}
    said = (f"skdisc {name}", "skdisc", asks, alarm, test, unclaimed)
    return Tool(*said, settings=settings, has_intervals=True, **more)


TOOLS = [
    Tool(
        "fairlearn",
        "fairlearn",
        "rates of the protected groups (all combinations)",
        "the interval of the largest difference excludes 0",
        "none; percentile bootstrap, 100 samples, as in its guide",
        "that this interval is a test, see below",
        "the intervals of two groups do not overlap",
        has_intervals=True,
        fewer=0.75,
    ),
    Tool(
        "AIF360 metrics",
        "aif360_metrics",
        "rates of each protected value against all others",
        "a ratio outside .8 to 1.25",
        "none",
        "anything about chance, or about combinations of columns",
        "a difference above .1",
    ),
    Tool(
        "AIF360 MDSS",
        "aif360_mdss",
        "the subset that departs most from the mean",
        "the best subset of either direction has a score above 0 and names a protected column",
        "none",
        "that the subset is significant, or that it is about protected columns",
        fewer=0.5,
    ),
    Tool(
        "AIF360 FACTS",
        "aif360_facts",
        "recourse of a model (a tree fitted to the outcomes) in subgroups",
        "it lists a subgroup with unequal recourse",
        "none",
        "anything about the outcomes themselves: it audits the model, and unequal recourse of one "
        "fitted model is a fact about it",
        fewer=0.5,
    ),
    Tool(
        "divexplorer",
        "divexplorer",
        "rate of each frequent pattern against that of everyone",
        "a pattern with a protected column has t > 1.96",
        "Welch's t for each pattern, not corrected",
        "that the protected part of a pattern makes the difference, or that t accounts for the "
        "number of patterns",
        "the same, with Bonferroni's correction",
    ),
    Tool(
        "sliceline",
        "sliceline",
        "slices with large average losses",
        "its best slice (alpha = .6, k = 1) has a protected column",
        "none",
        "significance; it debugs models, and losses here are unfavorable outcomes",
        "the same with alpha = .95, as in the paper",
    ),
    Tool(
        "pysubgroup",
        "pysubgroup",
        "subgroups with an unusual share of unfavorable outcomes",
        "one of its first ten subgroups has a protected column",
        "none",
        "significance, or anything about protected columns",
        "quality chi², its p, not corrected, at most .05",
    ),
    Tool(
        "aequitas",
        "aequitas",
        "rates of each protected value against the largest group",
        "a ratio outside .8 to 1.25",
        "none by default",
        "anything about combinations of columns, or about chance by default",
        "its t-test of a rate, not corrected, has p ≤ .05",
    ),
    _ours(
        "GroupDisparity",
        "rates of the protected groups and combinations against the largest",
        "score tests, Benjamini-Hochberg",
        "why rates differ",
    ),
    _ours(
        "DivExplorer",
        "the protected part of each frequent pattern, against the rest of its context",
        "score tests, Benjamini-Hochberg",
        "which of several overlapping groups is the cause",
    ),
    _ours(
        "SliceLine",
        "the same for losses, over all frequent contrasts",
        "score tests, Benjamini-Hochberg",
        "which of several overlapping groups is the cause",
    ),
    _ours(
        "BiasScan",
        "the subset that departs most from what other columns predict",
        "its scan of redrawn protected columns",
        "that there are no other groups",
        fewer=0.5,
    ),
    _ours(
        "DisparityPursuit",
        "the few groups that account for all others, given the legitimate columns",
        "largest absolute score of all groups, by a multiplier bootstrap",
        "that a gap which legitimate columns explain is justified",
        fewer=0.5,
    ),
]
TOOLS = [t for t in TOOLS if t.adapter != "skdisc" or t.settings["detector"] in all_detectors()]
