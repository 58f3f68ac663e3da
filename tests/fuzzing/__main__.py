"""``python -m fuzzing``: run cases, and print the class of their outcomes."""

import sys
from argparse import ArgumentParser
from collections import Counter

from fuzzing._judge import CLEAR, OTHER, RIGHT
from fuzzing._runner import KINDS, LIMIT, fuzz_case, numbers_of, run_cases


def main(argv: list[str] | None = None) -> int:
    """Run the cases that the arguments name; return 1 if an outcome is neither right nor clear.

    Parameters
    ----------
    argv : list of str, default=None
        None means those of the command line.

    Returns
    -------
    int
    """
    args = _parser().parse_args(argv)
    numbers = args.case or numbers_of(args.n, args.kind, args.start)
    counts, seconds = Counter(), 0.0
    for outcome in run_cases(numbers, args.seed, args.limit):
        counts[outcome.verdict] += 1
        seconds += outcome.seconds
        if outcome.verdict == OTHER or args.verbose or args.case:
            _say(f"{outcome.verdict}: {outcome}")
    if args.case:
        _say(f"To debug: fuzz_case({args.case[-1]}, {args.seed}).run()")
    total = ", ".join(f"{counts[name]} {name}" for name in (RIGHT, CLEAR, OTHER))
    _say(f"{counts.total()} cases in {seconds:.1f} s of CPU time: {total}")
    return int(counts[OTHER] > 0)


def _parser():
    parser = ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--n", type=int, default=500, help="number of cases (500)")
    parser.add_argument("--start", type=int, default=0, help="leave out the first cases")
    parser.add_argument("--seed", type=int, default=0, help="seed of all cases (0)")
    parser.add_argument("--kind", choices=list(KINDS), help="cases of this kind only")
    parser.add_argument("--case", type=int, nargs="+", help="run these cases only")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of CPU for a case")
    parser.add_argument("--verbose", action="store_true", help="print all outcomes")
    return parser


def _say(line):
    sys.stdout.write(line.encode("ascii", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


__all__ = ["fuzz_case", "main"]

if __name__ == "__main__":
    sys.exit(main())
