"""The model of thresholds: risks by group and place, and a threshold for each of both groups."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from skdisc.group._outcome_tests._threshold_cells import cell_probabilities, of_rates

# A fit has six means, each as its middle and the difference of group and reference: logits of the
# rates of selection and of success at an average place, and the log of the separation of risks.
# Then the logs of five spreads over places: of risk and its difference between both sides, of
# thresholds and their difference, and of separation. Last, by how much thresholds of places follow
# their risks.
N_MEANS = 6
_PRIOR_MEANS = np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.0])
_PRIOR_ERRORS = np.array([3.0, 3.0, 3.0, 3.0, 0.5, 0.4])  # of normal laws
_PRIOR_SPREADS = np.array([1.0, 0.5, 0.5, 0.5, 0.3])  # scales of half-normal laws
_SPREAD_OF_SEPARATION, _FOLLOWS = 10, 11
_PRIOR_FOLLOWS = (0.5, 0.5)  # mean and standard deviation of a normal law
_SIDES = np.array([0.5, -0.5])  # group, reference
N_EFFECTS = 4  # of a place: on risk, its difference, threshold, its difference
_OF_EFFECT = [6, 7, 8, 9]  # the spread of each
_FAR, _WIDEST = 8.0, 3.0  # of all coordinates, and of logs of separations
_N_ROUNDS, _N_STEPS, _N_HALVINGS, _ACCURACY, _LONGEST = 2, 60, 12, 1e-12, 2.0
_SIZES = 0.25, 2.0  # of steps, in those of the expected information
_STEP_OF_GRADIENT, _STEP_OF_CURVATURE = 1e-3, 1e-2
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(3)  # of the separations of places
_LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())


@dataclass(frozen=True)
class ThresholdFit:
    """The mode of the parameters, and a normal law around it.

    `effects`, of shape (n_places, 4): modes of the places' deviations at a middle separation: risk,
    its difference between both sides, threshold, its difference. Shapes: `covariance` (12, 12).
    """

    mode: np.ndarray
    covariance: np.ndarray
    effects: np.ndarray


@dataclass(frozen=True)
class ThresholdModel:
    """Counts by place and side, and the model of them.

    `counts`, of shape (n_places, 2, 3): successes and failures among the people selected, and
    people not selected, of the group and of the reference.
    """

    counts: np.ndarray

    def log_posterior(self, x: np.ndarray, effects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log densities of some parameters, places integrated out by Laplace's method.

        `effects`, of shape (n, 3, n_places, 4): for each node of the separations, in units of their
        spreads; where the search for the modes begins. Returns `values`: up to a constant;
        `effects`, of shape (n, 3, n_places, 4): the modes. Shapes: `x` (n, 12).
        """
        theta = np.repeat(parameters(x), len(_NODES), axis=0)
        moved = np.exp(theta[:, _SPREAD_OF_SEPARATION]) * np.tile(_NODES, len(x))
        moved = np.clip(moved, -_WIDEST, _WIDEST)
        theta[:, 2] += moved
        values, z = self._integrals(theta, effects.reshape(len(theta), *effects.shape[2:]))
        values = logsumexp(values.reshape(effects.shape[:3]) + _LOG_WEIGHTS[:, None], axis=1)
        return values.sum(axis=1) + _log_prior(x), z.reshape(effects.shape)

    def _integrals(self, theta, z):
        """Return the log of the integral over the effects of each place, and their modes."""
        value, score, information = self._joint(theta, z)
        size = np.ones(value.shape)
        for _ in range(_N_STEPS):
            step = np.linalg.solve(information, score[..., None])[..., 0]
            step *= np.minimum(1, _LONGEST / np.maximum(np.abs(step).max(-1), 1e-9))[..., None]
            gain = (score * step).sum(axis=-1)
            if gain.max() < _ACCURACY:
                break
            size, z, (value, new, information) = self._uphill(theta, z, size, step, value, gain)
            bend = ((score - new) * step).sum(axis=-1)  # along the step, by differences of scores
            ratio = np.divide(gain, bend, out=np.ones(gain.shape), where=bend > 0)
            size, score = np.clip(size * ratio, *_SIZES), new
        return value - 0.5 * np.linalg.slogdet(information)[1], z

    def _uphill(self, theta, z, size, step, value, gain):
        """Return where a step leads that is halved as long as it does not lead upward."""
        for _ in range(_N_HALVINGS):
            new = self._joint(theta, z + size[..., None] * step)
            worse = new[0] < value + 1e-4 * size * gain - 1e-7
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        return size, z + size[..., None] * step, new

    def _joint(self, theta, z):
        """Return log density, gradient and information of the effects of each place."""
        spreads = np.exp(theta[:, None, _OF_EFFECT])
        logs, slopes = cell_probabilities(*_cells(theta, z * spreads))
        k, n = np.moveaxis(self.counts, 2, 0), self.counts.sum(axis=2)
        value = np.einsum("kds,kbds->bd", k, logs) - 0.5 * (z**2).sum(axis=-1)
        by_threshold = slopes[:, 2]
        by_risk = slopes[:, 0] + theta[:, _FOLLOWS, None, None] * by_threshold
        along = np.stack([by_risk, by_threshold])
        by_effect = np.stack(_of_sides(np.einsum("kds,ikbds->ibds", k, along)))
        score = by_effect.transpose(2, 3, 1, 0).reshape(z.shape)
        total, gap = _of_sides(np.einsum("ikbds,jkbds->ijbds", n * np.exp(logs) * along, along))
        information = np.stack([total, gap, gap, total / 4]).reshape(2, 2, *total.shape)
        information = information.transpose(4, 5, 2, 0, 3, 1).reshape(*z.shape, N_EFFECTS)
        information *= spreads[..., None] * spreads[..., None, :]
        return value, score * spreads - z, information + np.eye(z.shape[-1])

    def fit(self) -> ThresholdFit | None:
        """Return the mode of the posterior density, and a normal law around it (Laplace).

        None if there is no single one.
        """
        z, x = np.zeros((len(_NODES), len(self.counts), N_EFFECTS)), self._start()
        for _ in range(_N_ROUNDS):  # within one, modes of places are sought from the same point
            x = minimize(
                lambda x, z=z: -float(self._values(x[None], z)[0]),
                x,
                jac=lambda x, z=z: -self._slopes(x[None], z)[0],
                method="BFGS",
                options={"gtol": 1e-2, "maxiter": 200},
            ).x
            z = self.log_posterior(x[None], z[None])[1][0]
        steps = _STEP_OF_CURVATURE * np.eye(len(x))
        slopes = self._slopes(np.concatenate([x + steps, x - steps]), z)
        curved = -(slopes[: len(x)] - slopes[len(x) :]) / (2 * _STEP_OF_CURVATURE)
        curved = (curved + curved.T) / 2
        if not np.linalg.eigvalsh(curved).min() > 0:
            return None
        middle = z[len(_NODES) // 2] * np.exp(x[_OF_EFFECT])
        return ThresholdFit(x, np.linalg.inv(curved), middle)

    def _values(self, x, z):
        """Return the log densities of some parameters; modes of places are sought from `z`."""
        return self.log_posterior(x, np.repeat(z[None], len(x), 0))[0]

    def _slopes(self, x, z):
        """Return their gradients, by central differences."""
        n, size = x.shape
        steps = _STEP_OF_GRADIENT * np.concatenate([np.eye(size), -np.eye(size)])
        values = self._values((x[:, None] + steps).reshape(-1, size), z).reshape(n, 2, size)
        return (values[:, 0] - values[:, 1]) / (2 * _STEP_OF_GRADIENT)

    def of_places(self, fit: ThresholdFit) -> dict:
        """Return rates and thresholds of places at the mode of a fit.

        Returns a dict of ndarray of float: selection_expected, success_expected, threshold: of the
        group and of the reference.
        """
        theta = parameters(fit.mode[None])
        cells = _cells(theta, fit.effects[None])
        succeeds, fails = np.exp(cell_probabilities(*cells)[0][:2, 0])
        selected = succeeds + fails
        return {
            "selection_expected": selected,
            "success_expected": succeeds / selected,
            "threshold": expit(cells[2][0]),
        }

    def _start(self):
        """Return parameters near the ones that fit all places together."""
        success, failure, unselected = self.counts.sum(axis=0).T + 1
        x = np.concatenate([np.zeros(N_MEANS), np.log(_PRIOR_SPREADS / 2), _PRIOR_FOLLOWS[:1]])
        for i, rate in enumerate(
            (np.log((success + failure) / unselected), np.log(success / failure))
        ):
            x[2 * i], x[2 * i + 1] = rate.mean(), rate[0] - rate[1]
        x[4] = _PRIOR_MEANS[4]
        return x


def parameters(x: np.ndarray) -> np.ndarray:
    """Return the parameters of risks and thresholds that belong to rates.

    Parameters
    ----------
    x : ndarray of float, shape (n, 12)
        Coordinates of a fit: 0 to 5, middle and difference of selection, success and separation; 6
        to 10, logs of spreads; 11, how far thresholds follow risks.

    Returns
    -------
    theta : ndarray of float, shape (n, 12)
        0 to 5, middle and difference of risk, separation and threshold; the others as in x.
    """
    x = np.clip(x, -_FAR, _FAR)  # a search may try more, and the priors lead it back
    selection, success, separation = (
        x[:, i, None] + x[:, i + 1, None] * _SIDES for i in range(0, N_MEANS, 2)
    )
    separation = np.clip(separation, -_WIDEST, _WIDEST)
    risk, threshold = of_rates(selection, success, separation)
    theta = x.copy()
    theta[:, N_MEANS:] = np.minimum(theta[:, N_MEANS:], _WIDEST)
    for i, value in enumerate((risk, separation, threshold)):
        theta[:, 2 * i], theta[:, 2 * i + 1] = value.mean(axis=1), value[:, 0] - value[:, 1]
    return theta


def _cells(theta, effects):
    """Return risk, separation and threshold of both sides of each place, of some parameters."""
    means = theta[:, 0:N_MEANS:2, None] + theta[:, 1:N_MEANS:2, None] * _SIDES
    risk, separation, threshold = np.moveaxis(means, 1, 0)[:, :, None]
    moved = effects[..., :1] + effects[..., 1:2] * _SIDES
    threshold_shift = effects[..., 2:3] + effects[..., 3:] * _SIDES
    follows = theta[:, _FOLLOWS, None, None] * moved
    return (
        risk + moved,
        np.broadcast_to(separation, moved.shape),
        threshold + threshold_shift + follows,
    )


def _of_sides(values):
    """Return derivatives by what both sides share, and by their difference, from each side's."""
    group, reference = values[..., 0], values[..., 1]
    return group + reference, (group - reference) / 2


def _log_prior(x):
    """Return the log prior density of some parameters."""
    means = (x[:, :N_MEANS] - _PRIOR_MEANS) / _PRIOR_ERRORS
    logs = x[:, N_MEANS:_FOLLOWS]
    spreads = np.exp(logs) / _PRIOR_SPREADS
    follows = (x[:, _FOLLOWS] - _PRIOR_FOLLOWS[0]) / _PRIOR_FOLLOWS[1]
    squares = (means**2).sum(axis=1) + (spreads**2).sum(axis=1) + follows**2
    return logs.sum(axis=1) - 0.5 * squares
