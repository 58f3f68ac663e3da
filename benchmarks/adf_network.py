"""The network of the ADF authors, trained by their recipe, as a scikit-learn classifier.

64-32-16-8-4-2 with ReLU and softmax on raw codes; weights drawn from N(0, 1), columns of length 1,
shifts 0; Adam at 0.01, batches of 128, 1000 epochs.
"""

import warnings

import numpy as np
from numba import njit
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
    net.coefs_, net.intercepts_ = weights, shifts
    return net


def train(X, y, epochs=1000, seed=0):
    """Train the network on a DataFrame and labels 0 and 1."""
    rng, sizes = np.random.default_rng(seed), np.array([X.shape[1], *HIDDEN, 2])
    state = np.zeros((3, np.sum((sizes[:-1] + 1) * sizes[1:])), np.float32)
    for k in range(len(sizes) - 1):
        w, _ = _layer(state[0], sizes, k)
        w[:] = rng.standard_normal(w.shape)
        w /= np.sqrt((w**2).sum(axis=0))
    rows, y = X.to_numpy(np.float32), np.asarray(y, np.int64)
    step = 0
    for _ in range(epochs):
        step = _epoch(rows, y, rng.permutation(len(rows)), sizes, state, step)
    layers = [_layer(state[0], sizes, k) for k in range(len(sizes) - 1)]
    return as_classifier(*zip(*layers, strict=True), X)


@njit(cache=True)
def _layer(flat, sizes, k):
    """Return views of the weights and the shifts of a layer."""
    start = 0
    for i in range(k):
        start += (sizes[i] + 1) * sizes[i + 1]
    a, b = sizes[k], sizes[k + 1]
    end = start + a * b
    return flat[start:end].reshape(a, b), flat[end : end + b]


@njit(cache=True)
def _epoch(rows, y, order, sizes, state, step):
    """Make a step for each 128 rows; `state`: parameters, mean and mean square of the gradient."""
    gradient = np.empty(state.shape[1], np.float32)
    for start in range(0, len(order), 128):
        at = order[start : start + 128]
        _slopes(rows[at], y[at], sizes, state[0], gradient)
        step += 1
        _adam(state, gradient, step)
    return step


@njit(cache=True)
def _slopes(X, y, sizes, flat, gradient):
    """Write the gradient of the mean cross-entropy into `gradient`."""
    layers, last = [X], len(sizes) - 2
    for k in range(last + 1):
        w, b = _layer(flat, sizes, k)
        layer = np.dot(layers[k], w) + b
        layers.append(np.maximum(layer, np.float32(0)) if k < last else layer)
    back = layers.pop()
    for i in range(len(X)):
        odds = np.exp(back[i, 0] - back[i, 1])
        back[i, 1] = (1 / (1 + odds) - y[i]) / len(X)
        back[i, 0] = -back[i, 1]
    for k in range(last, -1, -1):
        w, b = _layer(gradient, sizes, k)
        np.dot(layers[k].T, back, w)
        b[:] = back.sum(axis=0)
        if k:
            back = np.dot(back, _layer(flat, sizes, k)[0].T) * (layers[k] > 0)


@njit(cache=True)
def _adam(state, gradient, step):
    rate = np.float32(0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
    a, b, one, tiny = np.float32(0.9), np.float32(0.999), np.float32(1), np.float32(1e-8)
    for i in range(len(gradient)):
        state[1, i] = a * state[1, i] + (one - a) * gradient[i]
        state[2, i] = b * state[2, i] + (one - b) * gradient[i] ** 2
        state[0, i] -= rate * state[1, i] / (np.sqrt(state[2, i]) + tiny)
