"""Comparative subgroup counterfactuals as text."""


def describe(rows, notion, against, score):
    """Return what would help each group of one subgroup, and the verdict, as text.

    Parameters
    ----------
    rows : DataFrame
        subgroup, group, coverage, action, effectiveness, cost.
    notion : Notion
        Only actions that count under it are listed.
    against : str or None
        The group that the bias is against.
    score : float

    Returns
    -------
    str
    """
    lines = [f"If {rows['subgroup'].iloc[0]}:"]
    for group, own in rows.groupby("group", sort=False):
        lines.append(f"  Protected subgroup {group}, {own['coverage'].iloc[0]:.2%} covered")
        listed = own[counts_under(own, notion)].sort_values(
            ["effectiveness", "cost"], ascending=[False, True], kind="stable"
        )
        lines += [
            f"    Make {row.action} with effectiveness {row.effectiveness:.2%}, cost {row.cost:g}."
            for row in listed.itertuples()
        ]
        lines += [] if len(listed) else ["    No recourses for this subgroup."]
    if against is None:
        return "\n".join([*lines, f"  No bias with respect to {notion}."])
    return "\n".join(
        [*lines, f"  Bias against {against} due to {notion}. Unfairness score = {score:.4g}."]
    )


def counts_under(rows, notion):
    """Say which actions count under a notion, a bool Series."""
    if notion.name in ("choice", "cost_of_effectiveness"):
        return rows["effectiveness"] >= notion.level - 1e-9
    if notion.name == "effectiveness_within_budget":
        return (rows["effectiveness"] > 0) & (rows["cost"] <= notion.level + 1e-9)
    return rows["effectiveness"] > 0
