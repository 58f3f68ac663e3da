"""divexplorer: frequent patterns whose rate diverges from that of everyone."""

from divexplorer import DivergenceExplorer, DivergencePatternProcessor
from scipy.stats import norm

PACKAGE = "DivExplorer"


def find(table, settings):
    """Claim patterns with t above 1.96, the largest divergence first."""
    y = settings["outcome"]
    explorer = DivergenceExplorer(table[[*settings["columns"], y]])
    support = settings["min_support"]
    patterns = explorer.get_pattern_divergence(min_support=support, boolean_outcomes=[y])
    patterns = DivergencePatternProcessor(patterns, y).get_patterns()
    patterns = patterns[patterns["length"] > 0].copy()
    patterns["t"] = patterns[f"{y}_t"].astype(float)
    patterns["divergence"] = patterns[f"{y}_div"].astype(float)
    patterns = patterns.sort_values("divergence", key=abs, ascending=False, kind="stable")
    findings = []
    for itemset, t, effect in patterns[["itemset", "t", "divergence"]].itertuples(index=False):
        items = (item.split("=", 1) for item in itemset)
        one = {"group": {column: [value] for column, value in items}, "claimed": bool(t > 1.96)}
        findings.append(one | {"effect": effect, "p": 2 * norm.sf(t), "versus": "everyone"})
    n = max(1, len(findings))
    return {"findings": findings, "also": _bonferroni(findings, settings["protected"], n)}


def _bonferroni(findings, protected, n):
    named = (one for one in findings if set(protected) & set(one["group"]))
    return any(one["p"] * n <= 0.05 for one in named)
