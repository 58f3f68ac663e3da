"""DivExplorer's published comparison: every frequent group against everyone."""

import numpy as np

from skdisc import _stats
from skdisc._results._findings import GroupFindings
from skdisc.subgroup._divexplorer_shapley import explained
from skdisc.subgroup._estimation._contrast_question import judged_of
from skdisc.subgroup._estimation._discovery import (
    Effects,
    FoundCounts,
    first_k,
    in_direction,
    without_redundant,
)

_ALIASES = {"metric": "measure", "rate": "outcome", "divergence": "effect"}


def against_everyone(detector, task, rows, items):
    """Test every frequent group against all others, and return the Discovery of the first k.

    `rows`: Counted or Summed.
    """
    patterns = detector._mine(task, rows, items)
    tested = np.ones(len(patterns), dtype=bool)
    if detector.must_include == "protected":
        tested = items.protected[patterns.items[:, 0]]
    effects = Effects.of(rows, patterns)
    effect = effects.effect
    p_value = np.where(np.broadcast_to(tested, effect.shape), effects.p_value(), np.nan)
    p_adjusted = _stats.adjust(p_value, detector.correction)
    has_direction = in_direction(effect, detector.direction)
    significant = (p_adjusted <= detector.significance) & has_direction
    may_be_shown = without_redundant(
        tested & has_direction, patterns, effect, detector.redundancy, significant
    )
    support, size = rows.support(patterns)
    key = effect if detector.order == "effect" else -np.log(np.maximum(p_value, 1e-300))
    measure, group = first_k(detector.k, key, size, significant, may_be_shown)
    table = effects.compare(measure, group, detector.significance)
    table.insert(6, "support", support[group])
    table["measure"] = np.array(rows.names, dtype=object)[measure]
    table["p_adjusted"] = p_adjusted[measure, group]
    groups = [items.subgroup(patterns.items[i]) for i in group]
    findings = GroupFindings.of(groups, table, task.space, _ALIASES)
    is_found = significant.any(axis=0)
    counts = FoundCounts.of_itemsets(items, patterns.items, tested, is_found)
    discovery = detector._report(rows, items, findings, counts)
    judged = judged_of(detector, task, rows, items, patterns) if detector.confirm is None else None
    if judged is not None:
        discovery.candidates = detector._candidates(task, discovery, rows, items, judged)
    if detector.explain:
        pairs = list(zip(measure, group, strict=True))
        discovery.tables.update(explained(detector, rows, items, patterns, pairs))
    discovery.notes += detector._hidden(np.count_nonzero(significant & ~may_be_shown))
    return discovery
