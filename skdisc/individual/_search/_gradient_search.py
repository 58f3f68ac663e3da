"""GradientSearch: the base of the detectors that walk along gradients of the margin."""

from abc import abstractmethod
from collections.abc import Callable

import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._task._shared_settings import N_CLUSTERS
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, setting
from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._gradient_walk import GradientWalk
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps


class GradientSearch(SearchDetector):
    """Base of the detectors that walk along gradients by rules of their own."""

    n_seeds: int = setting(
        200,
        [AT_LEAST_ONE],
        "Number of inputs that the global phase starts from.",
    )
    seeds: str | pd.DataFrame = setting(
        "clusters",
        SEED_CHOICES,
        """Origin of the seeds: rows of X from each of `n_clusters` k-means clusters in turn,
        rows of X, uniform draws, half of each of the latter two, or the rows passed.""",
    )
    n_clusters: int = N_CLUSTERS
    max_iter: int = setting(
        10,
        [COUNT],
        "Number of moves of a seed at most.",
    )
    n_local: int = setting(
        500,
        [COUNT],
        "Number of steps of each local search.",
    )
    step_size: int = setting(
        1,
        [AT_LEAST_ONE],
        """Number of codes by which a numeric or ordinal column moves in one step; a nominal
        column takes any other value.""",
    )
    gradient: str | Callable = setting(
        "auto",
        [StrOptions({"auto", "analytic", "autograd", "difference"}), callable],
        """How the gradient of the margin is computed: by formula (linear models, SVC,
        GaussianNB and MLPClassifier, also after scalers), by PyTorch, or by differences between
        neighboring inputs; "auto" uses the first of these that the model supports. A callable
        takes rows of X and returns an array of the same shape. Slopes of nominal columns, and
        of inputs whose gradient vanishes, are always differences.""",
    )

    @abstractmethod
    def _rules(self):
        """Return the `WalkRules` of the paper."""

    def _strategy(self, task, prober, from_rows):
        kind = "clusters" if from_rows else self.seeds
        seeds = draw_seeds(task, self.n_seeds, kind, self.n_clusters)
        margins = Margins(task, Steps(task.space, self.step_size), self.gradient)
        return GradientWalk(task, prober, margins, seeds, self._rules())
