"""The network of the ADF authors, trained by their recipe, as a scikit-learn classifier.

64-32-16-8-4-2 with ReLU and softmax on raw codes; weights drawn from N(0, 1), columns of length 1,
shifts 0; Adam at 0.01, batches of 128, 1000 epochs.
"""

import warnings
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

HIDDEN = (64, 32, 16, 8, 4)


def as_classifier(weights, shifts, X):
    """Return the network in scikit-learn, whose one output is the difference of the two."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        net = MLPClassifier(HIDDEN, max_iter=1).fit(X[:50], np.arange(50) % 2)
    last, shift = weights[-1], shifts[-1]
    weights = [*weights[:-1], last[:, 1:] - last[:, :1]]
    shifts = [*shifts[:-1], shift[1:] - shift[:1]]
    net.coefs_ = [w.astype(float) for w in weights]
    net.intercepts_ = [b.astype(float) for b in shifts]
    return net


def train(X, y, epochs=1000, seed=0):
    """Train the network on a DataFrame and labels 0 and 1."""
    rng, sizes = np.random.default_rng(seed), [X.shape[1], *HIDDEN, 2]
    pairs = list(pairwise(sizes))
    n = sum(a * b + b for a, b in pairs)
    state = np.zeros((3, n), np.float32)  # parameters, mean and mean square of the gradient
    gradient = np.zeros(n, np.float32)
    weights, shifts = _views(state[0], pairs)
    for w in weights:
        w[:] = rng.standard_normal(w.shape)
        w /= np.sqrt((w**2).sum(axis=0))
    slopes = _views(gradient, pairs)
    rows, wanted = X.to_numpy(np.float32), np.eye(2, dtype=np.float32)[np.asarray(y)]
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(rows))
        shuffled, targets = rows[order], wanted[order]
        for i in range(0, len(rows), 128):
            step += 1
            _backward(shuffled[i : i + 128], targets[i : i + 128], weights, shifts, slopes)
            _adam(state, gradient, step)
    return as_classifier(weights, shifts, X)


def _views(flat, pairs):
    weights, shifts, start = [], [], 0
    for a, b in pairs:
        weights.append(flat[start : start + a * b].reshape(a, b))
        shifts.append(flat[start + a * b : start + a * b + b])
        start += a * b + b
    return weights, shifts


def _backward(X, wanted, weights, shifts, slopes):
    """Write the gradient of the mean cross-entropy into `slopes`."""
    layers = [X]
    for w, b in zip(weights, shifts, strict=True):
        layer = layers[-1] @ w
        layer += b
        layers.append(np.maximum(layer, 0, out=layer) if w is not weights[-1] else layer)
    scores = layers.pop()
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    back = (shares - wanted) / np.float32(len(X))
    for k in range(len(weights) - 1, -1, -1):
        np.matmul(layers[k].T, back, out=slopes[0][k])
        back.sum(axis=0, out=slopes[1][k])
        if k:
            back = back @ weights[k].T
            back *= layers[k] > 0


def _adam(state, gradient, step, rate=0.01, a=0.9, b=0.999):
    parameters, mean, square = state
    mean *= a
    mean += (1 - a) * gradient
    square *= b
    square += (1 - b) * gradient**2
    rate *= np.sqrt(1 - b**step) / (1 - a**step)
    parameters -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(1e-8))
