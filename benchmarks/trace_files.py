"""How many files of skdisc does one ``fit`` enter, and how many before the detector's own code?

Every call of a function defined in a file of skdisc is counted, with 1,500 loans as the data and
a fitted pipeline as the model (counterfactual situation testing compares the labels); imports,
comprehensions and what dataclasses generate are not. A detector's own code is the file of its
class and the files beside it whose names begin with that name, or the folder of its class. "to
own" counts the files entered before any function of it but the constructor, which is printed; "to
search" those before the first one below ``_discover``, which passes over settings read early.

Run: python benchmarks/trace_files.py [KOSEI DivExplorer ...] [--files]
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import skdisc
from skdisc import Limits, all_detectors
from skdisc.datasets import make_loan

ROOT = Path(skdisc.__file__).parent
ROOMS = {"individual", "subgroup", "group"}
NOT_FUNCTIONS = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
SETTINGS = {
    "KOSEI": {"limits": Limits(tests=300), "n_seeds": 200},
    "ADF": {"limits": Limits(tests=100), "n_seeds": 10, "max_iter": 3, "n_local": 3},
    "SliceLine": {"max_predicates": 2},
    "FlipTest": {"n_draws": 1, "n_permutations": 9},
    "CounterfactualSituationTesting": {"n_neighbors": 20},
    "DivExplorer": {"max_predicates": 2},
    "BiasScan": {"n_restarts": 2, "n_resamples": 19},
    "GroupDisparity": {"intersections": 1},
    "FACTS": {"max_predicates": 2},
}
OF_LABELS = {"CounterfactualSituationTesting"}  # traced without the model


@dataclass
class Trace:
    """The calls of one run, in order: (file of the caller, file entered, function)."""

    calls: list = field(default_factory=list)

    def __call__(self, frame, event, _):
        if event != "call" or frame.f_code.co_name in NOT_FUNCTIONS:
            return
        entered = _file(frame)
        if entered is not None:
            self.calls.append((_caller(frame), entered, frame.f_code.co_qualname))

    @property
    def files(self):
        """The files entered, in the order of the first call into each."""
        return list(dict.fromkeys(entered for _, entered, _ in self.calls))

    @property
    def n_across(self):
        """The number of calls from one file of skdisc into another."""
        return sum(caller not in (None, entered) for caller, entered, _ in self.calls)

    def before(self, own, searching=False):
        """Return the files entered before the first function in `own`, and that function."""
        files, begun = {}, not searching
        for _, entered, function in self.calls:
            begun = begun or function.endswith("._discover")
            if entered not in own:
                files[entered] = True
            elif begun and not function.endswith("__init__"):
                return list(files), function
        return list(files), "none"


def _file(frame):
    """Return the path below skdisc of the file that the frame's code stands in, else None."""
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else None


def _caller(frame):
    """Return the file of the nearest caller in skdisc, None if there is none."""
    frame = frame.f_back
    while frame is not None and _file(frame) is None:
        frame = frame.f_back
    return None if frame is None else _file(frame)


def own_files(detector):
    """Return the paths of the detector's own code."""
    file = Path(sys.modules[detector.__module__].__file__)
    if file.parent.parent != ROOT:
        mine = file.parent.glob("*.py")  # a folder of its own
    else:
        mine = [file, *file.parent.glob(f"{file.stem}_*.py")]
    return {str(path.relative_to(ROOT)) for path in mine}


def traced(name, X, y, model):
    """Return the detector's class and the trace of one ``fit``."""
    kind, model = all_detectors()[name], None if name in OF_LABELS else model
    detector = kind(protected=["gender"], random_state=0, **SETTINGS.get(name, {}))
    detector.fit(X, y, model)  # whatever is imported at first use is imported now
    detector, trace = kind(**detector.get_params(deep=False)), Trace()
    sys.setprofile(trace)
    try:
        detector.fit(X, y, model)
    finally:
        sys.setprofile(None)
    return kind, trace


def loans(n_samples=1500):
    """Return loans, their labels, and a pipeline fitted to them."""
    X, y = make_loan(n_samples, return_X_y=True, random_state=0)
    columns = make_column_transformer((OneHotEncoder(), ["gender"]), remainder="passthrough")
    return X, y, make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)


def show(trace, own):
    """Print the files entered, each with the functions called in it."""
    early = trace.before(own, searching=True)[0]
    for file in trace.files:
        functions = dict.fromkeys(f for _, entered, f in trace.calls if entered == file)
        mark = "own" if file in own else "before" if file in early else ""
        print(f"{mark:6} {file}: {', '.join(functions)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="DETECTOR", help="default: nine of them")
    parser.add_argument("--files", action="store_true", help="list the files and functions, too")
    args = parser.parse_args()
    X, y, model = loans()
    print(f"{'detector':30} files  to own  to search  calls  across files  first own function")
    for name in args.names or SETTINGS:
        kind, trace = traced(name, X, y, model)
        own = own_files(kind)
        (files, first), (early, _) = trace.before(own), trace.before(own, searching=True)
        print(
            f"{name:30} {len(trace.files):5}  {len(files):6}  {len(early):9}  "
            f"{len(trace.calls):5}  {trace.n_across:12}  {first}"
        )
        if args.files:
            show(trace, own)


if __name__ == "__main__":
    main()
