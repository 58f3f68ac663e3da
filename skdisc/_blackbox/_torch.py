"""PyTorch networks, bare or inside skorch, as classifiers, and their gradients."""

import sys

import numpy as np
import pandas as pd

from skdisc._utils._optional import require


def _module(model):
    """Return the PyTorch module of a model, or None, without importing torch."""
    torch = sys.modules.get("torch")
    module = getattr(model, "module_", getattr(model, "module", model))
    return module if torch is not None and isinstance(module, torch.nn.Module) else None


class TorchClassifier:
    """A classifier made of a PyTorch module that returns one score per class.

    `module`: takes a float tensor of shape (n_rows, n_columns) and ends with a layer that has one
    parameter per score. Scores are logits, one per class or one for the second of two classes, or
    probabilities that add up to one. `classes_`: 0, 1, ..., one per score.
    """

    def __init__(self, module):
        self.module = module
        n_scores = list(module.parameters())[-1].shape[0]
        self.classes_ = np.arange(max(n_scores, 2))

    def decision_function(self, X):
        """Return the scores, one column per class, or one per row with two classes."""
        torch = require("torch", extra="torch", purpose="a network")
        with torch.no_grad():
            scores = _scores(torch, self.module, _tensor(torch, self.module, X)).cpu().numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Return the class with the highest score."""
        scores = self.decision_function(X)
        return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def as_model(model):
    """Return a bare module as a `TorchClassifier`, and any other model as it is."""
    module = _module(model)
    return TorchClassifier(model) if module is not None and module is model else model


def autograd_gradient(model, rows, favorable):
    """Return the gradient of the margin towards a favorable label, by automatic differentiation.

    `model`: computes on the device of the network. Returns an ndarray of float of shape (n_rows,
    n_columns): None for any other model. Shapes: `rows` (n_rows, n_columns).
    """
    module = _module(model)
    if module is None:
        return None
    torch = require("torch", extra="torch", purpose="a gradient")
    X = _tensor(torch, module, rows).requires_grad_(True)
    scores = _scores(torch, module, X)
    labels = np.asarray(getattr(model, "classes_", np.arange(scores.shape[1]))).tolist()
    is_favorable = torch.tensor([label in favorable for label in labels], device=scores.device)
    low = torch.tensor(-torch.inf, device=scores.device)
    margin = torch.where(is_favorable, scores, low).amax(1) - torch.where(
        is_favorable, low, scores
    ).amax(1)
    return torch.autograd.grad(margin.sum(), X)[0].cpu().numpy().astype(float)


def _tensor(torch, module, X):
    """Return the rows as a tensor of the dtype and on the device of the module."""
    module.eval()
    first = next(module.parameters())
    X = X.to_numpy() if isinstance(X, pd.DataFrame) else np.asarray(X)
    return torch.tensor(X.astype(float), dtype=first.dtype, device=first.device)


def _scores(torch, module, X):
    """Return one column of scores per class, the logarithms of probabilities."""
    scores = module(X)
    scores = scores[0] if isinstance(scores, tuple) else scores
    scores = scores.reshape(len(X), -1)
    if scores.shape[1] == 1:
        return torch.cat([torch.zeros_like(scores), scores], dim=1)
    sums_to_one = ((scores.sum(dim=1) - 1).abs() < 1e-4).all() and (scores >= 0).all()
    return scores.clamp_min(1e-30).log() if sums_to_one else scores
