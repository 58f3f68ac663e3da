"""sliceline: slices with large average losses; an unfavorable outcome is a loss of 1."""

from sliceline.slicefinder import Slicefinder

PACKAGE = "sliceline"


def find(table, settings):
    """Claim the slices with the highest score, if it is above 0."""
    findings = _slices(table, settings)
    paper = _slices(table, settings, alpha=0.95)
    also = any(set(settings["protected"]) & set(one["group"]) for one in paper)
    return {"findings": findings, "also": also}


def _slices(table, settings, **more):
    X, losses = table[settings["columns"]], 1 - table[settings["outcome"]].to_numpy()
    finder = Slicefinder(min_sup=settings["min_support"], verbose=False, **more).fit(X, losses)
    found = []
    for values, numbers in zip(finder.top_slices_, finder.top_slices_statistics_, strict=True):
        group = {c: [v] for c, v in zip(X.columns, values, strict=True) if v is not None}
        gap = losses.mean() - numbers["slice_average_error"]
        found.append({"group": group, "claimed": True, "effect": gap, "versus": "everyone"})
    return found
