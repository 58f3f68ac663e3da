"""Naive Bayes models and all their patterns, for the tests of patterns."""

from itertools import product

import numpy as np

from skdisc.subgroup._patterns._naive_bayes import NaiveBayes

SETS = {
    "compas": ("ScoreText_", ["Ethnic_Code_Text_", "Sex_", "MaritalStatus_", "Age"]),
    "adult": ("target", ["race", "sex", "marital-status", "native-country"]),
    "german": ("loan_status", ["sex", "age", "marital_status", "foreign_worker"]),
}


def random_model(sizes, n_sensitive, seed, spread=1.5):
    """Draw a naive Bayes model whose first features are sensitive."""
    rng = np.random.default_rng(seed)
    feature = np.repeat(np.arange(len(sizes)), sizes)
    log_p = spread * rng.normal(size=(2, len(feature)))
    for f in range(len(sizes)):
        log_p[:, feature == f] -= np.logaddexp.reduce(log_p[:, feature == f], axis=1)[:, None]
    p = rng.uniform(0.1, 0.9)
    return NaiveBayes(log_p, np.log([1 - p, p]), feature, feature < n_sensitive)


def joint_probability(nb, given):
    """Return P(class, items) by multiplication."""
    p = np.exp(nb.log_prior)
    for item in given:
        p = p * np.exp(nb.log_p[:, item])
    return p


def every_pattern(nb, limit=None):
    """Yield x, y and the degree of discrimination of every pattern, from the definition."""
    choices = []
    for f, items in enumerate(nb.items):
        sides = [None, *(("y", i) for i in items)]
        sides += [("x", i) for i in items] if f in nb.sensitive_features else []
        choices.append(sides)
    for chosen in product(*choices):
        x = tuple(c[1] for c in chosen if c is not None and c[0] == "x")
        y = tuple(c[1] for c in chosen if c is not None and c[0] == "y")
        if x and (limit is None or len(x) + len(y) <= limit):
            with_x, without = joint_probability(nb, x + y), joint_probability(nb, y)
            yield x, y, with_x[1] / with_x.sum() - without[1] / without.sum()
