"""`grpo-ref experiment`: what it runs, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_experiment import TOY

from grpo_ref.cli import main
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.claim_results import load
from grpo_ref.lab.framework.cache import Cache
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
    predictions = ("predict", "--out", "out", "--tag", "mine")
    assert run(*predictions).output == "out/toy/predictions.json, table: written\n"
    assert run(*predictions).output == "out/toy/predictions.json, table: unchanged\n"
    list(sweep(jobs_of(TOY, seeds=8), cache, workers=1))
    Path("page.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    done = run("report", "--seeds", 8, "--out", "out", "--readme", "page.md")
    assert done.exit_code == 0, done.output
    assert load(Path("out/toy"))["table"]["verdict"] == "supported"
    page = Path("out/toy/README.md").read_text(encoding="utf-8")
    assert "| High is higher than low | level: high − low | +1 | 0 | holds (exact) |" in page
    assert "| of nothing |" in page
    assert "[written down](predictions.json) on " in page
    assert "Git tag `mine`" in page
    assert "[Is high higher than low?](toy/README.md)" in Path("out/README.md").read_text(encoding="utf-8")
    assert "[toy](out/toy/README.md)" in Path("page.md").read_text(encoding="utf-8")
    text = Path("out/report.html").read_text(encoding="utf-8")
    assert '<h1 id="toy">' in text
    assert "data:image/svg+xml;base64," in text
    assert 'src="figure' not in text


TEXT = "---\nanswer: Yes, by {row 1}.\ndo: use\nadvice: Do.\noutcomes: {table: [holds, holds]}\n---\n"


@pytest.mark.usefixtures("one_experiment")
def test_pages_follow_a_changed_text_without_the_stored_runs(tmp_path):
    none = run("pages", "--out", tmp_path)
    assert none.exit_code == 1
    assert "has no results; write them with: grpo-ref experiment report" in none.output
    list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path / "cache"), workers=1))
    run("report", "--seeds", 8, "--cache", tmp_path / "cache", "--out", tmp_path)
    page = tmp_path / "toy" / "README.md"
    assert "**With a table, the claim holds.**" in page.read_text(encoding="utf-8")
    (tmp_path / "toy" / "text.md").write_text(TEXT)
    assert run("pages", "--out", tmp_path).exit_code == 0
    assert "**Yes, by +1.**" in page.read_text(encoding="utf-8")
    assert "| Use it | Do. |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    (tmp_path / "toy" / "text.md").write_text(TEXT.replace("row 1", "row 9"))
    wrong = run("pages", "--out", tmp_path)
    assert wrong.exit_code == 1
    assert "{row 9}: the table has 2 rows" in wrong.output


@pytest.mark.usefixtures("one_experiment")
def test_a_report_removes_the_panels_of_an_earlier_one(tmp_path):
    list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path / "cache"), workers=1))
    (tmp_path / "out" / "toy").mkdir(parents=True)
    for name in ("figure_9.svg", "figure.png", "text.txt"):
        (tmp_path / "out" / "toy" / name).write_text("old")
    done = run("report", "--seeds", 8, "--cache", tmp_path / "cache", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    written = {path.name for path in (tmp_path / "out" / "toy").iterdir()}
    figures = {"figure_1.svg", "figure_2.svg", "differences.svg"}
    assert written == {*figures, "README.md", "results.json", "text.txt"}


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
