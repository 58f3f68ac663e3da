"""GradientSearch: the base of the detectors that walk along gradients of the margin."""

from numbers import Integral

from sklearn.utils._param_validation import Interval, StrOptions

from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._gradient_walk import GradientWalk
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps


class GradientSearch(SearchDetector):
    """Base of the detectors that walk along gradients by rules of their own."""

    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        "n_seeds": [Interval(Integral, 1, None, closed="left")],
        "seeds": SEED_CHOICES,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_local": [Interval(Integral, 0, None, closed="left")],
        "step_size": [Interval(Integral, 1, None, closed="left")],
        "gradient": [StrOptions({"auto", "analytic", "autograd", "difference"}), callable],
    }

    def _walk(self, task, prober, from_rows, rules):
        """Return the `GradientWalk` by these `WalkRules`."""
        kind = "clusters" if from_rows else self.seeds
        seeds = draw_seeds(task, self.n_seeds, kind, self.n_clusters)
        margins = Margins(task, Steps(task.space, self.step_size), self.gradient)
        return GradientWalk(task, prober, margins, seeds, rules)
