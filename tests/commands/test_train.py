"""`grpo-ref train`: what it writes and says, mistakes, a user's own parts, runs killed and continued."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from grpo_ref import GRPO, TASKS, config_for
from grpo_ref.cli import main
from grpo_ref.commands.train import HELP
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.runs import RunFolder
from grpo_ref.render.progress import ProgressBar

# A shell starts background jobs with Ctrl-C ignored; the program under test listens to it all the same.
PROGRAM = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from grpo_ref.cli import main; main()",
]
QUICK = ["train", "bandit", "--updates", "5", "--seeds", "2"]
NETWORK = ["train", "names", "--policy", "transformer"]
SMALL = [*NETWORK, "--prompts", "2", "--group-size", "2", "--recipe", "dapo", "-o", "max_length=4"]
SMALL += ["--policy-option", "width=8", "--policy-option", "heads=2", "--policy-option", "layers=1"]
SMALL += ["--pretrain", "steps=3", "--pretrain", "batch=8"]
"""A network of a thousand weights that has hardly learned to speak."""
RUN = Path("runs/bandit-grpo")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_setting_of_a_training_has_an_option_with_help():
    assert list(HELP) == list(TrainConfig.__dataclass_fields__)


WRONG = {
    "task": (["train", "nmaes"], "no task is called 'nmaes'. Did you mean 'names'?"),
    "recipe": (["train", "bandit", "--recipe", "dappo"], "no recipe is called 'dappo'. Did you mean 'dapo'?"),
    "teacher": (
        ["train", "bandit", "--recipe", "opd"],
        "opd distills from a teacher, which the command line",
    ),
    "option": (["train", "bandit", "--sedes", "3"], "Did you mean"),
    "optimizer": (["train", "bandit", "--optimizer", "adm"], "Did you mean 'adam'?"),
    "task option": (["train", "names", "-o", "gaol=x"], "names has no setting 'gaol'. Did you mean 'goal'?"),
    "value of a task option": (["train", "names", "-o", "goal=x"], "goal: expected one of alternates"),
    "type of a task option": (["train", "names", "-o", "context=x"], "expected a value of type int, got 'x'"),
    "task option without a value": (["train", "names", "-o", "goal"], "expected KEY=VALUE, got 'goal'"),
    "setting out of range": (["train", "bandit", "--updates", "0"], "updates: expected a whole number >= 1"),
    "negative KL weight": (["train", "bandit", "--kl-coef", "-1"], "kl_coef: expected a number >= 0"),
    "no task": (["train"], f"name one task: {', '.join(TASKS)} or MODULE:NAME"),
    "two tasks": (["train", "bandit", "--task", "names"], "name one task"),
    "metric": (
        ["train", "bandit", "--metrics", "rewards"],
        "metrics: no metric 'rewards'; did you mean 'reward'?",
    ),
    "module": (["train", "nowhere:TASK"], "nowhere:TASK: No module named 'nowhere'"),
    "name in a module": (["train", "json:TASK"], "json:TASK: module 'json' has no attribute 'TASK'"),
    "module without a name": (["train", "json:"], "expected MODULE:NAME or FILE.py:NAME, got 'json:'"),
    "own task that is none": (["train", "grpo_ref:GRPO"], "expected a Task or a function, got Recipe"),
    "function that makes no task": (["train", "builtins:list"], "a function that returns a Task, got list"),
    "policy": (["train", "names", "--policy", "tabel"], "no policy is called 'tabel'. Did you mean 'table'?"),
    "policy of a task that a network cannot read": (
        ["train", "arithmetic", "--policy", "transformer"],
        "task: arithmetic has no prompt_tokens, which a network reads; train a table on it",
    ),
    "the same for the other network": (
        ["train", "bandit", "--policy", "mlp"],
        "task: bandit has no prompt_tokens",
    ),
    "policy option": ([*NETWORK, "--policy-option", "widht=8"], "'widht'; did you mean 'width'?"),
    "type of a policy option": (
        [*NETWORK, "--policy-option", "width=x"],
        "expected a value of type int, got 'x'",
    ),
    "value of a policy option": (
        [*NETWORK, "--policy-option", "heads=3"],
        "width: expected a multiple of 2 heads",
    ),
    "policy option without a value": (
        [*NETWORK, "--policy-option", "width"],
        "--policy-option: expected KEY=VALUE",
    ),
    "policy option of a table": (
        ["train", "names", "--policy-option", "width=8"],
        "--policy-option and --pretrain need a network, but the policy is a table",
    ),
    "imitation of a table": (
        ["train", "sums", "--policy", "table", "--pretrain", "steps=3"],
        "--policy-option and --pretrain need a network, but the policy is a table",
    ),
    "setting of the imitation": ([*NETWORK, "--pretrain", "stpes=3"], "'stpes'; did you mean 'steps'?"),
    "value of the imitation": (
        [*NETWORK, "--pretrain", "steps=x"],
        "steps: expected a whole number >= 1, got 'x'",
    ),
    "a network that no machine holds": (
        [*NETWORK, "--policy-option", "width=100000"],
        "not enough memory: network: 240,004,400,000 weights would need about 9,600.2 GB, and this machine",
    ),
    "a batch that no machine holds": (
        [*NETWORK, "--prompts", "1000000000"],
        "not enough memory: seeds=1, prompts=1000000000, group_size=",
    ),
    "examples that no machine holds": (
        [*NETWORK, "--pretrain", "batch=1000000000"],
        "not enough memory: batch=1000000000: a step of imitation would need",
    ),
    "infinite KL weight": (
        ["train", "bandit", "--kl-coef", "inf"],
        "kl_coef: expected a number >= 0, got inf",
    ),
    "time between saves": (
        ["train", "bandit", "--save-every", "nan"],
        "save_every: expected a number of seconds >= 0, got nan",
    ),
    "own recipe that is none": (
        ["train", "bandit", "--recipe", "json:dumps"],
        "json:dumps: expected a Recipe, got function",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_explained_and_write_nothing(run, tmp_path, arguments, message):
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_train_reports_and_plot_draws(run, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.render.progress.FIRST", 0.0)
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
    assert "runs/bandit-grpo holds no run to continue, so a new run begins" in result.stderr


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


def test_a_checkpoint_with_nan_is_named_and_left_as_it_is(run):
    command = [*SMALL, "--updates", "2", "--out", "one"]
    run(*command)
    path = Path("one/checkpoint.npz")
    with np.load(path) as arrays:
        broken = dict(arrays)
    broken["params"][0, 3] = np.nan
    np.savez(path, **broken)
    before = files(Path("one"))
    result = run(*command[:-4], "--updates", "4", "--out", "one", "--resume")
    assert result.exit_code == 1
    assert (
        "one/checkpoint.npz is damaged: params: expected finite numbers, got nan at (0, 3)" in result.output
    )
    assert files(Path("one"))["checkpoint.npz"] == before["checkpoint.npz"]


LOST = {
    "a table": ["train", "bandit", "--seeds", "2", "--learning-rate", "1e308"],
    "a network": [*SMALL, "--recipe", "grpo", "--entropy-coef", "0.1", "--learning-rate", "1e30"],
}


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered in (scalar )?(divide|multiply)")
@pytest.mark.parametrize("command", LOST.values(), ids=LOST)
def test_a_run_that_is_lost_says_so_and_keeps_its_last_finite_state(run, command):
    result = run(*command, "--updates", "30", "--out", "lost")
    assert result.exit_code == 1
    assert f"; mostly the step size is too large (learning_rate={float(command[-1]):g})" in result.output
    state, history = RunFolder(Path("lost")).load()
    assert f"Error: update {state.update + 1}: the " in result.output
    assert len(history) == state.update
    assert np.isfinite(state.params).all()


def test_imitation_that_is_lost_says_so(run):
    result = run(*SMALL, "--pretrain", "learning_rate=1e30")
    assert result.exit_code == 1
    assert "Error: imitation, step 2: the weights are too large for the network: " in result.output


def test_one_seed_is_called_one(run, monkeypatch):
    titles = []

    class Noted(ProgressBar):
        def __init__(self, title, *rest, **start):
            titles.append(title)
            super().__init__(title, *rest, **start)

    monkeypatch.setattr("grpo_ref.commands.training_run.ProgressBar", Noted)
    for seeds in ("1", "2"):
        assert run("train", "bandit", "--updates", "1", "--seeds", seeds, "--out", seeds).exit_code == 0
    assert titles == ["bandit, 1 seed", "bandit, 2 seeds"]


def test_a_task_option_reaches_the_task(run):
    assert run(*QUICK, "-o", "arms=3", "--out", "three").exit_code == 0
    state, _ = RunFolder(Path("three")).load()
    assert state.params.shape == (2, 8, 3)


def reached(folder):
    """The update of the last checkpoint, 0 before there is one."""
    return RunFolder(folder).load()[0].update if (folder / "checkpoint.npz").exists() else 0


STOPS = {"killed": (signal.SIGKILL, -signal.SIGKILL), "interrupted": (signal.SIGINT, 130)}


LONG = {
    "a table": ["train", "bandit", "--updates", "400", "--seeds", "2", "--epochs", "2", "--recipe", "dapo"],
    "a network": [*SMALL, "--updates", "80"],
}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
@pytest.mark.parametrize(("stop", "status"), STOPS.values(), ids=STOPS)
def test_a_stopped_run_continues_to_the_bit(run, stop, status, command):
    """Stopped in the middle, then resumed: every file equals that of an unbroken run, parameters included."""
    command = [*command, "--save-every", "0"]
    assert run(*command, "--out", "unbroken").exit_code == 0
    process = subprocess.Popen(
        [*PROGRAM, *command, "--out", "broken"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    folder = Path("broken")
    while not reached(folder) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(stop)
    assert process.wait() == status
    stopped_at = RunFolder(folder).load()[0].update
    assert 0 < stopped_at < int(command[command.index("--updates") + 1])
    assert run(*command, "--out", "broken", "--resume").exit_code == 0
    assert files(folder) == files(Path("unbroken"))


# ---- continuing ----------------------------------------------------------------------------------


BANDITS = ["train", "bandit", "--seeds", "2"]
LENGTHS = {
    "all metrics": BANDITS,
    "the fast loop": [*BANDITS, "--metrics", "reward,payoff", "--epochs", "2"],
    "another optimizer": [*BANDITS, "--optimizer", "sgd", "--ref-refresh", "2"],
    "a network": [*SMALL, "--seeds", "2", "--epochs", "2"],
    "the other network, its reference refreshed": [
        *("train", "sums", "--policy", "mlp", "--policy-option", "hidden=8", "--prompts", "4"),
        *("--pretrain", "steps=3", "--pretrain", "batch=8", "--ref-refresh", "2", "--metrics", "reward"),
    ],
}


@pytest.mark.parametrize("command", LENGTHS.values(), ids=LENGTHS)
def test_a_finished_run_is_lengthened_to_the_bit(run, command):
    assert run(*command, "--updates", "7", "--out", "at once").exit_code == 0
    assert run(*command, "--updates", "3", "--out", "longer").exit_code == 0
    result = run(*command, "--updates", "7", "--out", "longer", "--resume")
    assert result.exit_code == 0
    assert "longer goes on from 3 to 7 updates" in result.stderr
    assert files(Path("longer")) == files(Path("at once"))


def test_a_run_is_lengthened_only_by_a_larger_number_that_is_asked_for(run):
    run(*QUICK)
    before = files(RUN)
    shorter = run("train", "bandit", "--seeds", "2", "--updates", "4", "--resume")
    assert "holds another run: updates is 5 there and 4 here" in shorter.output
    silent = run("train", "bandit", "--seeds", "2", "--resume")
    assert "holds another run: updates is 5 there and 200 here" in silent.output
    other = run("train", "bandit", "--seeds", "2", "--updates", "9", "--epochs", "2", "--resume")
    assert "holds another run: epochs is 1 there and 2 here" in other.output
    assert files(RUN) == before


def test_a_deleted_checkpoint_is_told_and_nothing_is_overwritten(run):
    run(*QUICK)
    (RUN / "checkpoint.npz").unlink()
    before = files(RUN)
    for updates in (5, 9):
        result = run("train", "bandit", "--seeds", "2", "--updates", updates, "--resume")
        assert result.exit_code == 1
        assert "has metrics.csv but no checkpoint.npz: without it the run cannot be" in result.output
        assert files(RUN) == before


def test_a_run_that_was_killed_before_its_first_update_begins_anew(run):
    run(*QUICK)
    expected = files(RUN)
    (RUN / "checkpoint.npz").unlink()
    (RUN / "metrics.csv").unlink()
    assert run(*QUICK, "--resume").exit_code == 0
    assert files(RUN) == expected


def test_a_network_that_was_killed_while_it_imitated_begins_anew(run, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("grpo_ref.commands.training_run.pretrain", interrupted)
        assert run(*SMALL, "--updates", "2").exit_code == 130
    folder = Path("runs/names-dapo-transformer")
    assert set(files(folder)) == {"config.json"}
    assert run(*SMALL, "--updates", "2", "--resume").exit_code == 0
    assert run(*SMALL, "--updates", "2", "--out", "unbroken").exit_code == 0
    assert files(folder) == files(Path("unbroken"))


def interrupted(*arguments):
    raise KeyboardInterrupt


def test_a_run_of_another_network_is_not_continued(run):
    command = [*SMALL, "--updates", "2", "--out", "one"]
    assert run(*command).exit_code == 0
    before = files(Path("one"))
    assert run(*command, "--policy-option", "norm=rms", "--resume").exit_code == 0
    for options, message in {
        ("--policy-option", "layers=2"): "layers is 1 there and 2 here",
        ("--policy-option", "norm=layer"): "norm is 'rms' there and 'layer' here",
        ("--pretrain", "steps=4"): "steps is 3 there and 4 here",
        ("--pretrain", "seed=1"): "seed is 0 there and 1 here",
    }.items():
        result = run(*command, *options, "--resume")
        assert result.exit_code == 1
        assert f"one holds another run: {message}" in result.output
    assert "holds another run" in run("train", "names", "--updates", "2", "--out", "one", "--resume").output
    assert files(Path("one")) == before


# ---- some metrics only ---------------------------------------------------------------------------


def test_the_metrics_asked_for_are_kept_and_the_fast_loop_is_taken(run):
    result = run(*QUICK, "--metrics", "reward,payoff")
    assert result.exit_code == 0
    assert json.loads((RUN / "config.json").read_text())["metrics"] == ["reward", "payoff"]
    assert (RUN / "metrics.csv").read_text().startswith("update,seed,reward,payoff\n")
    task = TASKS["bandit"]()
    *_, last = train_many(task, GRPO, config_for(task, updates=5, seeds=2))
    assert np.array_equal(RunFolder(RUN).load()[0].params, last.state.params)
    assert "entropy" not in result.stdout
    assert (
        "holds another run: metrics is ['reward', 'payoff'] there and None here"
        in run(*QUICK, "--resume").output
    )


def test_runs_are_drawn_by_the_metrics_that_they_share(run):
    run(*QUICK, "--metrics", "reward,payoff", "--out", "one")
    run(*QUICK, "--metrics", "payoff,entropy", "--out", "two")
    run(*QUICK, "--metrics", "kl", "--out", "three")
    for folders in (["one"], ["two"], ["one", "two"]):
        assert run("plot", *folders, "--out", "picture.png").exit_code == 0
    result = run("plot", "one", "three")
    assert result.exit_code == 1
    assert "Error: the runs have no metric in common that could be drawn" in result.output


# ---- a user's own --------------------------------------------------------------------------------

OWN = """
from dataclasses import replace
from grpo_ref import GRPO, TASKS

STRICT = replace(GRPO, kl_coef=0.5)
SMALL = TASKS["bandit"](arms=3)


def sized(arms: int = 4, seed=0):
    return TASKS["bandit"](arms=arms)


def required(arms):
    return TASKS["bandit"](arms=arms)
"""


@pytest.fixture
def own(tmp_path):
    """A module of the user's in the current folder, forgotten afterwards."""
    (tmp_path / "mine.py").write_text(OWN)
    yield
    sys.modules.pop("mine", None)


CHOICES = {
    "a task": (["train", "mine:SMALL"], 3, "mine.SMALL-grpo"),
    "a task as an option": (["train", "--task", "mine:SMALL"], 3, "mine.SMALL-grpo"),
    "a function": (["train", "mine:sized"], 4, "mine.sized-grpo"),
    "a function with a setting": (["train", "mine:sized", "-o", "arms=6"], 6, "mine.sized-grpo"),
    "a function without defaults": (["train", "mine:required", "-o", "arms=2"], 2, "mine.required-grpo"),
    "a recipe": (["train", "bandit", "--recipe", "mine:STRICT"], 10, "bandit-mine.STRICT"),
}


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(("arguments", "arms", "folder"), CHOICES.values(), ids=CHOICES)
def test_a_users_own_task_and_recipe(run, arguments, arms, folder):
    command = [*arguments, "--updates", "3", "--seeds", "2"]
    result = run(*command)
    assert result.exit_code == 0, result.output
    folder = Path("runs", folder)
    assert RunFolder(folder).load()[0].params.shape == (2, 8, arms)
    before = files(folder)
    assert run(*command, "--resume").exit_code == 0
    assert files(folder) == before
    longer = run(*arguments, "--seeds", "2", "--updates", "5", "--resume")
    assert longer.exit_code == 0
    assert len(RunFolder(folder).history()) == 5


@pytest.mark.usefixtures("own")
def test_a_users_own_recipe_is_that_recipe(run):
    run(*QUICK, "--recipe", "mine:STRICT", "--out", "own")
    run(*QUICK, "--kl-coef", "0.5", "--out", "ours")
    assert files(Path("own"))["metrics.csv"] == files(Path("ours"))["metrics.csv"]
    assert json.loads(Path("own/config.json").read_text())["recipe"] == "mine:STRICT"


@pytest.mark.usefixtures("own")
def test_a_task_that_is_made_already_has_no_settings(run):
    result = run("train", "mine:SMALL", "-o", "arms=3")
    assert "mine:SMALL has no setting 'arms'. It has none." in result.output


@pytest.mark.usefixtures("own")
def test_a_setting_that_a_task_needs_is_asked_for(run):
    result = run("train", "mine:required")
    assert "Error: mine:required: missing a required argument: 'arms'; give it with -o" in result.output


# ---- what the curves do not say ------------------------------------------------------------------

WARNINGS = {
    "sapo": (
        ["--recipe", "sapo"],
        "the surrogate of sapo cannot be distinguished from grpo's; with the same KL penalty, grpo,"
        " intellect_2, gmpo, gspo, gspo_token give the same logits. Use --epochs 2 or more to see",
    ),
    "gspo": (
        ["--recipe", "gspo"],
        "the level and surrogate of gspo cannot be distinguished from grpo's; with",
    ),
    "dapo": (
        ["--recipe", "dapo"],
        "the surrogate of dapo cannot be distinguished from grpo's. Use --epochs 2",
    ),
    "a group of one": (["--group-size", "1"], "warning: every advantage is 0, because grpo compares"),
}
SILENT = {
    "grpo itself": [],
    "several epochs": ["--recipe", "sapo", "--epochs", "2"],
    "several minibatches": ["--recipe", "gspo", "--minibatches", "2"],
    "another slope at ratio 1": ["--recipe", "clip_cov"],
    "an advantage that needs no group": ["--recipe", "reinforce_pp", "--group-size", "1"],
}


@pytest.mark.parametrize(("options", "message"), WARNINGS.values(), ids=WARNINGS)
def test_parts_without_effect_are_reported(run, options, message):
    result = run(*QUICK, *options)
    assert result.exit_code == 0
    assert message in result.stderr


@pytest.mark.parametrize("options", SILENT.values(), ids=SILENT)
def test_nothing_is_reported_if_all_parts_have_an_effect(run, options):
    assert run(*QUICK, *options).stderr == ""


def test_recipes_reported_to_give_the_same_logits_do(run):
    for recipe in ("grpo", "gspo", "sapo"):
        run(*QUICK, "--recipe", recipe, "--kl-coef", "0.04", "--out", recipe)
    grpo, gspo, sapo = (RunFolder(Path(name)).load()[0].params for name in ("grpo", "gspo", "sapo"))
    np.testing.assert_allclose(gspo, grpo, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sapo, grpo, rtol=0, atol=1e-12)


def test_a_single_run_is_no_mean(run):
    assert "bandit: one seed" in run("train", "bandit", "--updates", "2", "--seeds", "1").output
