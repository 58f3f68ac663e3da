"""The searches for individual cases on the networks that the ADF paper audits.

The three networks (64-32-16-8-4-2, census, credit and bank) and their data are in ``adf`` of the
data folder. Parts:

- ``networks``: accuracy, and the share of uniformly drawn inputs (IF_r) and of rows (IF_o) that are
  discriminatory, beside the published figures.
- ``adf``: the ADF paper's counts with the authors' rule (loss gradient in single precision, row
  paired by its own protected values, Metropolis), seeds from ``KMeans(4, random_state=2019)`` in
  turn; mean of ``--seeds`` runs. Claims: cases of the global phase and inputs tested within 3 %,
  cases within 8 % of the paper's.
- ``compare``: success rates of every method at 100,000 tests, means of ``--seeds`` runs. Claim:
  EIDIG not below ADF.
- ``repair``: the networks trained anew, by the authors' recipe, on their data and cases that ADF
  found; mean of ``--seeds`` networks. Claim: IF_r at least halved where the paper's is.
- ``speed``: seconds of processor time, the smallest of ``--repeats`` runs. Claims: ADF at most
  0.05 s per 1,000 cases over a full run, a million LIMI or boundary candidates in at most 10 s.

How the searches that ask for decisions only compare with one ``predict`` of all rows is measured
by ``bench_search_speed.py``.

Run: python benchmarks/bench_individual.py [DATA] [--parts networks adf compare repair speed]
     [--seeds 5] [--epochs 1000] [--write doc/searches.md]
"""

import argparse
import math
import os
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from adf_network import as_classifier, train
from bench_search_speed import timed
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator

from skdisc import FeatureSpace, Limits
from skdisc.individual import ADF, EIDIG, KOSEI, LIMI, SG, Aequitas, BoundarySearch, ExpGA
from skdisc.individual._aequitas import _Walks
from skdisc.individual._search._gradient_walk import GradientWalk, WalkRules
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import Seeds, draw_seeds
from skdisc.individual._search._steps import Steps
from skdisc.repair import CaseResampler, repair_report

CASES = {  # data set, protected column, IF_r of the paper in %
    "census age": ("census", "a", 10.88),
    "census race": ("census", "h", 9.75),
    "census gender": ("census", "i", 3.14),
    "bank age": ("bank", "a", 4.60),
    "credit age": ("credit", "m", 27.93),
    "credit gender": ("credit", "i", 7.68),
}
ACCURACY = {"census": 88.15, "credit": 100.0, "bank": 92.26}
ADF_PAPER = {  # cases of the global phase, inputs tested, cases
    "census age": (658, 491_650, 256_980),
    "census race": (456, 344_162, 139_179),
    "census gender": (334, 259_227, 47_644),
    "credit age": (594, 398_209, 233_664),
}
REPAIRED = dict(zip(CASES, (2.26, 6.15, 1.65, 1.19, 12.05, 3.93), strict=True))  # IF_r, %
WHOLE = {"n_seeds": 1000, "n_local": 1000}
SKETCH = {  # cases per test of a NumPy sketch of each method, one run of 100,000 tests
    "uniform": (0.107, 0.100, 0.031, 0.045, 0.285, 0.076),
    "copula": (0.311, 0.169, 0.085, 0.309, 0.487, 0.157),
    "LIMI, step 0": (0.366, 0.212, 0.105, 0.368, 0.544, 0.195),
    "boundary, uniform": (0.414, 0.439, 0.207, 0.386, 0.753, 0.396),
    "boundary, copula": (0.793, 0.571, 0.349, 0.677, 0.889, 0.449),
    "AEQUITAS, authors' code": (0.578, 0.547, 0.174, 0.623, 0.579, 0.229),
    "ADF, Metropolis": (0.580, 0.402, 0.197, 0.649, 0.663, 0.277),
    "ExpGA": (0.539, 0.661, 0.244, 0.604, 0.741, 0.458),
    "KOSEI, uniform": (0.845, 0.846, 0.533, 0.807, 0.853, 0.562),
    "KOSEI, data": (0.762, 0.644, 0.429, 0.748, 0.824, 0.608),
}
N_LAYERS, TESTS = 6, 100_000


class Bench:
    """A network of the ADF authors, its data, and its space."""

    def __init__(self, folder, name, protected):
        table = pd.read_csv(folder / f"{name}.csv.gz")
        self.y = table.pop(table.columns[-1])
        self.X = table.astype(np.float32)  # the precision of the networks, and of what they got
        self.name, self.protected = name, protected
        with np.load(folder / "nets.npz") as nets:
            self.weights = [nets[f"{name}_W{i}"] for i in range(N_LAYERS)]
            self.shifts = [nets[f"{name}_b{i}"] for i in range(N_LAYERS)]
            bounds = nets[f"{name}_bounds"].astype(int)
        self.space = FeatureSpace.from_frame(
            self.X,
            protected=protected,
            bounds=dict(zip(self.X, bounds, strict=True)),
            steps=dict.fromkeys(self.X, 1),
            max_probes=100,
        )
        self.model = as_classifier(self.weights, self.shifts, self.X)

    def loss_gradient(self, X):
        """Return the gradient of the loss in single precision, with the sign of the margin's."""
        layers = [X.to_numpy(np.float32)]
        for w, b in zip(self.weights[:-1], self.shifts[:-1], strict=True):
            layers.append(np.maximum(layers[-1] @ w + b, 0))
        scores = layers[-1] @ self.weights[-1] + self.shifts[-1]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        label = scores.argmax(axis=1)
        gradient = (shares - np.eye(2, dtype=np.float32)[label]) @ self.weights[-1].T
        for w, layer in zip(self.weights[-2::-1], layers[:0:-1], strict=True):
            gradient = (gradient * (layer > 0)) @ w.T
        return gradient * np.where(label == 1, -1, 1)[:, None]

    def clusters_in_turn(self, n):
        """Return rows of X: the first of each of four clusters, the second of each, and so on."""
        label = KMeans(4, n_init=10, random_state=2019).fit_predict(self.X.astype(float))
        turn = pd.Series(label).groupby(label).cumcount()
        return self.X.iloc[np.lexsort((label, turn))[:n]]

    def run(self, search, random_state=0):
        """Return the result of a search, and its seconds of processor time."""
        search.set_params(
            protected=self.protected, space=self.space, pos_label=1, random_state=random_state
        )
        start = process_time()
        result = search.fit(self.X, self.y, self.model).result_
        return result, process_time() - start


class AuthorsGradientWalk(GradientWalk):
    """Seeds may lie outside the space (unknown values are coded 100); the first move clips them."""

    def _clipped(self, rows):
        return np.clip(rows, 0, [c.size - 1 for c in self.space.columns])

    def _move(self, rows):
        """Where the gradient of the other row alone vanishes, every column goes a step up."""
        moved, (first, second, _) = super()._move(rows), self._pair(rows)
        pair = [self.margins.slopes(self._with(rows, c)).change for c in (first, second)]
        up = (pair[0] != 0) & (pair[1] == 0).all(axis=1, keepdims=True)
        columns = self.steps.columns
        up_or_moved = np.where(up, rows[:, columns] + 1, moved[:, columns])
        moved[:, columns] = up_or_moved
        return self._clipped(moved)

    def _begin_local(self):
        self.starts = [(self._clipped(rows), couple) for rows, couple in self.starts]
        super()._begin_local()


class AuthorsADF(ADF):
    """ADF from rows as they are, with the rules of the authors' code."""

    def _strategy(self, task, prober, from_rows):
        low = np.array([c.low for c in task.space.columns])
        rows = self.seeds.to_numpy(np.int64) - low
        seeds = Seeds.of(task.space, rows, np.repeat("given", len(rows)))
        margins = Margins(task, Steps(task.space), self.gradient)
        rules = WalkRules(
            self.max_iter, self.n_local, next_state="metropolis", own_pair=True, min_weight=0.0
        )
        return AuthorsGradientWalk(task, prober, margins, seeds, rules)


class AuthorsWalks(_Walks):
    """A column is also chosen less often after it led to no case."""

    def _learn(self, hit):
        super()._learn(hit)
        missed = np.bincount(self.which.ravel(), ~hit.ravel(), len(self.steps))
        self.p_column = np.maximum(self.p_column - 0.001 * missed, 0)
        self.p_column /= self.p_column.sum()


class AuthorsAequitas(Aequitas):
    """AEQUITAS with the rules of the authors' code: protected columns are stepped in, too."""

    def _strategy(self, task, prober, from_rows):
        steps, at = Steps(task.space), task.space.p_index
        own = {"columns": at, "low": 0 * at, "direction": 0 * at, "is_nominal": at < 0}
        own["high"] = [task.space.columns[j].size - 1 for j in at]
        for name, values in own.items():
            setattr(steps, name, np.append(getattr(steps, name), values))
        seeds = draw_seeds(task, self.n_seeds, "uniform")
        return AuthorsWalks(task.rng, steps, seeds, self.n_local, "fully", "metropolis")


def mark(fine):
    return "met" if fine else "missed"


def header(names):
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"


def write(path, part, lines):
    """Put the lines between the marks of a part in a Markdown file."""
    start, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->"
    before, rest = path.read_text().split(start)
    table = "\n".join(lines)
    path.write_text(f"{before}{start}\n{table}\n\n{end}{rest.split(end)[1]}")


def networks(folder, options):
    yield from header(["", "accuracy %", "paper", "IF_r %", "paper", "IF_o %"])
    for key, (name, protected, published) in CASES.items():
        bench = Bench(folder, name, protected)
        accuracy = 100 * (bench.model.predict(bench.X) == bench.y).mean()
        drawn = Aequitas(n_seeds=100_000, n_local=0, limits=Limits(tests=math.inf))
        share = 100 * bench.run(drawn)[0].estimates["estimate"].iloc[-1]
        search = drawn.set_params(n_seeds=1).fit(bench.X, bench.y, bench.model)
        rows = 100 * search.audit(bench.X).estimates["estimate"][0]
        published = f"{ACCURACY[name]} | {share:.2f} | {published}"
        yield f"| {key} | {accuracy:.2f} | {published} | {rows:.1f} |"


def adf(folder, options):
    named = ("global cases", "inputs tested", "cases")
    yield from header(["", *(part for name in named for part in (name, "paper", "off %"))])
    for key, published in ADF_PAPER.items():
        bench = Bench(folder, *CASES[key][:2])
        seeds = bench.clusters_in_turn(1000)
        counts = []
        for seed in range(options.seeds):
            given = {
                "seeds": seeds,
                "gradient": bench.loss_gradient,
                "limits": Limits(tests=math.inf),
            }
            search = AuthorsADF(n_local=0, **given)
            first, _ = bench.run(search, seed)
            whole, _ = bench.run(search.set_params(n_local=1000), seed)
            counts.append((first.n_found, whole.n_tested, whole.n_found))
        cells, limits = [], (3, 3, 8)
        for ours, theirs, limit in zip(np.mean(counts, axis=0), published, limits, strict=True):
            off = 100 * (ours / theirs - 1)
            cells.append(f"{ours:,.0f} | {theirs:,} | {off:+.1f} {mark(abs(off) <= limit)}")
        yield f"| {key} | {' | '.join(cells)} |"


def methods():
    boundary = {"n_pool": 1_000_000, "share": 0.1}
    return {
        "uniform": Aequitas(n_seeds=TESTS, n_local=0),
        "copula": LIMI(n_baseline=TESTS + 20_000, n_samples=1, n_boundary=1000),
        "LIMI": LIMI(n_samples=2 * TESTS, n_boundary=100_000),
        "LIMI, step 0": LIMI(n_samples=2 * TESTS, n_boundary=100_000, step=0.0),
        "boundary, uniform": BoundarySearch(generator="uniform", **boundary),
        "boundary, copula": BoundarySearch(**boundary),
        "AEQUITAS, random": Aequitas(mode="random", **WHOLE),
        "AEQUITAS, semi": Aequitas(mode="semi", **WHOLE),
        "AEQUITAS": Aequitas(**WHOLE),
        "AEQUITAS, Metropolis": Aequitas(next_state="metropolis", **WHOLE),
        "AEQUITAS, authors' code": AuthorsAequitas(**WHOLE),
        "ADF": ADF(**WHOLE),
        "ADF, Metropolis": ADF(next_state="metropolis", **WHOLE),
        "EIDIG": EIDIG(**WHOLE),
        "SG": SG(n_seeds=30_000),
        "ExpGA": ExpGA(),
        "KOSEI, uniform": KOSEI(seeds="uniform", n_local=None),
        "KOSEI, data": KOSEI(seeds="data", n_local=None),
        "KOSEI, boundary": KOSEI(seeds="boundary", n_local=None),
    }


def compare(folder, options):
    print(f"\nCases per test (tests, where fewer than {TESTS:,})")
    yield from header(["", *CASES, "against the sketch"])
    found = {}
    for name, search in methods().items():
        rates, cells = [], []
        for key, case in CASES.items():
            bench, runs = Bench(folder, *case[:2]), []
            for seed in range(options.seeds):
                result, _ = bench.run(search.set_params(limits__tests=TESTS), seed)
                runs.append((result.metrics["SUR"], result.n_tested, result.n_found))
            rate, tested, found[name, key] = np.mean(runs, axis=0)
            rates.append(rate)
            cells.append(f"{rate:.3f} ({tested:,.0f})" if tested < 0.95 * TESTS else f"{rate:.3f}")
        off = np.subtract(rates, SKETCH.get(name, np.nan))
        cells.append(f"{off.min():+.3f} to {off.max():+.3f}" if name in SKETCH else "")
        yield f"| {name} | {' | '.join(cells)} |"
    gains = [found["EIDIG", key] / found["ADF", key] for key in CASES]
    gains = [f"{gain:.2f} {mark(gain >= 1)}" for gain in gains]
    yield f"| EIDIG's cases / ADF's, target 1 | {' | '.join(gains)} | |"


def repair(folder, options):
    """Train the networks anew on their data and 5 % of the cases that a whole run of ADF found."""
    named = ("IF_r before %", "after", "data alone", "paper", "accuracy before %", "after")
    yield from header(["", *named, "data alone", "rows added", "epochs", "halved"])
    alone = {}
    for key in options.cases:
        name, protected, before = CASES[key]
        bench = Bench(folder, name, protected)
        given = {"protected": protected, "space": bench.space, "pos_label": 1, "random_state": 0}
        search = ADF(FrozenEstimator(bench.model), limits=Limits(tests=math.inf), **WHOLE, **given)
        n_found = search.fit(bench.X, bench.y).result_.n_found
        share = 2 * 0.05 * n_found / len(bench.X)
        more = CaseResampler(search, share=share, random_state=0)
        X, y = more.fit_resample(bench.X, bench.y)
        rows, decided = [], []
        for seed in range(options.seeds):
            if (name, seed) not in alone:
                alone[name, seed] = train(bench.X, bench.y, options.epochs, seed)
            repaired = train(X, y, options.epochs, seed)
            pair = [
                repair_report(m, alone[name, seed], bench.X, bench.y, margin=0.002, **given)
                for m in (bench.model, repaired)
            ]
            table = 100 * pd.concat(pair, keys=["old", "new"]).unstack(0)
            kept = [("before", "old"), ("before", "new"), ("after", "new")]
            rows.append(table.loc[["IF_r", "accuracy"], kept].to_numpy())
            decided.append(repaired.predict(bench.X).mean())
            print(key, seed, rows[-1].round(2).tolist(), f"{decided[-1]:.3f}", flush=True)
        (old, new, plain), correct = np.mean(rows, axis=0)
        after = REPAIRED[key]
        halved = mark(new <= old / 2) if after <= before / 2 else "(not there)"
        if {0.0, 1.0} & set(decided):
            halved = "missed: one decision for all"
        cells = [f"{old:.2f}", f"{new:.2f}", f"{plain:.2f}", f"{before} to {after}"]
        cells += [f"{value:.2f}" for value in correct]
        cells += [f"{more.n_added_:,}", f"{options.epochs:,}", halved]
        yield f"| {key} | {' | '.join(cells)} |"


def speed(folder, options):
    yield from header(["", "seconds", "target"])
    rules = {"walk": [], "metropolis": []}
    for key, case in CASES.items():
        bench = Bench(folder, *case[:2])
        for rule, spent in rules.items():
            search = ADF(n_seeds=1000, n_local=1000, next_state=rule, limits=Limits(tests=math.inf))
            runs = [bench.run(search) for _ in range(options.repeats)]
            result, seconds = runs[0][0], min(seconds for _, seconds in runs)
            spent.append((seconds, result.n_found, result.n_tested))
            yield _adf_speed(f"{rule}, {key}", *spent[-1])
    for rule, spent in rules.items():
        yield _adf_speed(f"{rule}, all six", *np.sum(spent, axis=0))
    bench = Bench(folder, "census", "i")
    rows = bench.space.decode(bench.space.sample(100_000, np.random.default_rng(0)))
    alone = min(timed(bench.model.predict, rows) for _ in range(10))
    yield f"| the network alone, 100,000 rows | {alone:.2f} | |"
    million = {
        "LIMI": LIMI(n_samples=1_000_000, limits=Limits(tests=math.inf)),
        "boundary": BoundarySearch(n_pool=1_000_000, limits=Limits(tests=math.inf)),
    }
    for name, search in million.items():
        seconds = min(bench.run(search)[1] for _ in range(options.repeats))
        yield f"| {name}, a million candidates | {seconds:.1f} | 10 {mark(seconds <= 10)} |"


def _adf_speed(name, seconds, found, tested):
    each = 1000 * seconds / found
    speed = f"{seconds:.1f}, EGS {found / seconds:,.0f}"
    each = f"{each:.3f} per 1,000; target 0.05: {mark(each <= 0.05)}"
    return f"| ADF, {name}, {found:,.0f} of {tested:,.0f} | {speed} | {each} |"


PARTS = {
    "networks": networks,
    "adf": adf,
    "compare": compare,
    "repair": repair,
    "speed": speed,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--write", type=Path, help="a Markdown file with marks for the tables")
    options = parser.parse_args()
    for part in options.parts:
        lines = []
        for line in PARTS[part](Path(options.data) / "adf", options):
            print(line, flush=True)
            lines.append(line)
        if options.write:
            write(options.write, part, lines)


if __name__ == "__main__":
    main()
