"""From a file of any kind to the training that it launches."""

import json
import sys

import pytest

from grpo_ref.trainers.launch import Unknown, launch_of, launches

SCRIPT = """#!/usr/bin/env bash
set -x
pip install verl==0.3.0
CLIP=${CLIP_HIGH:-0.28}
python -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    actor_rollout_ref.actor.clip_ratio_high=$CLIP \\
    actor_rollout_ref.actor.entropy_coeff=$ENTROPY \\
    trainer.nnodes=1 $@
"""
PYTHON = "from trl import GRPOConfig\nconfig = GRPOConfig(beta=0.1, num_generations=4)\n"
CELLS = json.dumps({"cells": [{"cell_type": "code", "source": PYTHON}]})
YAML = "beta: 0.1\nnum_generations: 4\nmax_completion_length: 100\n"


def test_a_script():
    (launch,) = launches(SCRIPT)
    assert (launch.trainer, launch.version, launch.is_whole) == ("verl", "0.3.0", True)
    assert launch.why == "`-m verl.trainer.main_ppo` in line 5"
    assert launch.keys["actor_rollout_ref.actor.clip_ratio_high"] == 0.28
    assert isinstance(launch.keys["actor_rollout_ref.actor.entropy_coeff"], Unknown)


KINDS = {
    "a script": (PYTHON, ""),
    "a script by its name": (PYTHON, "x.py"),
    "a notebook": (CELLS, ""),
    "a notebook by its name": (CELLS, "x.ipynb"),
    "YAML": (YAML, ""),
    "JSON": (json.dumps({"beta": 0.1, "num_generations": 4, "scale_rewards": True}), ""),
    "TOML": ("beta = 0.1\nnum_generations = 4\nscale_rewards = true\n", "x.toml"),
    "flags": ("--beta 0.1 --num_generations=4 --scale_rewards group", ""),
    "overrides": ("beta=0.1 \\\n  num_generations=4 scale_rewards=none  # mine", ""),
    "a line": ("trl grpo --beta 0.1 --num_generations 4", ""),
    "Windows' lines": (YAML.replace("\n", "\r\n"), "x.yaml"),
    "a cluster's file": (
        "resources: {gpus: 8}\nrun: |\n  cd x\n  trl grpo --beta 0.1 --num_generations 4\n",
        "",
    ),
}


@pytest.mark.parametrize(("text", "name"), KINDS.values(), ids=KINDS)
def test_every_kind_of_file(text, name):
    (launch,) = launches(text, name)
    assert launch.trainer == "trl"
    assert (launch.keys["beta"], launch.keys["num_generations"]) == (0.1, 4)


def test_a_file_that_is_named_is_read_and_the_line_wins():
    files = {"recipes/a.yaml": "beta: 0.3\nepsilon: 0.4"}
    (launch,) = launches("accelerate launch trl grpo --config recipes/a.yaml --beta 0.1", beside=files.get)
    assert launch.keys == {"beta": 0.1, "epsilon": 0.4}
    (alone,) = launches("trl grpo --config gone.yaml --beta 0.1")
    assert alone.notes == [
        "It reads gone.yaml, which was not found: what that file says is not in this answer."
    ]


def test_a_word_takes_a_key_out_of_a_file():
    (launch,) = launches("trl grpo --config a.yaml ~beta ~none --num_generations 8", "", {"a.yaml": YAML}.get)
    assert launch.keys == {"num_generations": 8, "max_completion_length": 100}


def test_a_file_that_the_script_writes_is_read():
    (launch,) = launches("cat > c.yaml <<EOF\nbeta: 0.3\nEOF\ntrl grpo --config c.yaml\n", "x.sh")
    assert launch.keys == {"beta": 0.3}


def test_several_trainings_come_by_the_number_of_their_keys():
    first, second = launches("trl grpo --beta 0.1\ntrl grpo --beta 0.2 --epsilon 0.3\n", "x.sh")
    assert (len(first.keys), len(second.keys)) == (2, 1)


def test_a_program_that_nobody_knows_is_told_by_its_keys():
    (launch,) = launches(
        "torchrun grpo.py --num_generations 4 --scale_rewards none --max_completion_length 10", "x.sh"
    )
    assert (launch.trainer, launch.is_sure) == ("trl", False)
    assert launch.why == "3 keys that change its objective"


def test_a_version_in_the_output_of_a_notebook_is_none_that_it_asks_for():
    cell = {"cell_type": "code", "source": f"!pip install trl==0.18.0\n{PYTHON}", "outputs": ["trl==0.14.0"]}
    (launch,) = launches(json.dumps({"cells": [cell]}))
    assert launch.version == "0.18.0"


def test_unsloth_counts_as_a_version():
    assert launches("from unsloth import FastLanguageModel\n" + PYTHON)[0].version == "unsloth"


def test_without_its_grammar_a_script_is_refused_and_keys_are_read(monkeypatch):
    """As in a page, which has no compiled packages beside those that came with it."""
    monkeypatch.setitem(sys.modules, "grpo_ref.trainers.launch.shell", None)
    assert launches("beta=0.1 num_generations=4", trainer="trl")[0].keys["beta"] == 0.1
    with pytest.raises(ValueError, match="it is a shell script, which cannot be read here"):
        launches(SCRIPT)


def test_the_trainer_may_be_named():
    assert launches("lr: 1\nbeta: 0.1", trainer="trl")[0].trainer == "trl"
    assert launch_of(["--beta", "0.1"], trainer="trl").keys == {"beta": 0.1}
    assert launch_of("python -m verl.trainer.main_ppo a.b=1".split()).trainer == "verl"


BAD = {
    "nothing": ("", "it holds no keys|no command|expected keys"),
    "no launch": ("#!/bin/bash\necho hello\n", "no command in it starts a trainer"),
    "another trainer": (
        "tune run --nproc 2 full_finetune_distributed --config y",
        "torchtune without GRPO is started",
    ),
    "keys of nobody": ("lr: 1\nwarmup: 2\n", r"no trainer is known by these keys \(lr, warmup, ...\)"),
    "no config": ("import os\nprint(os.name)\n", "no configuration was found"),
    "on the command line": (
        "from trl import GRPOConfig, TrlParser\nTrlParser((GRPOConfig,))",
        "from its command line",
    ),
    "a class of its own": (
        "class GRPOConfig:\n    pass\nGRPOConfig(beta=0.1, num_generations=4, epsilon=0.1)",
        "GRPOConfig in line 3 is a class of its own",
    ),
    "too long": ("#" * 1_000_001, "longer than 1,000,000"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_launches_nothing_is_refused_with_the_reason(text, message):
    with pytest.raises(ValueError, match=message):
        launches(text)


def test_a_word_that_is_no_key_is_refused():
    with pytest.raises(ValueError, match=r"nowhere\.yaml is neither a file nor KEY=VALUE"):
        launch_of(["nowhere.yaml"], trainer="trl")
    with pytest.raises(ValueError, match="no trainer is known by these keys"):
        launch_of(["--lr", "1"])


AXOLOTL = "rl: grpo\ntrl:\n  beta: 0.001\n  num_generations: 4\n  reward_funcs: [a.b]\nlearning_rate: 1e-5\n"
OUMI = "training:\n  trainer_type: TRL_GRPO\n  grpo: {num_generations: 4}\n  trainer_kwargs: {beta: 0.001}\n"


@pytest.mark.parametrize("text", [AXOLOTL, OUMI, f"cat > a.yaml <<E\n{AXOLOTL}E\naxolotl train a.yaml"])
def test_a_program_that_hands_its_keys_on_is_read_as_the_trainer_that_gets_them(text):
    (launch,) = launches(text)
    assert (launch.trainer, launch.keys["beta"], launch.keys["num_generations"]) == ("trl", 0.001, 4)
    assert launch.why.endswith("hands its keys on")
    assert "learning_rate" not in launch.keys
