"""The measured rows in one Parquet file, which several runs may extend at once.

A run goes on where the last one ended. Each row names the commit and the rule that were measured.
"""

import fcntl
import os
from pathlib import Path

import pandas as pd

KEY = ["detector", "world", "seed"]


def load(path):
    """Return the rows of a file, or an empty frame."""
    return pd.read_parquet(path) if Path(path).exists() else pd.DataFrame(columns=KEY)


def append(path, rows):
    """Add rows to a file; a row with the same detector, world and seed is replaced.

    The file is written under another name and then moved, so that it is whole at any time.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        old, new = load(path), pd.DataFrame(rows)
        both = pd.concat([old, new], ignore_index=True) if len(old) else new
        whole = both.drop_duplicates(KEY, keep="last").sort_values(KEY)
        beside = path.with_suffix(".new")
        whole.to_parquet(beside, index=False, compression="zstd")
        os.replace(beside, path)
