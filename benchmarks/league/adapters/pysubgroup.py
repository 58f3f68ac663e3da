"""pysubgroup: the subgroups with the most unusual share of unfavorable outcomes."""

import pysubgroup as ps
from scipy.stats import chi2

PACKAGE = "pysubgroup"


def find(table, settings):
    """Claim the ten subgroups with the highest weighted relative accuracy."""
    table = table[[*settings["columns"], settings["outcome"]]]
    target = ps.BinaryTarget(settings["outcome"], 0)
    found = _top(table, target, ps.WRAccQF())
    tested = _top(table, target, ps.ChiSquaredQF())
    named = (quality for quality, group in tested if set(settings["protected"]) & set(group))
    return {
        "findings": [{"group": group, "claimed": quality > 0} for quality, group in found],
        "also": any(chi2.sf(quality, 1) <= 0.05 for quality in named),
    }


def _top(table, target, measure):
    space = ps.create_selectors(table, ignore=list(target.get_attributes()))
    task = ps.SubgroupDiscoveryTask(table, target, space, qf=measure)
    return [
        (float(quality), {s.attribute_name: [s.attribute_value] for s in group.selectors})
        for quality, group, _ in ps.SimpleDFS().execute(task).results
    ]
