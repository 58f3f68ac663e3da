"""Put a run into doc/: its cells as one compact file, the article, and the part of the page.

Run: python benchmarks/publish_run.py RESULTS "COMMAND THAT MADE THEM"

A published run goes on, with more drawings or after an interruption, in the folder into which
``python benchmarks/publish_run.py RESULTS --restore`` puts its cells, as long as settings, budget
and version are the same; cells of others would be run beside them.
"""

import argparse
import shutil
from pathlib import Path

from skdisc._utils._files import write_text
from skdisc.benchmark import BenchmarkResult, write_article
from skdisc.benchmark._article import _contents, _sentences
from skdisc.benchmark._tables import markdown

DOC = Path(__file__).parents[1] / "doc"
HEADING = "## Results of a run"


def compact(folder, out):
    """Write all cells as one file, numbers at seven digits, and the tables beside them."""
    table = BenchmarkResult.read(folder).table
    floats = table.select_dtypes("float").columns
    out.mkdir(exist_ok=True)
    table.astype(dict.fromkeys(floats, "float32")).to_parquet(
        out / "cells.parquet", index=False, compression="zstd"
    )
    for name in ("tuning.csv", "replication.csv", "limits.csv"):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, out / name)
    return BenchmarkResult.read(out)


def restore(published, folder):
    """Write the cells of a published run as the files that `run_benchmark` looks for."""
    folder.mkdir(parents=True, exist_ok=True)
    table = BenchmarkResult.read(published).table
    for key, cell in table.groupby("cell"):
        cell.to_parquet(folder / f"{key}.parquet", index=False)
    if (published / "tuning.csv").is_file():
        shutil.copyfile(published / "tuning.csv", folder / "tuning.csv")
    print(f"{table['cell'].nunique():,} cells in {folder}")


def page(result, command):
    """Return the part of doc/benchmark.md that a run writes."""
    cells, compared = result.to_frame(), result.comparable()
    draws, failed = _sentences.draws(cells), int((cells["error"] != "").sum())
    n, hours = cells["dataset"].nunique(), cells["seconds"].sum() / 3600
    harness = cells["seconds_to_score"].sum() / cells["seconds"].sum()
    return "\n\n".join(
        [
            HEADING,
            f"{n} data sets, drawings of each: {draws}; {len(cells)} cells, {failed} of which "
            f"failed, {hours:.1f} hours of computing; "
            f"scoring took {harness:.1%} of the time of the methods:",
            f"```sh\n{command}\n```",
            "The cells are in [benchmark_medium](benchmark_medium/cells.parquet) "
            "(`BenchmarkResult.read`), the article\nmade from them "
            "[beside them](benchmark_medium/article/article.md).",
            *filter(None, [_sentences.left_out(result)]),
            _sentences.headline(compared),
            _sentences.own(compared),
            _sentences.discussion(compared),
            "Mean F1 for the planted groups, and the share of claims that are right answers to the "
            "question that the method\nasks, where the decisions themselves, the law of the "
            "outcome or models are audited:",
            markdown(_contents.overview(compared)),
            "Where the decisions themselves were audited, claims against the exact law of the "
            "outcome:",
            markdown(_contents.honesty(compared)),
            "What a true finding costs:",
            markdown(_contents.efficiency(compared)),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("command", nargs="?")
    how.add_argument("--restore", action="store_true")
    given = parser.parse_args()
    out = DOC / "benchmark_medium"
    if given.restore:
        return restore(out, given.results)
    result = compact(given.results, out)
    write_article(out / "article", result, folder=out)
    before, _, _ = (DOC / "benchmark.md").read_text(encoding="utf-8").partition(HEADING)
    write_text(DOC / "benchmark.md", before + page(result, given.command) + "\n")
    print(result)


if __name__ == "__main__":
    main()
