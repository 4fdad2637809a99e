"""Python scripts and notebooks, read and not run."""

import json

import pytest
from answers import answer
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.explain.launch.python import read_notebook, read_python
from grpo_ref.explain.launch.reading import launches
from grpo_ref.explain.launch.values import Unknown

SCRIPT = """
import argparse, os, trl
from trl import GRPOConfig, GRPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--beta", type=float, default=0.04)
parser.add_argument("--length")
args = parser.parse_args()
N = 4 * 2
extra = dict(epsilon=0.3, **{"loss_type": "bnpo"})


def main():
    config = GRPOConfig(
        output_dir=f"runs/{N}",
        num_generations=N,
        beta=args.beta,
        temperature=float(os.environ.get("T", "0.9")),
        max_completion_length=int(args.length),
        delta=None if N > 1 else 4,
        top_p=1 - 0.1,
        **extra,
    )
    config.epsilon_high = 0.28
"""


def test_constants_are_folded():
    script = read_python(SCRIPT)
    (config,) = [each for each in script.configs if each.made_by]
    length, delta = config.keys.pop("max_completion_length"), config.keys.pop("delta")
    assert config.made_by == "trl.GRPOConfig"
    assert config.keys == {
        "output_dir": "runs/8",
        "num_generations": 8,
        "beta": 0.04,
        "temperature": 0.9,
        "top_p": 0.9,
        "epsilon": 0.3,
        "loss_type": "bnpo",
        "epsilon_high": 0.28,
    }
    assert length == Unknown("int(args.length)", "it is computed when the program runs")
    assert isinstance(delta, Unknown)
    assert "--beta is taken to be 0.04, its default" in " ".join(script.notes)
    assert "T is taken to be '0.9'" in " ".join(script.notes)


def keys(source):
    return read_python(source).configs[0].keys


def test_a_name_means_what_it_was_last_given_unless_it_depends_on_a_branch():
    assert keys("from trl import GRPOConfig\nb = 1\nb = 2\nGRPOConfig(beta=b)") == {"beta": 2}
    uncertain = keys("from trl import GRPOConfig\nb = 1\nif big:\n    b = 2\nGRPOConfig(beta=b)")["beta"]
    assert (uncertain.text, uncertain.why) == ("1 or 2", "b is set in several branches")
    main = "from trl import GRPOConfig\nif __name__ == '__main__':\n    b = 2\n    GRPOConfig(beta=b)"
    assert keys(main) == {"beta": 2}


UPDATES = {
    "a dictionary": ('d.update({"beta": 0.2})', {"beta": 0.2, "epsilon": 0.1}),
    "keywords": ("d.update(beta=0.2)", {"beta": 0.2, "epsilon": 0.1}),
    "a key": ('d["beta"] = 0.2', {"beta": 0.2, "epsilon": 0.1}),
    "a merge": ('d |= {"beta": 0.2}', {"beta": 0.2, "epsilon": 0.1}),
    "a key that is taken out": ('d.pop("beta", None)', {"epsilon": 0.1}),
    "a copy": ("d = dict(d, beta=0.2)", {"beta": 0.2, "epsilon": 0.1}),
    "a copy of a copy": ("d = copy.deepcopy(d.copy())", {"beta": 0.1, "epsilon": 0.1}),
    "a dictionary of a dictionary": ("d = dict(**d)", {"beta": 0.1, "epsilon": 0.1}),
    "nothing that can be read": ("d.update(load())", {}),
    "a name of a key that is computed": ("d[key] = 0.2", {}),
    "a key that is taken out by its name": ("d.pop(key)", {}),
    "a key that is deleted": ('del d["beta"]', {}),
    "a default": ('d.setdefault("beta", 0.2)', {}),
    "a dictionary in a branch": ('if big:\n    d.update({"beta": 0.2})', {}),
}


@pytest.mark.parametrize(("update", "expected"), UPDATES.values(), ids=UPDATES)
def test_an_update_of_a_dictionary_is_followed(update, expected):
    start = "from trl import GRPOConfig\nd = {'beta': 0.1, 'epsilon': 0.1}\n"
    config = next(each for each in read_python(f"{start}{update}\nGRPOConfig(**d)").configs if each.made_by)
    assert config.keys == expected
    assert bool(config.unread) == (not expected)


UNREAD = (
    "def make(**k):\n    return GRPOConfig(**k)",
    "GRPOConfig(**{**d, **e})",
    *(
        f"k = {made}\nGRPOConfig(**k)"
        for made in (
            *(
                "dict(cfg['grpo'])",
                "dict(cfg, beta=0.1)",
                "dict(**cfg)",
                "dict([('beta', 0.1)])",
                "cfg.copy()",
            ),
            *(
                "copy.copy(cfg)",
                "copy.deepcopy(cfg)",
                "{k: v for k, v in cfg.items()}",
                "vars(cfg)",
                "load()",
            ),
        )
    ),
)


@pytest.mark.parametrize("source", UNREAD)
def test_keys_that_an_unread_dictionary_may_set_are_unknown(source):
    """The defaults of TRL must not be reported: the dictionary may set any key."""
    (launch,) = launches(f"from trl import GRPOConfig\n{source}", "a.py")
    assert [each.startswith("The dictionary `") for each in launch.missing] == [True]


def test_a_class_of_its_own_brings_its_defaults():
    source = (
        "import trl\nfrom dataclasses import field\n"
        "class Mine(trl.GRPOConfig):\n    beta: float = 0.1\n    epsilon: float = field(default=0.3)\n"
        "Mine(epsilon=0.4)"
    )
    assert keys(source) == {"beta": 0.1, "epsilon": 0.4}


def test_the_class_counts_by_where_it_was_imported_from():
    theirs = "from trl.trainer.grpo_config import GRPOConfig as C\nC(beta=1)\n"
    source = f"{theirs}from mine import GRPOConfig\nGRPOConfig(x=1)"
    assert [each.made_by for each in read_python(source).configs] == [
        "trl.trainer.grpo_config.GRPOConfig",
        "mine.GRPOConfig",
    ]


def test_options_on_the_command_line_are_told_to_be_elsewhere():
    source = "from trl import GRPOConfig, TrlParser\nparser = TrlParser((ScriptArguments, GRPOConfig))"
    assert "from its command line" in read_python(source).notes[0]


def test_nothing_is_run(tmp_path):
    path = tmp_path / "ran"
    read_python(f"from trl import GRPOConfig\nGRPOConfig(beta=open({str(path)!r}, 'w').write('x'))")
    assert not path.exists()


@pytest.mark.parametrize(
    "value", ["10 ** 10 ** 10", "'a' * 10 ** 9", "[0] * 10 ** 9", "9 ** 9 ** 9", "'x' * 99999999"]
)
def test_arithmetic_does_not_explode(value):
    found = keys(f"from trl import GRPOConfig\nGRPOConfig(beta={value})")
    assert isinstance(found["beta"], Unknown)


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})


def test_a_notebook_is_read_cell_by_cell():
    text = notebook(
        ["!pip install trl==0.14.0\n", "%matplotlib inline\n", "from trl import GRPOConfig"],
        "if True:\n    !ls\nGRPOConfig(beta=0.1)",
        "%%bash\ntrl grpo --beta 0.2",
    )
    found = read_notebook(text)
    assert found.configs[0].keys == {"beta": 0.1}
    assert found.shell.splitlines() == ["pip install trl==0.14.0", "ls", "trl grpo --beta 0.2"]


@pytest.mark.parametrize("text", ["[]", "{", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(ValueError, match="not a notebook"):
        read_notebook(text)


@pytest.mark.parametrize("source", ["def", "x = (", "(" * 5000, "\x00"])
def test_what_is_no_python_is_refused(source):
    with pytest.raises(ValueError, match="it is not valid Python"):
        read_python(source)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([*SCRIPT.split(), *"\n ()*%={}0", "**", "//"]),
        max_size=40,
    )
)
def test_any_text_is_read_or_refused_in_words(words):
    assert answer(read_python, " ".join(words))


def test_cells_that_are_no_python_are_left_out_and_told():
    found = read_notebook(notebook("    indented", "GRPOConfig(beta=0.1)", "(("))
    assert found.configs[0].keys == {"beta": 0.1}
    assert found.notes == ["2 cells are not Python and not read."]


def test_a_dictionary_that_a_function_returns_is_a_configuration():
    script = read_python("def config():\n    return {'algorithm': {'adv_estimator': 'grpo'}, 'n': 1}")
    assert script.configs[0].keys == {"algorithm.adv_estimator": "grpo", "n": 1}


def test_a_dataclass_of_its_own_hands_its_defaults_on():
    source = """
from dataclasses import dataclass
from trl import GRPOConfig

@dataclass(frozen=True)
class Config:
    group: int = 8
    kl: float = 1e-3
    steps: int = 4

@dataclass
class Other:
    steps: int = 5

class Plain:
    width: float = 0.3

def main(cfg):
    GRPOConfig(num_generations=cfg.group, beta=cfg.kl, num_iterations=cfg.steps, epsilon=cfg.width)
"""
    script = read_python(source)
    (config,) = script.configs
    assert (config.keys["num_generations"], config.keys["beta"]) == (8, 1e-3)
    assert isinstance(config.keys["num_iterations"], Unknown)
    assert isinstance(config.keys["epsilon"], Unknown)
    assert script.notes == [
        "Line 19: cfg.group is taken to be 8, its default.",
        "Line 19: cfg.kl is taken to be 0.001, its default.",
    ]


def test_flags_that_slime_is_started_with_are_a_command():
    source = """
import os
import slime.utils.external_utils.command_utils as U
data = os.path.join("a", "b")
rollout = f"--prompt-data {data} --n-samples-per-prompt {4 * 2} "
if os.environ:
    backend = "--train-backend megatron "
more = more + "x"
U.execute_train(train_args=f"{rollout}{backend}--eps-clip 0.3 {more}", num_gpus_per_node=8)
"""
    assert read_python(source).shell == (
        'python3 slime/train.py --prompt-data "${os_path_join_a_b_}" --n-samples-per-prompt 8 --train-backend'
        ' megatron --eps-clip 0.3 "${more_x_}"'
    )


def test_a_parameter_counts_with_its_default():
    made = "    GRPOConfig(beta=beta, num_generations=n, x=a)\n"
    source = f"from trl import GRPOConfig\ndef train(a, beta=0.04, *, n=8):\n{made}"
    script = read_python(source)
    assert script.configs[0].keys["beta"] == 0.04
    assert script.configs[0].keys["num_generations"] == 8
    assert isinstance(script.configs[0].keys["x"], Unknown)
    assert "Line 3: beta is taken to be 0.04, the default." in script.notes
    twice = source + "def other(beta=0.1):\n    GRPOConfig(beta=beta)\n"
    assert isinstance(read_python(twice).configs[1].keys["beta"], Unknown)
    handed = read_python(source + "train.remote(1, beta=0.2)\n")
    assert isinstance(handed.configs[0].keys["beta"], Unknown)


OWN_TRAINER = """
from trl import GRPOConfig, GRPOTrainer
from agents.rl import AgentTrainer

class MyTrainer(GRPOTrainer):
    pass

GRPOTrainer(args=GRPOConfig(beta=0.04))
{call}(args=GRPOConfig(beta=0.04))
"""


@pytest.mark.parametrize(
    ("call", "own"),
    [("GRPOTrainer", ()), ("AgentTrainer", ("AgentTrainer",)), ("MyTrainer", ("MyTrainer",))],
)
def test_a_trainer_of_the_script_itself_is_named(call, own):
    assert read_python(OWN_TRAINER.format(call=call)).own_trainers == own


CONFIG_OF_TINKER = """
import chz
from tinker_cookbook.rl import train

@chz.chz
class CLIConfig:
    group_size: int = 16

def builder(env, group_size): ...

cli = chz.entrypoint(CLIConfig)
"""


@pytest.mark.parametrize(
    ("call", "group_size"),
    [
        (
            "train.Config(max_tokens=9, dataset_builder=builder(env='gsm8k', group_size=cli.group_size))",
            16,
        ),
        (
            "chz.Blueprint(train.Config).apply({'dataset_builder': builder(env='gsm8k', group_size=4)})",
            4,
        ),
    ],
)
def test_the_group_size_of_a_tinker_script_is_that_of_its_dataset_builder(call, group_size):
    (launch,) = launches(f"{CONFIG_OF_TINKER}\nconfig = {call}\n", "train.py")
    assert launch.trainer == "tinker"
    assert launch.keys["group_size"] == group_size


def test_the_group_size_of_a_tinker_script_is_unknown_if_its_dataset_builder_is_made_elsewhere():
    call = "train.Config(dataset_builder=data, loss_fn='ppo')"
    text = f"{CONFIG_OF_TINKER}\nfrom envs import data\nconfig = {call}\n"
    (launch,) = launches(text, "train.py")
    assert launch.keys["loss_fn"] == "ppo"
    assert isinstance(launch.keys["group_size"], Unknown)
