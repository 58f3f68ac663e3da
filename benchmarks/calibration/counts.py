"""Counts of data sets by cell: what the repository keeps, and the page is made from.

A cell is one detector on one world; those on new seeds, drawn again because the first were above
the level, are counted apart. Each names the commit and the rule of verdicts that were measured.
"""

import numpy as np
import pandas as pd

from benchmarks.calibration.oracle import NAME as BASELINE

FOUND, NOTHING = "disparity found", "no disparity found"
NEW_SEEDS = 10_000  # from here on, seeds are those of reruns
ENOUGH = 60  # data sets of a cell, to take the place of more of an earlier version
KEY = ["detector", "world", "fresh"]
SUMS = [
    *("first", "noted", "shown", "misses", "new_shown", "new_misses", "relevant", "reassured"),
    *("judged", "cleared", "false_list", "false_bound"),
]
SHARES = ("fcr", "fcr2", "new_fcr", "new_fcr2")  # sums of shares of misses, and of their squares
PAIRED = ("paired", "gain", "gain2")  # data sets with the baseline, and sums of differences
GIVEN = ("given_shown", "given_misses")  # of data sets with a finding
NUMBERS = ["n", "found", "nothing", *SUMS, *SHARES, *PAIRED, *GIVEN]
WORDS = ["null", "rule", "commit", "error"]


def of_rows(rows):
    """Return the counts of measured rows, one row per cell; rows that failed are not counted."""
    found = []
    ranked = rows.assign(first=rows["first"].astype(float) if "first" in rows else 0.0)
    base = ranked[rows["detector"] == BASELINE].set_index(["world", "seed"])["first"]
    is_new = rows["seed"] >= NEW_SEEDS
    for key, part in rows.assign(fresh=is_new.astype(int)).groupby(KEY):
        found.append(dict(zip(KEY, key, strict=True)) | _of_cell(part, base))
    return pd.DataFrame(found, columns=[*KEY, *NUMBERS, "seconds", *WORDS])


def _of_cell(rows, base):
    good = rows[rows["error"] == ""]
    zero = pd.Series(0, index=good.index)
    own = {name: good.get(name, zero).fillna(0).astype(float) for name in SUMS}
    verdict = good["verdict"]
    row = {"n": len(good), "found": (verdict == FOUND).sum()}
    row |= {"nothing": (verdict == NOTHING).sum()}
    row |= {name: values.sum() for name, values in own.items()}
    for which in ("", "new_"):
        share = own[f"{which}misses"] / own[f"{which}shown"].clip(lower=1)
        row |= {f"{which}fcr": share.sum(), f"{which}fcr2": (share**2).sum()}
    is_found = verdict == FOUND
    row |= {f"given_{name}": own[name][is_found].sum() for name in ("shown", "misses")}
    mine = pd.Series(own["first"].to_numpy(), pd.MultiIndex.from_frame(good[["world", "seed"]]))
    common = mine.index.intersection(base.index) if len(base) else []
    gain = mine[common].to_numpy() - base[common].to_numpy() if len(common) else np.zeros(0)
    row |= {"paired": len(gain), "gain": gain.sum(), "gain2": (gain**2).sum()}
    row["seconds"] = rows["seconds"].mean() if "seconds" in rows else np.nan
    for name in ("null", "rule", "commit", "error"):
        words = rows[name][rows[name] != ""] if name in rows else rows["world"][:0]
        row[name] = words.mode().iloc[0] if len(words) else ""
    return row


def update(counts, new):
    """Return counts with those of some cells replaced: by no fewer data sets, or by enough."""
    n = counts.set_index(KEY)["n"].reindex(pd.MultiIndex.from_frame(new[KEY])).fillna(0)
    is_enough = new["n"].to_numpy() >= np.minimum(n.to_numpy(), ENOUGH)
    new = new[is_enough | (new["error"] != "").to_numpy()]
    both = pd.concat([part for part in (counts, new) if len(part)], ignore_index=True)
    return both.drop_duplicates(KEY, keep="last").sort_values(KEY).reset_index(drop=True)


def extended(counts, rows):
    """Return counts with those of rows added where these go on from the seeds that were counted.

    The rows of a cell go on if their first seed is the number of data sets counted: seeds begin
    at 0. Other rows, and those of new seeds, replace counts as `update` does.
    """
    if not len(rows):
        return counts
    kept = counts.set_index(KEY)
    first = rows.groupby(KEY[:2])["seed"].min()
    keys = [(*key, 0) for key in first.index]
    n = kept["n"].reindex(keys).fillna(0).to_numpy()
    goes_on = dict(zip(first.index, (n > 0) & (n == first.to_numpy()), strict=True))
    goes_on_in_cell = [goes_on[key] for key in zip(rows["detector"], rows["world"], strict=True)]
    is_more = np.array(goes_on_in_cell, dtype=bool) & (rows["seed"] < NEW_SEEDS).to_numpy()
    more, other = rows[is_more], rows[~is_more]
    new = of_rows(more)
    for at, row in new.iterrows():
        old = kept.loc[tuple(row[KEY])]
        new.loc[at, NUMBERS] = (old[NUMBERS] + row[NUMBERS]).to_numpy()
        share = row["n"] / max(new.loc[at, "n"], 1)
        new.loc[at, "seconds"] = (1 - share) * old["seconds"] + share * row["seconds"]
        commits = dict.fromkeys([*old["commit"].split(" "), row["commit"]])
        new.loc[at, "commit"] = " ".join(commits)
    return update(update(counts, new), of_rows(other)) if len(other) else update(counts, new)


def load(path):
    """Return the counts in a file."""
    if not path.exists():
        return of_rows(pd.DataFrame(columns=["detector", "world", "seed", "error"]))
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    numbers = [dict(part.split("=") for part in text.split()) for text in table.pop("more")]
    table[["fresh", "n", "found", "nothing"]] = table[["fresh", "n", "found", "nothing"]].astype(
        int
    )
    table["seconds"] = table["seconds"].astype(float)
    more = pd.DataFrame(numbers, index=table.index, columns=NUMBERS[3:]).astype(float).fillna(0.0)
    return pd.concat([table, more], axis=1)


def save(path, counts):
    """Write counts; those that are not zero in all worlds are one column, for brevity."""
    table = counts.sort_values(KEY)
    more = table[NUMBERS[3:]].to_dict("records")
    words = [" ".join(f"{k}={v:.7g}" for k, v in row.items() if v) for row in more]
    table = table[[*KEY, "n", "found", "nothing", "seconds", *WORDS]].assign(more=words)
    table["error"] = table["error"].str.replace(r"\\s+", " ", regex=True).str[:60]
    table.round({"seconds": 2}).to_csv(path, index=False)
