"""Run: python -m benchmarks [--tiny] [--only NAME ...]

Runs the scripts that compare skdisc with other programs, one after the other, and prints what each
prints, and at the end the table of ours beside theirs that doc/performance.md has. ``--tiny`` runs
each of them with sizes that tell whether it still runs and still finds equal results, and nothing
about speed; so CI does. A script whose other program is not installed is left out, with a word.
Ends with 1 if a script fails. Figures need idle cores; the data sets are those of ``SKDISC_DATA``.
"""

import argparse
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from benchmarks.compared import HEAD, is_row

# By script: the module of the other program ("" for none), and its smallest useful arguments.
SCRIPTS = {
    "bias_scan": ("aif360", "--rows 300 --restarts 2"),
    "causal": ("dowhy", "--rows 5 --repeats 1"),
    "divexplorer": ("divexplorer", "--rows 1000 --supports .2 --repeats 1"),
    "facts": ("aif360", "--rows 600"),
    "growth": ("", "--sizes 1000x14 --only DivExplorer Audit"),
    "generator": ("", "--rows 2000 --conditional 50 --repeats 1"),
    "import": ("", "--repeats 1"),
    "individual": ("", "--parts networks repair --cases 'credit age' --seeds 1 --epochs 2"),
    "kosei": ("", "--tests 500 --repeats 1 --models tree"),
    "measures": ("fairlearn", "--rows 2000 --repeats 1"),
    "patterns": ("", "--rows 300 --sets compas --repeats 1"),
    "search_speed": ("", "--tests 300 --repeats 1 --parts tests --models tree"),
    "situation": ("", "--rows 2000 --repeats 1"),
    "slice_line": ("sliceline", "--rows 1000 --repeats 1"),
    "truth": ("", "--rows 2000"),
    "verifair": ("", "--repeats 1"),
}
FOLDER = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=list(SCRIPTS))
    options = parser.parse_args()
    failed, rows = [], []
    for name in options.only:
        peer, tiny = SCRIPTS[name]
        print(f"\n== bench_{name}.py {tiny if options.tiny else ''}".rstrip(), flush=True)
        if peer and find_spec(peer) is None:
            print(f"left out: {peer} is not installed")
            continue
        command = [
            sys.executable,
            FOLDER / f"bench_{name}.py",
            *(shlex.split(tiny) if options.tiny else ()),
        ]
        start = monotonic()
        env = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as script:
            for line in script.stdout:
                print(line, end="", flush=True)
                rows += [line] if is_row(line) else []
        print(f"-- {monotonic() - start:.0f} s", flush=True)
        if script.returncode:
            failed.append(name)
    print(f"\n{HEAD}\n{''.join(rows)}")
    print("\nfailed: " + ", ".join(failed) if failed else "\nall ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
