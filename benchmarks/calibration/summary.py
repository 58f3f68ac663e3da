"""The head of the page: what verdicts mean in one table, and the tables of false reassurance."""

import textwrap

import numpy as np
from scipy.stats import binom, binomtest

from benchmarks.calibration.cells import LEVEL, limit
from benchmarks.calibration.grid import FAIR_SIZES
from benchmarks.calibration.hard import HARD
from benchmarks.calibration.measure import RULE, WORLDS

HARD_NAMES = {world.name for world in HARD}
COVERED, NEAR, NEARER = 0.95, 0.03, 0.014  # coverage, what the first and what new seeds may miss
BEFORE = (  # measured at commit 557eea2, before candidates of all sizes were judged
    ("Null worlds whose law codes, parities or drift hide", "up to 1.00 (100 codes, 25 of 25)"),
    ("Equal means of skewed numbers", "up to .50 (DisparityPursuit, 25 of 50)"),
    ("Intervals at equal columns, in these worlds", ".80 to .85 with trees, .63 to 0 with codes"),
    ('"No disparity found" beside a relevant gap in 8 %', ".48 (24 of 50 audits, n = 2,000)"),
)


def summary(counts, held):
    """Return the section that a statistician reads in a minute."""
    now = counts[(counts["rule"] == RULE) & (counts["n"] > 0)]
    text = ["## In a minute", ""]
    text += [
        *wrapped(
            "Shares of data sets, with exact 95 % intervals, over all detectors and worlds "
            'of a row; in the last column what was measured before the rule that "no '
            'disparity found" is about all groups of a twentieth of the people. Where '
            "nothing is measured yet, – stands."
        ),
        "",
        "| Question | Promise | Measured | Worst cell | Before |",
        "|---|---|---|---|---|",
    ]
    hard = {world.name for world in HARD if world.kind == "null"}
    skew = {name for name in hard if name.startswith("skew")}
    rows = [
        ("Level: a disparity is found where there is none", held, "–"),
        (BEFORE[0][0], _nulls(held, hard - skew), BEFORE[0][1]),
        (BEFORE[1][0], _nulls(held, skew), BEFORE[1][1]),
    ]
    text += [_row(title, "≤ .05", cells, "k", "n", before) for title, cells, before in rows]
    equal = now[now["shown"].gt(0) & now["world"].isin(HARD_NAMES)]
    equal = equal.assign(k=equal["shown"] - equal["misses"])
    text.append(_row(BEFORE[2][0], ".95", equal, "k", "shown", BEFORE[2][1], lowest=True))
    grid = _of(now, "grid")
    text.append(_row(BEFORE[3][0], "≤ .05", grid, "reassured", "relevant", BEFORE[3][1]))
    after = _of(now, "after")
    for name, words in (("false_list", "its list of cleared groups"), ("false_bound", "its bound")):
        title = f"After a finding: {words} is false"
        text.append(_row(title, "≤ .05", after, name, "n", "not said before"))
    text += ["", *_by_n(now), ""]
    text += [
        *wrapped(
            "A *cell* is one detector on one world, with one data set per seed. Counts are "
            'data sets, "3/200" is three of 200. A cell whose share of false claims is surely '
            "below .081, the limit of 200 data sets (exact, one-sided, 95 %), stops after 40, 60 "
            "or 100 data sets; others go on to 200 as far as time allowed. Cells of the tables "
            "below were measured at "
            "several commits, named in the files of counts in `doc/calibration`, most before "
            'the rule of today, which moves no null share, but makes "no disparity found" '
            'rarer: the sections "False reassurance" and "Usefulness" are about the rule '
            "before where the first table says so."
        ),
    ]
    return [*text, ""]


def wrapped(text):
    """Return the lines of a paragraph."""
    return textwrap.wrap(text, 98)


def _of(counts, kind):
    return counts[counts["world"].isin([w.name for w in WORLDS.values() if w.kind == kind])]


def _nulls(held, worlds):
    return held[held["world"].isin(worlds)]


def _row(title, promise, cells, k, n, before, lowest=False):
    """Return a row of the table: all cells together, and the cell that is worst."""
    cells = cells[cells[n] > 0]
    if not len(cells):
        return f"| {title} | {promise} | – | – | {before} |"
    below, above = binom.cdf(cells[k], cells[n], COVERED), binom.sf(cells[k] - 1, cells[n], LEVEL)
    worst = cells.iloc[int(np.argmin(below if lowest else above))]
    words = f"{worst['detector']}, {worst['world']}: {worst[k]:.0f}/{worst[n]:.0f}"
    return (
        f"| {title} | {promise} | {share_of(cells[k].sum(), cells[n].sum())} of "
        f"{cells[n].sum():,.0f} in {len(cells)} cells | {words} | {before} |"
    )


def share_of(k, n):
    """Return a share with its exact interval as text, without leading zeros."""
    ends = binomtest(int(k), int(n)).proportion_ci()
    text = f"{k / n:.3f} [{ends.low:.3f}, {ends.high:.3f}]"
    return text.replace("0.", ".")


def _by_n(now):
    """Return the table of power and usefulness by the number of people."""
    sizes = {n: [w for w in WORLDS.values() if f"n = {n:,}" in w.name] for n in FAIR_SIZES}
    text = [
        *wrapped(
            "By the number of people: *found*, of data sets with a group of 8 % a gap of "
            '.15 lower; *useful*, the share of fair data sets with "no disparity found" '
            "(relevant gap .10)."
        ),
        "",
        f"| Detector | {' | '.join(f'n = {n:,}' for n in FAIR_SIZES)} |",
        "|---" * (len(FAIR_SIZES) + 1) + "|",
    ]
    planted, fair = _of(now, "grid"), _of(now, "fair")
    names = [n for n in dict.fromkeys(fair["detector"]) if n in set(planted["detector"])]
    for name in names:
        words = []
        for n in sizes:
            world = "grid: gap .15" if n == 5000 else f"grid: n {n:,}, gap .15"
            one = planted[(planted["detector"] == name) & (planted["world"] == world)]
            two = fair[
                (fair["detector"] == name) & (fair["world"] == f"fair, n = {n:,}, 1 protected")
            ]
            words.append(f"{_ratio(one, 'found')} found, {_ratio(two, 'nothing')} useful")
        text.append(f"| {name} | {' | '.join(words)} |")
    return text if names else ["Power and usefulness by n are not measured yet."]


def _ratio(part, name):
    return f"{part[name].sum():.0f}/{part['n'].sum():.0f}" if len(part) else "–"


def grid_tables(counts):
    """Return the tables of false reassurance by the gaps of the candidates."""
    now = counts[(counts["rule"] == RULE) & (counts["n"] > 0)]
    text = ["## False reassurance by the gaps of candidates", ""]
    text += [
        *wrapped(
            'Data sets with "no disparity found" / of those with a candidate (a group of at '
            "least .05 of these people) whose gap is at least the relevant one; **bold**: "
            "above .05 plus two standard errors. A base of 5,000 people, a gap of .10 or "
            ".15 for 8 % of them, a relevant gap of .10, a rate of .4, six towns and one "
            "protected column is changed by one factor at a time; then combinations are "
            "drawn."
        ),
        "",
        *_matrix(_of(now, "grid"), "reassured", "relevant"),
        "",
        *wrapped(
            "About a range of ages that quarters split, `planted range`, a gap shows in a "
            'candidate only where the part of it is large enough. "No disparity found" / '
            "all data sets there:"
        ),
        "",
        *_matrix(_range(_of(now, "grid")), "nothing", "n"),
        "",
        "### After a finding",
        "",
        *wrapped(
            "Data sets with a finding in which a cleared group has a relevant gap / in which "
            "the bound for the others is too low / all; and the share of groups cleared."
        ),
        "",
    ]
    after = _of(now, "after")
    names = list(dict.fromkeys(after["detector"]))
    text += (
        [f"| World | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"] if names else ["–"]
    )
    for world in dict.fromkeys(after["world"]):
        words = []
        for name in names:
            one = after[(after["world"] == world) & (after["detector"] == name)]
            n = one["n"].sum()
            sums = [one[c].sum() for c in ("false_list", "false_bound")]
            cleared = one["cleared"].sum() / max(one["judged"].sum(), 1)
            figures = f"{sums[0]:.0f} / {sums[1]:.0f} / {n}, {cleared:.2f}".replace("0.", ".")
            bad = n and max(sums) / n > limit(n)
            words.append("–" if not n else f"**{figures}**" if bad else figures)
        text.append(f"| {world} | {' | '.join(words)} |")
    return [*text, ""]


def _range(counts):
    return counts[counts["world"].str.contains("range")]


def _matrix(counts, k, n):
    """Return a table with a row per world and a column per detector."""
    names = sorted(set(counts["detector"][counts[n] > 0]))
    if not names:
        return ["Not measured yet."]
    text = [f"| World | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for world in [w for w in WORLDS if w in set(counts["world"])]:
        words = []
        for name in names:
            one = counts[(counts["world"] == world) & (counts["detector"] == name)]
            one = one[one[n] > 0]
            a, b = one[k].sum(), one[n].sum()
            figures = f"{a:.0f}/{b:.0f}"
            is_bad = b > 0 and k == "reassured" and a / b > limit(b)
            words.append("–" if not b else f"**{figures}**" if is_bad else figures)
        text.append(f"| {world} | {' | '.join(words)} |")
    return text


def at_equal_columns(counts):
    """Return the table of intervals at equal columns, in worlds whose laws are hard to learn."""
    now = counts[(counts["rule"] == RULE) & counts["shown"].gt(0)]
    now = now[now["world"].isin(HARD_NAMES)].assign(kept=lambda t: t["shown"] - t["misses"])
    text = ["## Intervals at equal columns", ""]
    text += [
        *wrapped(
            "Data sets whose interval of women's effect at equal columns contains the truth "
            f"(0, or -.10) / all, to be within {COVERED:g} ± {NEAR:g}, and on 1,000 new "
            f'seeds ± {NEARER:g}; after the semicolon the data sets with "insufficient '
            'evidence".'
        ),
        "",
    ]
    names = sorted(set(now["detector"]))
    if not names:
        return [*text, "Not measured yet.", ""]
    text += [f"| World | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for world in [w for w in WORLDS if w in set(now["world"])]:
        words = []
        for name in names:
            one = now[(now["world"] == world) & (now["detector"] == name)]
            unsure = (one["n"] - one["found"] - one["nothing"]).sum()
            figures = f"{one['kept'].sum():.0f}/{one['shown'].sum():.0f}; {unsure:.0f}"
            words.append(figures if len(one) else "–")
        text.append(f"| {world} | {' | '.join(words)} |")
    return [*text, ""]
