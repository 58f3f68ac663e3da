"""The article has every table and figure in place, and nothing in it that could break LaTeX."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from skdisc import Limits, all_detectors
from skdisc.benchmark import (
    BenchmarkResult,
    default_detectors,
    default_grids,
    run_protocol,
    tune_detectors,
    write_article,
)
from skdisc.benchmark._article import _article as article
from skdisc.benchmark._protocols import BASE, PROTOCOLS, ROOM
from skdisc.benchmark._tables import escape, latex, markdown
from skdisc.cli._main import main
from skdisc.datasets import make_discrimination
from skdisc.individual import KOSEI
from skdisc.subgroup import DivExplorer

DETECTORS = {
    "DivExplorer": DivExplorer(max_predicates=2),
    "KOSEI": KOSEI(limits=Limits(tests=2000)),
}


@pytest.fixture(scope="module")
def result():
    pytest.importorskip("matplotlib")
    return run_protocol("quick", detectors=DETECTORS)


@pytest.mark.slow
def test_the_quick_protocol_runs_to_the_end(result):
    assert PROTOCOLS["quick"]["limits"].seconds is None
    assert result.incomplete().empty
    assert set(result.to_frame()["detector"]) == set(DETECTORS)
    assert (result.to_frame()["error"] == "").all()


def test_the_quick_protocol_plans_little_work():
    """`.ci/run` runs it, prints its seconds, and fails if a cell is cut.

    Two minutes of CPU for 35 detectors are less than two seconds for each of 70 cells.
    """
    quick, detectors = PROTOCOLS["quick"], default_detectors()
    planned = len(quick["datasets"]) * len(quick["audited"]) * quick["n_repeats"]
    assert planned * len(detectors) <= 2 * len(all_detectors())
    assert quick["limits"].queries <= 5000
    for data in quick["datasets"].values():
        made = make_discrimination(random_state=0, **data)
        assert len(made.data) <= 1000
        assert len(made.feature_names) <= 6
    for detector in detectors.values():
        settings = detector.get_params()
        repeats = {"n_resamples": 999, "n_restarts": 5, "n_permutations": 1000}
        for name, most in repeats.items():
            assert not isinstance(settings.get(name), int) or settings[name] <= most, name


@pytest.mark.slow
def test_the_check_of_the_benchmark_names_cells_that_are_no_result(result, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / ".ci")
    from check_benchmark import faults

    assert faults(result) == []
    cut = result.table.copy()
    cut.loc[cut["detector"] == "KOSEI", "stopped_by"] = "seconds"
    cut.loc[cut["detector"] == "DivExplorer", "error"] = "ValueError: no"
    planned = [("base", 0, "tree", ["DivExplorer", "KOSEI", "SG"])]
    assert faults(BenchmarkResult(cut, planned)) == [
        "DivExplorer, base, labels: ValueError: no",
        "DivExplorer, base, tree: ValueError: no",
        "KOSEI, base, tree: stopped by the time limit",
        "SG, base, tree: missing",
    ]


@pytest.mark.slow
def test_every_detector_takes_part_in_the_quick_protocol():
    """With a tenth of the rows of one data set, too few for 15 neighbors, and linear learners."""
    protocol, detectors = PROTOCOLS["quick"]["datasets"], default_detectors()
    tenth = {"base": protocol["base"] | {"group_size": 15, "n_background": 150}}
    quick = {"n_neighbors": 5, "learner": "linear", "witness": "linear"}
    for detector in detectors.values():
        detector.set_params(**{n: v for n, v in quick.items() if n in detector.get_params()})
    cells = run_protocol("quick", detectors=detectors, datasets=tenth).to_frame()
    assert set(cells["detector"]) == set(all_detectors())
    assert list(cells.loc[cells["error"] != "", ["detector", "error"]].to_numpy()) == []
    asks = {name for name, cls in all_detectors().items() if cls._asks}
    audited = cells.groupby("detector")["audited"].agg(set)
    assert all(audited[n] == ({"tree"} if n in asks else {"labels", "tree"}) for n in audited.index)


@pytest.mark.slow
def test_everything_named_is_made(result, tmp_path):
    written = write_article(tmp_path / "a", result)
    assert all(path.is_file() and tmp_path in path.parents for path in written)
    text = (tmp_path / "a" / "article.md").read_text()
    tex = (tmp_path / "a" / "article.tex").read_text()
    assert "{{" not in text + tex
    for name in re.findall(r"figures/\w+\.png", text + tex):
        assert (tmp_path / "a" / name).is_file()
    assert "of 2 methods, " in text
    for title in ("own question: precision", "planted groups: precision"):
        assert title in text
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") > 5
    cited = set(re.findall(r"\\cite\{(.*?)\}", tex))
    keys = {k for group in cited for k in group.split(",")}
    known = (tmp_path / "a" / "references.bib").read_text()
    assert keys
    assert all(f"{{{key}," in known for key in keys)


@pytest.mark.slow
def test_the_outline_has_a_line_for_each(tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["article", "--outline", "--out", str(tmp_path / "outline")]) == 0
    text = (tmp_path / "outline" / "article.md").read_text()
    assert "Table 'summary'" in text
    assert "DivExplorer" in text  # the taxonomy is there


def test_every_reference_is_closed():
    text = (Path(article.__file__).parent / "references.bib").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=@)", text.strip())
    assert len(entries) > 20
    for entry in entries:
        assert entry.count("{") == entry.count("}"), entry[:60]
        assert entry.rstrip().endswith("}")


@pytest.mark.slow
def test_the_latex_compiles(result, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    write_article(tmp_path, result)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
def test_the_command_takes_what_is_audited(tmp_path, capsys):
    command = ["benchmark", "--detectors", "GroupDisparity", "--out", str(tmp_path), "--audited"]
    assert main([*command, "labels, oracle"]) == 0
    cells = BenchmarkResult.read(tmp_path).to_frame()
    assert cells["audited"].tolist() == ["labels", "oracle"]
    assert main([*command, "trees"]) == 2
    assert "audited must be among" in capsys.readouterr().err


def test_article_needs_results_or_the_outline(capsys):
    assert main(["article"]) == 2
    assert "--outline" in capsys.readouterr().err


def test_special_characters_are_escaped():
    assert escape("a_b & 5 % {x}") == r"a\_b \& 5 \% \{x\}"
    import pandas as pd

    table = pd.DataFrame({"a_b": ["x|y"], "c": [float("nan")]})
    assert r"a b & c \\" in latex(table)
    assert "x\\|y" in markdown(table)
    evil = markdown(pd.DataFrame({"<script>": ["<img src=x>\nnext & last"]}))
    assert "<" not in evil
    assert len(evil.splitlines()) == 3
    assert article._inline("see [@one; @two] and `f_x`") == r"see \cite{one,two} and \texttt{f\_x}"


def test_protocols_differ_from_the_base_in_one_thing():
    for name in ("medium", "article"):
        protocol = PROTOCOLS[name]
        for title, arguments in protocol["datasets"].items():
            changed = [k for k in arguments if arguments[k] != BASE.get(k)]
            assert len(set(changed) - set(ROOM.get(title, {}))) <= 1, name


def test_grids_are_of_parameters_and_hold_the_default():
    detectors = default_detectors()
    assert set(default_grids()) <= set(detectors)
    for name, grid in default_grids().items():
        for parameter, values in grid.items():
            assert detectors[name].get_params()[parameter] in values, name


@pytest.mark.slow
def test_a_tuned_run_says_what_was_tried_and_uses_the_best(tmp_path):
    done = run_protocol("quick", detectors=DETECTORS, tune=True, out=tmp_path)
    tried = pd.read_csv(tmp_path / "tuning.csv")
    assert set(tried["detector"]) == set(DETECTORS)
    best = tried.loc[tried.groupby("detector")["score"].idxmax()].set_index("detector")["setting"]
    used = done.to_frame().groupby("detector")["settings"].unique()
    assert used.map(len).eq(1).all()
    for name, setting in best.items():
        ((parameter, value),) = ast.literal_eval(setting).items()
        default = type(DETECTORS[name])().get_params()[parameter] == value
        assert default or f"{parameter}={value!r}" in used[name][0]
    write_article(tmp_path / "article", done, folder=tmp_path)
    assert best["KOSEI"] in (tmp_path / "article" / "article.md").read_text()


@pytest.mark.slow
def test_tuning_that_was_stored_is_not_repeated(tmp_path):
    """The setting marked as the best is used, and only the other detector is tuned."""
    stored = "detector,dataset,setting,score\nKOSEI,base,{'n_seeds': 500},1.0\n"
    stored += "KOSEI,base,{'n_seeds': 2000},0.0\n"
    (tmp_path / "tuning.csv").write_text(stored)
    strong = {"one": {"n_pairs": 1, "n_background": 100}}
    how = {"datasets": strong, "audited": ["tree"], "tune": True, "out": tmp_path}
    done = run_protocol("quick", detectors=DETECTORS, **how)
    settings = done.to_frame().set_index("detector")["settings"]
    assert "n_seeds=500" in settings["KOSEI"]
    tried = pd.read_csv(tmp_path / "tuning.csv")
    assert tried.head(2).to_csv(index=False).splitlines() == stored.splitlines()
    assert set(tried["detector"].iloc[2:]) == {"DivExplorer"}


def test_tuning_takes_the_best_setting_of_data_of_its_own():
    grids = {"DivExplorer": {"max_predicates": [1, 3]}}
    tuned, scores = tune_detectors(DETECTORS, {"base": BASE}, grids, audited="labels")
    assert tuned["KOSEI"] is DETECTORS["KOSEI"]
    best = scores.loc[scores["score"].idxmax(), "setting"]
    assert repr({"max_predicates": tuned["DivExplorer"].max_predicates}) == best
    with pytest.raises(ValueError, match="not in detectors"):
        tune_detectors(DETECTORS, {"base": BASE}, {"Kosei": {}})
