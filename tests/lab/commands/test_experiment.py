"""`grpo-ref experiment`: what it runs, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_experiment import TOY

from grpo_ref.cli import main
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.framework.cache import Cache
from grpo_ref.lab.framework.summary import load
from grpo_ref.lab.framework.sweep import jobs_of, sweep
from grpo_ref.lab.report import BEGIN, END


def run(*arguments):
    return CliRunner().invoke(main, ["experiment", *map(str, arguments)])


@pytest.fixture
def one_experiment(monkeypatch):
    """The command knows the made-up experiment only."""
    monkeypatch.setattr("grpo_ref.lab.commands.experiment.EXPERIMENTS", {"toy": TOY})


def test_list_names_every_experiment():
    heading, *lines = run("list").output.splitlines()
    assert heading.split() == ["experiment", "group", "claim"]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(EXPERIMENTS)


@pytest.mark.usefixtures("one_experiment")
def test_report_of_stored_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache = Cache(tmp_path / "runs" / "experiments")
    empty = run("report", "--seeds", 8)
    assert empty.exit_code == 1
    assert "grpo-ref experiment run" in empty.output
    assert run("predict", "--out", "out").output == "out/predictions/toy.json: written\n"
    assert run("predict", "--out", "out").output == "out/predictions/toy.json: unchanged\n"
    list(sweep(jobs_of(TOY, seeds=8), cache, workers=1))
    Path("page.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    done = run("report", "--seeds", 8, "--out", "out", "--readme", "page.md")
    assert done.exit_code == 0, done.output
    found = load(Path("out/results.json"))
    assert found["experiments"]["toy"]["verdict"] == "supported"
    page = Path("out/README.md").read_text(encoding="utf-8")
    assert "| High is higher than low | holds (exact) | level: high - low | 1 [1, 1] | 0 | " in page
    assert "1 claim: 1 *supported*" in page
    assert "| of nothing |" in page
    assert "Predictions [written down](predictions/toy.json) on " in page
    assert r"More is more, whatever \| else." in Path("page.md").read_text(encoding="utf-8")
    text = Path("out/report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in text
    assert '<h2 id="toy">' in text
    assert "data:image/svg+xml;base64," in text
    assert 'src="toy.' not in text


@pytest.mark.usefixtures("one_experiment")
def test_report_says_where_it_cannot_write(tmp_path):
    list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path / "cache"), workers=1))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "page.md").write_text("no marks")
    common = ["report", "--seeds", 8, "--cache", tmp_path / "cache", "--out"]
    inside = run(*common, tmp_path / "file" / "out")
    assert inside.exit_code == 1
    assert "Not a directory" in inside.output
    unmarked = run(*common, tmp_path / "out", "--readme", tmp_path / "page.md")
    assert unmarked.exit_code == 1
    assert "expected the marks" in unmarked.output
    assert (tmp_path / "page.md").read_text() == "no marks"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--backend dask", "--backend dask and --scheduler ADDRESS go together"),
        ("--quick --seeds 64", "--quick means 16 seeds: give --quick or --seeds, not both"),
        ("--jobs 0", "Invalid value for '--jobs': expected at least 1, or -1 for one per core, got 0"),
        ("--jobs -5", "expected at least 1, or -1 for one per core, got -5"),
    ],
)
def test_command_refuses_what_contradicts_itself(options, message):
    refused = run("run", "group_mean", *options.split())
    assert refused.exit_code == 2
    assert message in refused.output


def test_command_runs_a_repeated_name_once(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.lab.commands.experiment.EXPERIMENTS", {"group_mean": TOY})
    shown = run("run", "group_mean", "group_mean", "--seeds", 8, "--jobs", 1, "--cache", tmp_path)
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("toy  supported") == 1
