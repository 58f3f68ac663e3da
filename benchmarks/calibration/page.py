"""The page of the benchmark: what was measured, which cells fail, and which were not measured."""

from math import sqrt

import pandas as pd
from scipy.stats import binomtest

from benchmarks.calibration.cells import (
    LEVEL,
    fcr,
    judged,
    limit,
    null_cells,
    with_earlier,
    word_of,
)
from benchmarks.calibration.detectors import AUDITS, BASELINE, VARIANTS, configurations
from benchmarks.calibration.measure import WORLDS
from benchmarks.calibration.pictures import power_picture, share_picture
from benchmarks.calibration.summary import at_equal_columns, grid_tables, summary
from skdisc import all_detectors

FEWEST = 10  # data sets of a cell that is shown
NEW_KINDS = ("equal", "found", "grid", "after", "fair")
HEAD = """# Calibration

Does a verdict mean what it says? `python -m benchmarks.calibration` measures it, and with `--page`
writes this page; [verdicts](verdicts.md) says what each verdict claims. All levels are 0.05.
"""


def write(rows, folder):
    """Write calibration.md and its pictures from counts."""
    rows = rows.sort_values(["detector", "world", "fresh"])
    pictures = folder / "calibration"
    cells = shown_cells(rows, pictures)
    held = judged(cells)
    parts = [HEAD, *summary(rows, held), *_failures(held), *_nulls(cells, held)]
    parts += [*_reassurance(rows), *_useful(rows), *_power(rows), *_coverage(rows)]
    parts += [*at_equal_columns(rows), *grid_tables(rows), *_shares(rows), *_notes(rows)]
    parts += _unmeasured(rows, cells)
    (pictures / "null_shares.svg").write_text(share_picture(held), encoding="utf-8")
    (pictures / "power.svg").write_text(power_picture(_kind(rows, "power")), encoding="utf-8")
    (folder / "calibration.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def shown_cells(rows, folder):
    """Return the null cells that are shown, with the counts of earlier versions of a folder."""
    cells = with_earlier(null_cells(rows), pd.read_csv(folder / "earlier.csv"))
    return cells[(cells["n"] >= FEWEST) | (cells["excused"] != "")]


def _kind(rows, kind):
    names = [name for name, world in WORLDS.items() if world.kind == kind]
    return rows[rows["world"].isin(names) & (rows["n"] > 0)]


def _interval(k, n):
    low, high = binomtest(int(k), int(n)).proportion_ci(LEVEL and 0.95)
    return f"{k / n:.3f} [{low:.3f}, {high:.3f}]"


def _failures(held):
    """Return the section that names every failing cell."""
    m = len(held)
    text = ["## Cells that fail", ""]
    text += [
        f"{m} cells are measured where their null hypothesis holds. One fails if the exact",
        f"binomial p of its share being above .05 is at most .05 / {m}, or if its share on new",
        "seeds is above .05 plus two standard errors. New seeds are drawn for cells above .05 plus",
        "two standard errors; of cells that keep their level, about one in 40 is.",
        "",
    ]
    named = held[held["failed"] | held["fresh_failed"]].sort_values("p")
    if len(named):
        text += ["| Detector | World | Share | New seeds |", "|---|---|---|---|"]
        text += [_named(one) for one in named.itertuples()]
    else:
        text += ["None."]
    open_ = held[held["above"] & ~held["failed"] & ~held["fresh_failed"]]
    if len(open_):
        text += ["", "Above two standard errors on the first seeds alone:", ""]
        text += ["| Detector | World | Share | New seeds |", "|---|---|---|---|"]
        text += [_named(one) for one in open_.sort_values("p").itertuples()]
    return [*text, ""]


def _named(one):
    again = _interval(one.new_k, one.new_n) if one.new_n else "–"
    return f"| {one.detector} | {one.world} | {_interval(one.k, one.n)} of {one.n} | {again} |"


def _nulls(cells, held):
    """Return the tables of null shares, worlds by detectors."""
    text = ["## Null shares", ""]
    text += [
        "Data sets with the verdict *disparity found*, where the null hypothesis of the detector",
        "holds. **Bold**: the cell fails. *gap*: in this world the null hypothesis does not hold,",
        "and the gap is true; –: not measured, see the end of the page; °: counts of an earlier",
        "version, of which more data sets were measured.",
        "",
        "![Null shares with exact 95 % intervals](calibration/null_shares.svg)",
        "",
    ]
    every = all_detectors()
    tables = {
        "Detectors of groups": [n for n in every if every[n].card.finds != "individual"],
        "Matching and causal": [n for n in every if _is_matching(n)],
        "Searches": [
            n for n in every if every[n].card.finds == "individual" and not _is_matching(n)
        ],
        "Other settings": list(VARIANTS),
        "Whole audits": list(AUDITS),
    }
    for title, names in tables.items():
        part = cells[cells["detector"].isin(names)]
        if len(part):
            text += [f"### {title}", "", *_matrix(part, held), ""]
    text += ["The worlds:", ""]
    text += [f"- *{w.name}*: {w.about}." for w in WORLDS.values() if w.kind == "null"]
    reasons = {}
    for fails in (world.fails for world in WORLDS.values()):
        for word, reason in fails.items():
            reasons.setdefault(reason, {}).setdefault(word)
    text += ["", "Where a gap is true, by null hypothesis:", ""]
    return [*text, *(f"- {', '.join(words)}: {reason}." for reason, words in reasons.items()), ""]


def _is_matching(name):
    return name in (
        "SituationTesting",
        "CounterfactualSituationTesting",
        "FlipTest",
        "CounterfactualFairness",
    )


def _matrix(part, held):
    """Return a table with a row per world and a column per detector."""
    names = list(dict.fromkeys(part["detector"]))
    bad = held[held["failed"] | held["fresh_failed"]]
    bad = set(zip(bad["detector"], bad["world"], strict=True))
    found = {(c.detector, c.world): c for c in part.itertuples()}
    short = [name.replace("skdisc ", "") for name in names]
    text = [f"| World | {' | '.join(short)} |", "|---" * (len(names) + 1) + "|"]
    for world in WORLDS:
        if any((name, world) in found for name in names):
            words = [_cell(found.get((name, world)), (name, world) in bad) for name in names]
            text.append(f"| {world} | {' | '.join(words)} |")
    return text


def _cell(one, is_bad):
    if one is None:
        return "–"
    if one.excused:
        return "*gap*"
    text = f"{one.k}/{one.n}"
    return (f"**{text}**" if is_bad else text) + "°" * one.earlier


def _reassurance(rows):
    """Return the table of false reassurance."""
    text = ["## False reassurance", ""]
    text += [
        "Data sets with *no disparity found* although there is one / with *disparity found* / all.",
        "At a gap of exactly `relevant_gap` (or ratio of `relevant_ratio`) at most .05 plus two",
        "standard errors are allowed, beyond it none. **Bold**: more.",
        "",
    ]
    for world in WORLDS.values():
        part = rows[(rows["world"] == world.name) & (rows["n"] > 0)]
        if part.size and world.kind not in NEW_KINDS and max(world.gaps.values(), default=0) >= 1:
            text += [f"- *{world.name}* ({world.about}): {_calm(part, world.gaps)}."]
    return [*text, ""]


def _calm(part, gaps):
    words = []
    for name, one in part.groupby("detector"):
        times = _times(name, word_of(name, one), gaps)
        if times < 1:
            continue
        k, found, n = (one[name].sum() for name in ("nothing", "found", "n"))
        text = f"{name} {k}/{found}/{n}"
        bad = k / n > limit(n) if times <= 1 else k > 0
        words.append(f"**{text}**" if bad else text)
    return "; ".join(words)


def _times(name, word, gaps):
    """Return how many times the relevant gap a detector has before it; a whole audit has all."""
    return max(gaps.values(), default=0) if name in AUDITS else gaps.get(str(word), 0)


def _useful(rows):
    """Return how often fair data get the verdict that there is no disparity."""
    rows = _kind(rows, "useful")
    text = ["## Usefulness of *no disparity found*", ""]
    text += ["Share of fair data sets with this verdict.", ""]
    worlds = [w for w in WORLDS.values() if w.kind == "useful"]
    text += [f"| Detector | {' | '.join(w.name for w in worlds)} |", "|---" * 3 + "|"]
    for name, part in rows.groupby("detector"):
        words = []
        for world in worlds:
            one = part[part["world"] == world.name]
            words.append(_interval(one["nothing"].sum(), one["n"].sum()) if len(one) else "–")
        text.append(f"| {name} | {' | '.join(words)} |")
    return [*text, ""]


def _power(rows):
    """Return the table of power and of ranks, against the baseline."""
    rows = _kind(rows, "power")
    text = ["## Finding what is planted", ""]
    text += [
        "Data sets with *disparity found* / with the planted contrast first / all. The baseline",
        "tests all groups of up to two conditions within their context and orders them by |z|, at",
        "a false discovery rate of .05. In brackets: first, less that of the baseline on the same",
        "seeds, and two standard errors of this difference; **bold** where it is worse by more.",
        "",
        "![Power and rank against the baseline](calibration/power.svg)",
        "",
    ]
    worlds = [w.name for w in WORLDS.values() if w.kind == "power"]
    text += [f"| Detector | {' | '.join(worlds)} |", "|---" * (len(worlds) + 1) + "|"]
    known = all_detectors()
    for name, part in rows.groupby("detector"):
        kind = known.get(name.partition(",")[0])
        if name != BASELINE and (kind is None or kind.card.finds != "subgroup"):
            continue
        words = [_rank(part[part["world"] == world], name) for world in worlds]
        text.append(f"| {name} | {' | '.join(words)} |")
    return [*text, ""]


def _rank(part, name):
    if not len(part):
        return "–"
    found, first, all_, paired = (part[c].sum() for c in ("found", "first", "n", "paired"))
    counts = f"{found:.0f}/{first:.0f}/{all_:.0f}"
    if name == BASELINE or paired < 2:
        return counts
    mean = part["gain"].sum() / paired
    variance = max(part["gain2"].sum() - paired * mean**2, 0) / (paired - 1)
    error = 2 * sqrt(variance / paired)
    text = f"{counts} ({mean:+.2f} ± {error:.2f})"
    return f"**{text}**" if mean < -error else text


def _coverage(rows):
    """Return the false coverage rates of the rows shown."""
    rows = _kind(rows, "coverage")
    text = ["## Intervals", ""]
    text += [
        "False coverage rate: the mean over all data sets of misses / max(1, rows shown), for the",
        "first ten rows of the result, on the rows that were searched / of the same groups on new",
        "rows, with two standard errors. In brackets: coverage of all rows shown given that a",
        "disparity is found, which is not promised. At most .05 plus two standard errors.",
        "",
    ]
    worlds = [w.name for w in WORLDS.values() if w.kind == "coverage"]
    text += [f"| Detector | {' | '.join(worlds)} |", "|---" * (len(worlds) + 1) + "|"]
    for name, part in rows.groupby("detector"):
        if part["shown"].any():
            words = [_rates(part[part["world"] == world]) for world in worlds]
            text.append(f"| {name} | {' | '.join(words)} |")
    return [*text, ""]


def _rates(part):
    words = []
    for which in ("", "new_"):
        if not len(part) or not part[f"{which}shown"].any():
            words.append("–")
            continue
        rate, error = fcr(part, which)
        text = f"{rate:.3f} ± {2 * error:.3f}"
        words.append(f"**{text}**" if rate > LEVEL + 2 * error else text)
    shown = part["given_shown"].sum()
    given = f" [{1 - part['given_misses'].sum() / shown:.2f}]" if shown else ""
    return f"{' / '.join(words)}{given}, {part['n'].sum()}"


def _shares(rows):
    """Return how often intervals of the share of inputs with a case miss it."""
    rows = _kind(rows, "shares")
    text = ["## Shares of inputs", ""]
    text += ["Intervals of the share of uniformly drawn inputs with a case that miss it / all.", ""]
    worlds = [w.name for w in WORLDS.values() if w.kind == "shares"]
    text += [f"| Detector | {' | '.join(worlds)} |", "|---" * (len(worlds) + 1) + "|"]
    for name, part in rows[rows["shown"] > 0].groupby("detector"):
        ones = [part[part["world"] == world] for world in worlds]
        words = [
            f"{one['misses'].sum():.0f}/{one['shown'].sum():.0f}" if len(one) else "–"
            for one in ones
        ]
        text.append(f"| {name} | {' | '.join(words)} |")
    return [*text, ""]


def _notes(rows):
    """Return how often repeated and clustered rows are noted if they are not told."""
    rows = _kind(rows, "notes")
    if not len(rows):
        return []
    text = [
        "## Notes on repeated rows",
        "",
        "Without `groups=`, data sets whose result has a note.",
        "",
    ]
    worlds = [w.name for w in WORLDS.values() if w.kind == "notes"]
    text += [f"| Detector | {' | '.join(worlds)} |", "|---" * (len(worlds) + 1) + "|"]
    for name, part in rows.groupby("detector"):
        ones = [part[part["world"] == world] for world in worlds]
        words = [f"{one['noted'].sum():.0f}/{one['n'].sum()}" if len(one) else "–" for one in ones]
        text.append(f"| {name} | {' | '.join(words)} |")
    return [*text, ""]


def _unmeasured(rows, cells):
    """Return why null cells of the plain detectors have no figure, and which have few seeds."""
    reasons, missing = {}, {}
    failed = (
        rows[(rows["error"] != "") & (rows["n"] == 0)]
        .groupby(["detector", "world"])["error"]
        .first()
    )
    done = {*zip(cells["detector"], cells["world"], strict=True), *failed.index}
    for world in (w for w in WORLDS.values() if w.kind == "null"):
        people = world.draw(0)
        for one in (o for n, o in configurations().items() if n not in {*VARIANTS, BASELINE}):
            if reason := one.unable(world, people):
                reasons.setdefault((one.name, reason), []).append(world.name)
            elif (one.name, world.name) not in done:
                missing.setdefault(one.name, []).append(world.name)
    others = _lacking(done | {*zip(rows["detector"], rows["world"], strict=True)})
    for (name, world), error in failed.items():
        reasons.setdefault((name, error.partition("\n")[0][:150]), []).append(world)
    text = ["## Cells without a figure, or with few seeds", ""]
    text += ["Further settings of a detector are measured only in worlds where they matter.", ""]
    text += ["| Reason | Detectors and worlds |", "|---|---|"]
    by_reason = {}
    for (name, reason), worlds in reasons.items():
        by_reason.setdefault(reason, {}).setdefault(tuple(worlds), []).append(name)
    for reason, named in sorted(by_reason.items()):
        words = [f"{', '.join(names)}: {', '.join(worlds)}" for worlds, names in named.items()]
        text.append(f"| {reason.replace('|', '/')} | {'; '.join(words)} |")
    few = cells[(cells["excused"] == "") & (cells["n"] < 100)]
    if len(few):
        n = (cells["excused"] == "").sum()
        text += ["", f"{len(few)} of {n} null cells measured have fewer than 100 seeds."]
    if missing:
        n = sum(map(len, missing.values()))
        text += ["", f"Not measured yet ({n} cells):", "", "| Detector | Worlds |", "|---|---|"]
        text += [f"| {name} | {', '.join(worlds)} |" for name, worlds in missing.items()]
    if others:
        text += ["", "Not measured in worlds that are not about null shares:", ""]
        text += [f"- *{world}*: {', '.join(names)}." for world, names in others.items()]
    return [*text, ""]


def _lacking(done):
    """Return the detectors not measured in each world where they have a figure, but for power."""
    lacking = {}
    for world in (w for w in WORLDS.values() if w.kind not in ("null", "power", *NEW_KINDS)):
        people = world.draw(0)
        for name, one in configurations().items():
            word = "" if one.kind is None else one.kind().null
            calm = world.kind != "reassurance" or _times(name, word, world.gaps) >= 1
            plain = name not in {*VARIANTS, BASELINE} and not one.unable(world, people)
            if calm and plain and (name, world.name) not in done:
                lacking.setdefault(world.name, []).append(name)
    return lacking
