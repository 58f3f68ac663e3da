"""The commands ``skdisc benchmark`` and ``skdisc article``."""

from pathlib import Path

from skdisc._utils._files import write_text
from skdisc._utils._validation import closest
from skdisc.cli._arguments import texts_in
from skdisc.cli._say import say as say_on_screen


def add_benchmark(commands, say=say_on_screen):
    """Add both commands to the parser; `say` prints their output."""
    run = commands.add_parser("benchmark", help="run the detectors on planted discrimination")
    run.set_defaults(run=_benchmark, say=say)
    run.add_argument(
        "--protocol", default="quick", metavar="NAME", help="quick, medium, article or replication"
    )
    run.add_argument("--out", required=True, metavar="DIR", help="folder; its cells are kept")
    run.add_argument("--detectors", default="", metavar="NAMES", help="default: all")
    run.add_argument(
        "--audited", default="", metavar="NAMES", help="labels, oracle, models; default: all"
    )
    run.add_argument("--repeats", type=int, metavar="N", help="draws of each data set")
    run.add_argument("--tune", action="store_true", help="first choose settings on other data")
    run.add_argument("--seed", type=int, default=0, metavar="N", help="seed (%(default)s)")
    run.add_argument("--jobs", type=int, metavar="N", help="number of processes")
    article = commands.add_parser("article", help="write the article of a benchmark")
    article.set_defaults(run=_article, say=say)
    article.add_argument("results", nargs="?", metavar="DIR", help="--out of skdisc benchmark")
    article.add_argument("--outline", action="store_true", help="write it without results")
    article.add_argument("--out", default="article", metavar="ARTICLE", help="%(default)s")


def _benchmark(arguments):
    """Run a protocol."""
    from skdisc.benchmark import default_detectors, run_protocol

    if arguments.protocol == "replication":
        return _replication(arguments)
    available = default_detectors()
    names = texts_in(arguments.detectors) or list(available)
    unknown = [n for n in names if n not in available]
    if unknown:
        suggestion = closest(unknown[0], available)
        raise ValueError(
            f"--detectors: there is no detector {unknown[0]!r}{suggestion} Detectors: "
            f"{', '.join(available)}."
        )
    changes = {} if arguments.repeats is None else {"n_repeats": arguments.repeats}
    audited = texts_in(arguments.audited)
    changes |= {"audited": audited} if audited else {}
    result = run_protocol(
        arguments.protocol,
        detectors={n: available[n] for n in names},
        tune=arguments.tune,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        out=arguments.out,
        verbose=True,
        **changes,
    )
    arguments.say(f"{result}\n{result.summary().round(3).to_string(index=False)}")
    return 0


def _replication(arguments):
    """Measure published success rates again."""
    from skdisc.benchmark import replicate

    table = replicate(random_state=arguments.seed)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "replication.csv", table.to_csv(index=False))
    arguments.say(table.drop(columns="error").round(3).to_string(index=False))
    return 0


def _article(arguments):
    """Write the article of a benchmark."""
    from skdisc.benchmark import BenchmarkResult, write_article

    if arguments.outline == (arguments.results is not None):
        raise ValueError("Pass either the folder of a benchmark, or --outline.")
    result = None if arguments.outline else BenchmarkResult.read(arguments.results)
    written = write_article(arguments.out, result, folder=arguments.results)
    arguments.say("\n".join(map(str, written)))
    return 0
