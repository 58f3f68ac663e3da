"""Checks of the noise that a causal model assumes: equal spread, and the right link."""

import numpy as np
from scipy import special

from skdisc.causal._mechanisms import Numeric
from skdisc.causal._saturated import Design

_LEVEL = 0.01  # of all checks together


def residual_notes(scm, X):
    """Return notes on numeric nodes whose noise depends on their parents, a list of str.

    The squared noise is regressed on the parents (Breusch and Pagan 1979, studentized by Koenker
    1981), and the noise on the square and the cube of the fitted values (Ramsey 1969).
    Counterfactuals keep the noise of a person, which is right only if it does not depend on what is
    changed.

    `X`: the rows that it was fitted on.
    """
    nodes = [n for n, m in scm.mechanisms_.items() if isinstance(m, Numeric)]
    nodes = [n for n in nodes if scm.mechanisms_[n].noise != "none"]
    nodes = [n for n in nodes if not set(scm.parents_[n]) & set(scm.latent_)]
    notes = []
    for node in nodes:
        parents = X[list(scm.parents_[node])]
        f, noise = scm.mechanisms_[node].location(parents), scm.mechanisms_[node].noise
        e = scm.mechanisms_[node].abduct(parents, X[node], None)
        e = np.log(e) if noise == "multiplicative" else e
        values = {p: scm.values_[p] for p in parents if p in scm.values_}
        notes += _of_node(node, noise, e, f, Design(parents, values)(parents), _LEVEL / len(nodes))
    return notes


def _of_node(node, noise, e, f, design, level):
    """Return the notes on one node with noise e and fitted values f."""
    if len(e) <= 2 * design.shape[1] or not e.std() > 0:
        return []
    notes, squared = [], e**2
    p, fitted = _p_value(squared, design)
    if p <= level / 2:
        varies = min(fitted.std(), f.std()) > 0
        grows = varies and np.corrcoef(fitted, f)[0, 1] > 0.9 and (f > 0).all()
        alternative = " or 'multiplicative', since it grows with the value" * bool(grows)
        remedy = f"noise={{{node!r}: 'heteroscedastic'}}{alternative}"
        low, high = np.sqrt(np.quantile(np.maximum(fitted, 0.0), [0.05, 0.95]))
        notes.append(
            f"The spread of the noise of {node} depends on its parents (standard deviations from "
            f"{low:.2g} to {high:.2g}, p = {p:.1g}), so that counterfactual values are imprecise. "
            f"Set {remedy}."
        )
    curved = np.column_stack([design, *(_scaled(f) ** k for k in (2, 3))])
    p, _ = _p_value(e, curved, np.linalg.matrix_rank(curved) - np.linalg.matrix_rank(design))
    if p <= level / 2:
        link = "regressor=" if noise == "multiplicative" else "regressor= or noise='multiplicative'"
        notes.append(
            f"The equation of {node} does not fit: its noise depends on the fitted value "
            f"(p = {p:.1g}). Set {link}."
        )
    return notes


def _scaled(f):
    return (f - f.mean()) / (f.std() or 1.0)


def _p_value(target, design, df=None):
    """Return the p-value of n R^2 of a regression, and the fitted values."""
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    df = np.linalg.matrix_rank(design) - 1 if df is None else df
    total = float(((target - target.mean()) ** 2).sum())
    if df < 1 or not total > 0:
        return 1.0, fitted
    r2 = 1 - float(((target - fitted) ** 2).sum()) / total
    return float(special.chdtrc(df, len(target) * max(r2, 0.0))), fitted
