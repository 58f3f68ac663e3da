"""The page of the league: one table of figures, and what each tool does not claim."""

from textwrap import fill

from benchmarks.league.tools import TOOLS
from benchmarks.league.worlds import FOUR, MATCHES

HEAD = """# The league of tools

What do tools say about data whose truth is known? Every tool gets the same tables, in an
interpreter of its own: `python -m benchmarks.league` measures, and with `--page` writes this page.
`pip install ".[league]"` installs all of them together: aequitas takes pandas < 3 only, all others
ran on NumPy 2.4 with pandas 2.3 and 3.1. `--python aequitas=PATH` names an interpreter of a tool.

The tools answer different questions, and most of them have no test. An *alarm* is defined below for
each; where a tool has no test, an alarm is not a claim of that tool but what its output says by its
default settings. A high share of alarms where there is nothing to find is then no error of the
tool, but what a reader gets who takes its list for findings.

Versions: {versions}.
"""
TABLE = """## Figures

Counts are tables, "3/40" is three of 40; the tables are the same for all tools, seed by seed.
*False alarms*: no outcome depends on a protected column. *Gap*: sex goes with the town and outcomes
depend on the town alone; rates of women and men differ, so that an alarm is right about rates and
wrong about sex. *Power* and *first*: alarms, and tables in which the first group claimed is the
planted group or the rest of its context (power/first/tables). *F1*: of the groups claimed, the two
sides of the planted contrast as one group / of the people in the first group claimed, means over
the tables of a world. *Cover*: nominal 95 % intervals that contain the truth, in three worlds with
n = 1,000 and gaps of 0, .05 and .15; –: no intervals. Those of BiasScan do not
account for its search; with `confirm=` they are of rows that it has not searched. Seconds of CPU
(median) for 5,000 rows and 4 columns, and the peak memory of the process with its imports, in MB.
"""
RULES = """
All tools see columns of text only (numbers in quarters) and get the smallest support of a group
that they ask for (.05; .01 in *rare*); all else is by default. Detectors that take clusters, three
of skdisc, are told of them in *fivefold*. The second rule is one more that a reader could use: its
alarms in the worlds of *false*, and in *women in u .10*.
"""
LARGEST = """
Between {people} people with the same chance, the nominal 95 % interval of fairlearn's
`difference()` excludes the true value, 0, in {out} tables. That is no accident, and no error in its
code: the largest of several absolute differences is positive in practically every sample, also in
those of the bootstrap, and so are its quantiles. The interval shows how the *estimate* varies; the
estimate is too large, the more so the more groups there are and the smaller they are. fairlearn
does not call the interval a test, and the intervals of single groups that it also gives miss the
truth in {missed}. But whoever reads the interval of the difference as intervals are usually read
finds a disparity wherever there are groups. `GroupDisparity` has alarms in {ours} of these tables.
"""
FEW = 20
PLANTED_SHOWN = "women in u .20"
TIMED = ("women in u .05", "women in u .10", "women in u .20")


def write(rows, path):
    """Write the page from the measured rows."""
    rows = rows[rows["world"].isin([match.name for match in MATCHES])]
    good = rows[rows["error"] == ""]
    named = sorted(set(good["version"]), key=str.lower)
    parts = [HEAD.format(versions=", ".join(named)), TABLE]
    parts += [
        *_table(good),
        "",
        *_few(good),
        *_worlds(),
        *_rules(good),
        *_largest(good),
        *_errors(rows),
    ]
    path.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _table(rows):
    """Return one row per tool."""
    names = {
        kind: [m.name for m in MATCHES if m.kind == kind] for kind in ("null", "gap", "planted")
    }
    heads = ["Tool", *(f"false: {n}" for n in names["null"]), *(f"gap: {n}" for n in names["gap"])]
    heads += [f"power/first: {n}" for n in names["planted"]]
    heads += [f"F1, {PLANTED_SHOWN}", "cover", "s", "MB"]
    text = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for tool in TOOLS:
        mine = rows[rows["detector"] == tool.name]
        if not len(mine):
            continue
        by = {name: mine[mine["world"] == name] for name in mine["world"].unique()}
        words = [tool.name, *(_share(by.get(n)) for n in names["null"] + names["gap"])]
        words += [_power(by.get(n)) for n in names["planted"]]
        words += [_f1(by.get(PLANTED_SHOWN)), _cover(mine), *_cost(mine)]
        text.append(f"| {' | '.join(words)} |")
    return text


def _share(part):
    return "–" if part is None else f"{part['alarm'].astype(bool).sum()}/{len(part)}"


def _power(part):
    if part is None:
        return "–"
    return f"{part['alarm'].astype(bool).sum()}/{part['first'].astype(bool).sum()}/{len(part)}"


def _f1(part):
    return "–" if part is None else f"{part['f1'].mean():.2f} / {part['f1_rows'].mean():.2f}"


def _cover(rows):
    """Return the share of intervals that contain the truth, of groups and of the largest gap."""
    rows = rows[rows["world"].isin([m.name for m in MATCHES if m.kind == "coverage"])]
    words = []
    for name, what in (("shown", ""), ("largest", " (largest difference)")):
        n = rows[name].sum()
        if n:
            missed = rows["misses" if name == "shown" else f"{name}_misses"].sum()
            words.append(f"{1 - missed / n:.3f} of {n:,}{what}")
    return ", ".join(words) or "–"


def _cost(rows):
    timed = rows[rows["world"].isin(TIMED)]
    return (f"{timed['seconds'].median():.2f}", f"{timed['mb'].max():.0f}") if len(timed) else "––"


def _few(rows):
    """Return a sentence about the tools that were run on few tables of a world."""
    n = rows.groupby(["detector", "world"]).size().groupby("detector").min()
    few = [f"{name} ({n[name]})" for name in n.index if n[name] < FEW]
    text = f"Run on fewer than {FEW} tables of a world, a first look only: {', '.join(few)}."
    return [_wrapped(text), ""] if few else []


def _worlds():
    """Return the list of worlds."""
    text = ["The worlds (most of them are those of [calibration](calibration.md)):", ""]
    text += [f"- *{match.name}*: {match.about}." for match in MATCHES]
    return [*text, ""]


def _rules(rows):
    """Return what each tool compares, what its alarm is, and what it does not claim."""
    text = ["## What an alarm is, and what is not claimed", ""]
    text += [
        _wrapped(RULES),
        "",
        "| Tool | Compares | Alarm | Test | Does not claim | Second rule |",
        "|---|---|---|---|---|---|",
    ]
    for tool in TOOLS:
        mine = rows[rows["detector"] == tool.name]
        words = [tool.name, tool.asks, tool.alarm, tool.test, tool.unclaimed, _second(tool, mine)]
        if len(mine):
            text.append(f"| {' | '.join(words)} |")
    return [*text, ""]


def _second(tool, rows):
    if not tool.also:
        return "–"
    nulls = rows[rows["world"].isin([m.name for m in MATCHES if m.kind == "null"])]
    power = rows[rows["world"] == "women in u .10"]
    counts = (f"{part['also'].eq(True).sum()}/{len(part)}" for part in (nulls, power))
    return f"{tool.also}: {' / '.join(counts)}"


def _largest(rows):
    """Return the section about intervals of a largest difference."""
    four = rows[(rows["detector"] == "fairlearn") & (rows["world"] == "four groups")]
    if not len(four):
        return []
    mine = rows[(rows["detector"] == "skdisc GroupDisparity") & (rows["world"] == "four groups")]
    counts = {
        "out": _of(four, "largest_misses", "largest"),
        "missed": _of(four, "misses", "shown"),
        "ours": _share(mine),
        "people": FOUR,
    }
    return ["## Intervals of a largest difference", "", _wrapped(LARGEST.format(**counts)), ""]


def _wrapped(text):
    return fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)


def _of(rows, part, whole):
    return f"{rows[part].sum()} of {rows[whole].sum()}"


def _errors(rows):
    """Return which tools failed on which tables."""
    failed = (
        rows[rows["error"] != ""].groupby(["detector", "world"])["error"].agg(["size", "first"])
    )
    if not len(failed):
        return []
    text = ["## Errors", ""]
    for (tool, world), row in failed.iterrows():
        text.append(f"- {tool} on *{world}*, {row['size']} tables: {row['first'][:150]}")
    return text
