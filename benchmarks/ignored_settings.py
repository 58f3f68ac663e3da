"""Does a test fail where a setting is ignored? Each setting of a detector in turn.

    python benchmarks/ignored_settings.py FACTS SituationTesting
    python benchmarks/ignored_settings.py DivExplorer --only distinct explain

Whatever is passed, the setting (or the field of an object such as ``actions=Actions(...)``) has its
default, and the tests of the detector run up to the first that fails: those in the folder or files
that mirror its source, with the slow ones. Settings that no test misses are listed at the end.
"""

import argparse
import inspect
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IGNORED = "SKDISC_IGNORED"  # names the detector and the setting in the process of the tests


def pytest_collection():
    """Ignore a setting; not before pytest has begun, which is to import the package itself."""
    owner, field = _place(*os.environ[IGNORED].split())
    default = inspect.signature(owner).parameters[field].default
    setattr(owner, field, property(lambda self: default, lambda self, value: None))


def settings_of(name):
    """Return the settings of a detector, and the fields of those that are objects."""
    settings = []
    for setting in inspect.signature(_detectors()[name]).parameters:
        kind = _objects().get(setting)
        fields = [] if kind is None else [f"{setting}__{f}" for f in kind().get_params()]
        settings += fields or [setting]
    return settings


def tests_of(name):
    """Return the folder, or the files, of tests that mirror the source of a detector."""
    source = Path(inspect.getsourcefile(_detectors()[name])).relative_to(ROOT / "skdisc")
    folder = ROOT / "tests" / source.parent
    if source.parent.name.startswith("_"):
        return [str(folder)]
    return list(map(str, sorted(folder.glob(f"test{source.stem}*.py"))))


def first_failure(name, setting):
    """Return the first test that fails where a setting is ignored, or None."""
    options = "-p benchmarks.ignored_settings -p no:cacheprovider -x -q --all"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split(), *tests_of(name)],
        cwd=ROOT,
        env=os.environ | {IGNORED: f"{name} {setting}"},
        capture_output=True,
        text=True,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    if done.returncode != bool(failed):
        raise RuntimeError(f"{name}({setting}=): {done.stdout[-500:]}{done.stderr[-500:]}")
    return failed[0].removeprefix("FAILED ").split(" - ")[0] if failed else None


def _place(name, setting):
    """Return the class that has a setting, and its name there."""
    kind, _, field = setting.partition("__")
    return (_objects()[kind], field) if field else (_detectors()[name], setting)


def _detectors():
    from skdisc import all_detectors

    return all_detectors()


def _objects():
    from skdisc import Limits, Rule
    from skdisc.individual import Similarity
    from skdisc.subgroup import Actions, Costs

    shared = {"limits": Limits, "rule": Rule}
    return {"actions": Actions, "costs": Costs, "similarity": Similarity, **shared}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="DETECTOR")
    parser.add_argument("--only", nargs="+", metavar="SETTING")
    options = parser.parse_args()
    missed = []
    for name in options.names:
        for setting in options.only or settings_of(name):
            test = first_failure(name, setting)
            missed += [] if test else [f"{name}({setting}=)"]
            print(f"{name:30} {setting:24} {test or 'no test fails'}", flush=True)
    print(f"\n{len(missed)} that no test misses: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
