"""Put a run into doc/: its article with small pictures, its tables, and the part of the page.

Run: python benchmarks/publish_run.py RESULTS "COMMAND THAT MADE THEM"

The cells stay in RESULTS: they are some megabytes, and the command makes them again.
"""

import argparse
import re
import shutil
from pathlib import Path

from PIL import Image

from skdisc._utils._files import write_text
from skdisc.benchmark import BenchmarkResult, write_article
from skdisc.benchmark._article import _contents, _sentences
from skdisc.benchmark._tables import markdown

DOC = Path(__file__).parents[1] / "doc"
HEADING = "## Results of a run"
WIDTH, QUALITY = 520, 34  # of pictures: 18 kB each


def publish(folder, out):
    """Write the article of the results in a folder, and its tables beside it, into `out`."""
    result = BenchmarkResult.read(folder)
    write_article(folder / "article", result, folder=folder)
    pictures = out / "article" / "figures"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    for path in sorted((folder / "article" / "figures").glob("*.png")):
        image = Image.open(path).convert("RGB")
        size = WIDTH, round(image.height * WIDTH / image.width)
        small = image.resize(size, Image.Resampling.LANCZOS)
        small.save(pictures / f"{path.stem}.webp", quality=QUALITY, method=6)
    text = (folder / "article" / "article.md").read_text(encoding="utf-8")
    text = re.sub(r"\((figures/\w+)\.png\)", r"(\1.webp)", text)
    write_text(out / "article" / "article.md", text)
    for name in ("tuning.csv", "replication.csv", "limits.csv"):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, out / name)
    return result


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
            "[The article](benchmark_medium/article/article.md) that `skdisc article results` made "
            "of it has all tables.",
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
    parser.add_argument("command")
    given = parser.parse_args()
    result = publish(given.results, DOC / "benchmark_medium")
    before, _, _ = (DOC / "benchmark.md").read_text(encoding="utf-8").partition(HEADING)
    write_text(DOC / "benchmark.md", before + page(result, given.command) + "\n")
    print(result)


if __name__ == "__main__":
    main()
