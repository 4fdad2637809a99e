"""The command line, as a user meets it: help, errors, runs that are killed and continued."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from grpo_ref.frontends.cli import COMMANDS, main
from grpo_ref.frontends.commands.recipes import as_markdown
from grpo_ref.frontends.commands.train import HELP
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.runs import RunFolder
from grpo_ref.recipes import RECIPES

# A shell starts background jobs with Ctrl-C ignored; the program under test listens to it all the same.
PROGRAM = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from grpo_ref.frontends.cli import main; main()",
]
QUICK = ["train", "bandit", "--updates", "5", "--seeds", "2"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=["grpo-ref", *COMMANDS])
def test_help_has_an_example(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example:  grpo-ref" in result.output


def test_help_imports_nothing_heavy():
    code = "import sys; from grpo_ref.frontends.cli import main; main(['--help'], standalone_mode=False); "
    code += "print([name for name in ('scipy', 'matplotlib', 'rich') if name in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.endswith("[]\n")


def test_every_setting_of_a_training_has_an_option_with_help():
    assert list(HELP) == list(TrainConfig.__dataclass_fields__)


WRONG = {
    "command": (["trian"], "no command is called 'trian'. Did you mean 'train'?"),
    "task": (["train", "nmaes"], "no task is called 'nmaes'. Did you mean 'names'?"),
    "recipe": (["train", "bandit", "--recipe", "dappo"], "no recipe is called 'dappo'. Did you mean 'dapo'?"),
    "nothing like it": (["recipes", "xyz"], "Choose one of: grpo, dr_grpo, dapo, lite_ppo,"),
    "option": (["train", "bandit", "--sedes", "3"], "Did you mean"),
    "optimizer": (["train", "bandit", "--optimizer", "adm"], "Did you mean 'adam'?"),
    "task option": (["train", "names", "-o", "gaol=x"], "names has no setting 'gaol'. Did you mean 'goal'?"),
    "value of a task option": (["train", "names", "-o", "goal=x"], "goal: expected one of alternates"),
    "type of a task option": (["train", "names", "-o", "context=x"], "expected a value of type int, got 'x'"),
    "task option without a value": (["train", "names", "-o", "goal"], "expected KEY=VALUE, got 'goal'"),
    "setting out of range": (["train", "bandit", "--updates", "0"], "updates: expected a whole number >= 1"),
    "negative KL weight": (["train", "bandit", "--kl-coef", "-1"], "kl_coef: expected a number >= 0"),
    "run that is not there": (["plot", "nowhere"], "nowhere: no such folder"),
    "picture of no known kind": (["plot", "nowhere", "--out", "x.gif"], "ends in .png, .pdf, .svg"),
    "no run at all": (["plot"], "Missing argument"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_explained_and_write_nothing(run, tmp_path, arguments, message):
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_train_reports_and_plot_draws(run, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.frontends.progress.FIRST", 0.0)
    result = run(*QUICK)
    assert result.exit_code == 0
    for text in ("bandit: mean over 2 seeds", "before and after", "grpo-ref plot runs/bandit-grpo"):
        assert text in result.output
    assert "update 5/5" in result.stderr
    assert set(files(Path("runs/bandit-grpo"))) == {"config.json", "metrics.csv", "checkpoint.npz"}
    lines = Path("runs/bandit-grpo/metrics.csv").read_text().splitlines()
    assert len(lines) == 1 + 5 * 2
    assert lines[0].startswith("update,seed,payoff,reward,kl,entropy")

    run(*QUICK, "--recipe", "dapo")
    result = run("plot", "runs/bandit-grpo", "runs/bandit-dapo", "--out", "both.png")
    assert result.output == "wrote both.png\n"
    assert Path("both.png").read_bytes().startswith(b"\x89PNG")
    assert run("plot", "runs/bandit-grpo").exit_code == 0
    assert Path("runs/bandit-grpo/dynamics.png").exists()


def test_a_second_run_does_not_overwrite_the_first(run):
    run(*QUICK)
    before = files(Path("runs/bandit-grpo"))
    result = run(*QUICK)
    assert result.exit_code == 1
    assert "exists already; continue it with --resume, or choose another folder with --out" in result.output
    assert files(Path("runs/bandit-grpo")) == before


def test_resume_continues_only_the_same_run(run):
    run(*QUICK)
    before = files(Path("runs/bandit-grpo"))
    assert run(*QUICK, "--resume").exit_code == 0
    assert files(Path("runs/bandit-grpo")) == before
    result = run(*QUICK, "--resume", "--learning-rate", "0.5")
    assert result.exit_code == 1
    assert "holds another run: learning_rate is 0.1 there and 0.5 here" in result.output
    assert files(Path("runs/bandit-grpo")) == before
    several = run(*QUICK, "--resume", "--learning-rate", "0.5", "--kl-coef", "0.3").output
    assert "kl_coef" in several
    assert "learning_rate" in several


def test_resume_of_a_run_that_never_began_begins_and_says_so(run):
    result = run(*QUICK, "--resume")
    assert result.exit_code == 0
    assert "runs/bandit-grpo holds no run to continue: this one is new" in result.stderr


def test_a_run_is_written_by_one_process_at_a_time(run):
    run(*QUICK)
    folder, before = RunFolder(Path("runs/bandit-grpo")), files(Path("runs/bandit-grpo"))
    with folder.held():
        result = run(*QUICK, "--resume")
    assert result.exit_code == 1
    assert "runs/bandit-grpo is being written by another process" in result.output
    assert files(Path("runs/bandit-grpo")) == before
    assert run(*QUICK, "--resume").exit_code == 0


def test_a_foreign_folder_is_left_alone(run, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for extra in ([], ["--resume"]):
        assert run(*QUICK, "--out", tmp_path, *extra).exit_code == 1
    assert files(tmp_path) == {"notes.txt": b"mine"}


def test_a_damaged_run_is_named_and_left_as_it_is(run):
    run(*QUICK)
    checkpoint = Path("runs/bandit-grpo/checkpoint.npz")
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    before = files(Path("runs/bandit-grpo"))
    result = run(*QUICK, "--resume")
    assert result.exit_code == 1
    assert "checkpoint.npz is damaged" in result.output
    assert files(Path("runs/bandit-grpo")) == before


def test_a_task_option_reaches_the_task(run):
    assert run(*QUICK, "-o", "arms=3", "--out", "three").exit_code == 0
    state, _ = RunFolder(Path("three")).load()
    assert state.logits.shape == (2, 8, 3)


STOPS = {"killed": (signal.SIGKILL, -signal.SIGKILL), "interrupted": (signal.SIGINT, 130)}


@pytest.mark.parametrize(("stop", "status"), STOPS.values(), ids=STOPS)
def test_a_stopped_run_continues_to_the_bit(run, stop, status):
    """Stopped in the middle, then resumed: every file equals that of an unbroken run, parameters included."""
    command = ["train", "bandit", "--updates", "400", "--seeds", "2", "--epochs", "2", "--recipe", "dapo"]
    command += ["--save-every", "0"]
    assert run(*command, "--out", "unbroken").exit_code == 0
    process = subprocess.Popen(
        [*PROGRAM, *command, "--out", "broken"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    folder = Path("broken")
    while not (folder / "checkpoint.npz").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(stop)
    assert process.wait() == status
    stopped_at = RunFolder(folder).load()[0].update
    assert 0 < stopped_at < 400
    assert run(*command, "--out", "broken", "--resume").exit_code == 0
    assert files(folder) == files(Path("unbroken"))


def test_works_in_a_pipe_without_colour(tmp_path):
    command = [*PROGRAM, *QUICK]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}, check=True
    )
    assert "\x1b" not in result.stdout + result.stderr
    assert "saved in runs/bandit-grpo" in result.stdout


def test_recipes_lists_every_recipe(run):
    table = run("recipes").output
    assert all(name in table for name in RECIPES)
    assert run("recipes", "--markdown").output == as_markdown() + "\n"
    assert "mixed_groups" in run("recipes", "dapo").output
