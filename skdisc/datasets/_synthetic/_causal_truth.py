"""The causal truth of data made with a graph: its causal model, and effects by enumeration."""

from itertools import permutations

import numpy as np
import pandas as pd

from skdisc._space._column import categories
from skdisc.causal import StructuralCausalModel
from skdisc.causal._graph import descendants
from skdisc.datasets._synthetic._outcome_law import PROXY, PROXY_NOISE

_PEOPLE = 10_000
COLUMNS = ("column", "value", "reference", "gap", "direct", "indirect", "spurious", "total")


class _Probabilities:
    """The equation of an attribute: its probabilities given the columns of its parents."""

    def __init__(self, network, node, values):
        self.parents = [network.attributes[p] for p in network.parents[node]]
        levels = network.attributes[node].values
        self.table = network.tables[node][..., [levels.index(v) for v in values]]

    def __call__(self, pa):
        return self.table[tuple(a.codes(pa[a.name]) for a in self.parents)]


class _MeanOfProxy:
    """The equation of the proxy: its mean given the columns that define planted subgroups."""

    def __init__(self, law):
        groups = [law.levels.subgroup(d) for d in law.definitions]
        bias = (1 - law.direct) * law.bias
        self.terms = [(g, b) for g, b in zip(groups, bias, strict=True) if b]
        columns = [p.column for g, _ in self.terms for p in g.predicates]
        self.parents = list(dict.fromkeys(columns))

    def __call__(self, pa):
        return sum((b * g.mask(pa) for g, b in self.terms), np.zeros(len(pa)))


def causal_model(network, law):
    """Return the causal model of the columns, fitted, with the equations of the law.

    `network`: BayesianNetwork. `law`: OutcomeLaw. Returns a StructuralCausalModel: its values and
    roots are those of 10,000 people, among them every value.
    """
    people = network.sample(_PEOPLE, random_state=0)
    for name, a in network.attributes.items():
        codes, possible = a.codes(people[name]), np.flatnonzero(a.weights)
        codes[: len(possible)] = possible
        people[name] = a.take(codes)
    dag = [*network.parents, *((p, n) for n, above in network.parents.items() for p in above)]
    equations = {
        n: _Probabilities(network, n, categories(people[n]))
        for n, above in network.parents.items()
        if above
    }
    kinds = dict.fromkeys(network.parents, "nominal")
    if law.has_proxy:
        mean = _MeanOfProxy(law)
        noise = np.random.default_rng(0).standard_normal(_PEOPLE)
        people[PROXY] = mean(people) + PROXY_NOISE * noise
        dag += [PROXY, *((p, PROXY) for p in mean.parents)]
        kinds[PROXY] = "numeric"
        if mean.parents:
            equations[PROXY] = mean
    model = StructuralCausalModel(dag, equations=equations, kinds=kinds, random_state=0)
    return model.fit(people)


class _OutcomeTables:
    """The law of the outcome as tables with one axis for each attribute."""

    def __init__(self, network, law):
        self.network, self.law, self.nodes = network, law, list(network.parents)
        self.joint = network.joint(self.nodes)
        people = network.everyone()
        bias, sigma, _ = law.person(people)
        score = law.base.contributions(people).sum(axis=1)
        sigma = np.hypot(sigma, PROXY_NOISE) if law.has_proxy else sigma
        self.score, self.bias, self.sigma = (
            x.reshape(self.joint.shape) for x in (score, bias, sigma)
        )

    def outcome(self, axis, code, proxy_of):
        """Return expected outcomes with an attribute set, and set to `proxy_of` for the proxy."""
        score, bias, sigma = (x.take(code, axis) for x in (self.score, self.bias, self.sigma))
        direct = self.law.direct
        shift = direct * bias + (1 - direct) * self.bias.take(proxy_of, axis)
        logit = self.law.intercept + score + shift
        return self.law.mean_of(logit.ravel(), sigma.ravel()).reshape(logit.shape)

    def after(self, axis, code, group_code):
        """Return the joint law if an attribute is set, of people with one value or of all."""
        below = descendants(self.network.parents, [self.nodes[axis]])
        p = self.joint if group_code is None else self.joint.take([group_code], axis)
        p = p.sum(axis=(axis, *map(self.nodes.index, below)), keepdims=True) / p.sum()
        for node in below:
            factor = self.network.factor(node, self.nodes)
            p = p * factor.take([code if factor.shape[axis] > 1 else 0], axis)
        return p.squeeze(axis)


def causal_effects(network, law):
    """Return the effects of each protected attribute, one row per pair of values.

    `network`: BayesianNetwork. `law`: OutcomeLaw. Raises ValueError if the attributes have too many
    combinations of values to enumerate.
    """
    world, rows = _OutcomeTables(network, law), []
    for name in network.schema.protected:
        axis, attribute = world.nodes.index(name), network.attributes[name]
        possible = np.flatnonzero(attribute.weights)
        law_of_group = {
            c: world.joint.take(c, axis) / world.joint.take(c, axis).sum() for c in possible
        }
        p = {c: world.outcome(axis, c, c) for c in possible}
        for a, b in permutations(possible, 2):
            before, after = (law_of_group[c].ravel() @ p[c].ravel() for c in (a, b))
            flipped = (law_of_group[a] * world.outcome(axis, b, a)).sum()
            moved = (world.after(axis, b, a) * p[b]).sum()
            total = [(world.after(axis, c, None) * p[c]).sum() for c in (a, b)]
            parts = (after - before, flipped - before, moved - flipped, after - moved)
            values = attribute.values[b], attribute.values[a]
            rows.append((name, *values, *parts, total[1] - total[0]))
    return pd.DataFrame(rows, columns=COLUMNS)
