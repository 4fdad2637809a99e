"""From a file of any kind to the training that it launches."""

import json

import pytest

from grpo_ref.explain.launch import Unknown, launch_of, launches
from grpo_ref.explain.launch.arguments import DELETED

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
    assert alone.missing == ("gone.yaml",)
    assert alone.cautions == [
        "It reads gone.yaml, which was not found: what that file says is not in this answer."
    ]


def test_a_word_takes_a_key_out_of_a_file():
    files = {"a.yaml": "loss:\n  epsilon: 0.3\n  kl: 0.1\nlossy: 1"}
    (launch,) = launches("trl grpo --config a.yaml ~loss --num_generations 8", beside=files.get)
    gone = Unknown("~loss", DELETED)
    assert launch.keys == {
        "loss": gone,
        "loss.epsilon": gone,
        "loss.kl": gone,
        "lossy": 1,
        "num_generations": 8,
    }


def test_a_file_that_the_script_writes_is_read():
    (launch,) = launches("cat > c.yaml <<EOF\nbeta: 0.3\nEOF\ntrl grpo --config c.yaml\n", "x.sh")
    assert launch.keys == {"beta": 0.3}


CONF = {
    "conf/my.yaml": "defaults:\n  - ppo_trainer\n  - algorithm: ppo\n  - _self_\ndata: {seed: 1}\n",
    "conf/algorithm/ppo.yaml": "adv_estimator: gae\n",
    "conf/algorithm/grpo.yaml": "adv_estimator: grpo\n",
    "conf/exp/a.yaml": "# @package _global_\nactor: {clip_ratio: 0.3}\n",
}


def test_groups_of_hydra_are_chosen_in_a_line():
    (launch,) = launches(
        "python -m verl.trainer.main_ppo -cp conf -cn my algorithm=grpo +exp=a trainer=here", beside=CONF.get
    )
    assert launch.keys == {
        **{"algorithm.adv_estimator": "grpo", "data.seed": 1, "actor.clip_ratio": 0.3, "trainer": "here"}
    }
    assert launch.notes == []


def test_slimes_own_file_goes_before_its_flags():
    line = "python slime/train.py --eps-clip 0.1 --custom-config-path a.yaml"
    (launch,) = launches(line, beside={"a.yaml": "eps_clip: 0.3"}.get)
    assert launch.keys["eps_clip"] == 0.3
    (without,) = launches(line)
    assert without.missing == ("a.yaml",)
    assert without.cautions == [
        "custom_config_path names a.yaml, which was not found. Its keys override those of this report."
    ]


def test_keys_in_a_group_of_a_projects_own_are_told_with_a_caution():
    text = "seed: 1\ngrpo: {num_generations: 4, beta: 0.1, max_completion_length: 9}\nlora: {r: 8}\n"
    (launch,) = launches(text, "x.yaml")
    assert (launch.trainer, launch.keys["beta"], launch.is_sure) == ("trl", 0.1, False)
    assert launch.cautions[0].startswith("Its group grpo has this trainer's keys.")
    without_a_size = "grpo: {beta: 0.1, max_completion_length: 9, epsilon: 0.2, loss_type: bnpo}\n"
    with pytest.raises(ValueError, match="no trainer is known by these keys"):
        launches(without_a_size, "x.yaml")


def test_a_file_that_only_samples_is_no_training():
    text = "num_generations: 8\nmax_completion_length: 100\ntemperature: 1.0\nreward_weights: [1.0]\n"
    with pytest.raises(ValueError, match="its keys configure only sampling"):
        launches(text, "x.yaml")
    assert launches(f"{text}learning_rate: 1e-6\n", "x.yaml")[0].trainer == "trl"


def test_what_a_run_logged_holds_what_its_trainer_worked_out():
    keys = {"num_generations": 4, "scale_rewards": "group", "steps_per_generation": 2}
    keys |= {"generation_batch_size": 8} | {f"key_{number}": number for number in range(60)}
    (launch,) = launches(json.dumps(keys), "args.json")
    assert "generation_batch_size" not in launch.keys
    assert launch.notes[0].startswith("It is what a run logged, as it holds generation_batch_size")
    few = {key: value for key, value in keys.items() if not key.startswith("key_")}
    assert "generation_batch_size" in launches(json.dumps(few), "args.json")[0].keys


def test_a_value_of_unsloth_tells_that_it_trains():
    assert launches(f"{YAML}use_gradient_checkpointing: unsloth", "x.yaml")[0].trainer == "unsloth"


LOGS = {
    "a traced command": "+ export A=1\n+ trl grpo --beta 0.1 --run_name 'a b'\nINFO: {'beta': 3}\n",
    "a dictionary": (
        "INFO a worker began\n\x1b[36m(main pid=7)\x1b[0m {'beta': 0.1,\n(other pid=8) what: ever\n"
        "(main pid=7) a.py:3: a warning\n\x1b[36m(main pid=7)\x1b[0m  'num_generations': 4,\n"
        "(main pid=7)  'scale_rewards': 'none'}\nstep: 1 - loss: 2\n"
    ),
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_a_log_is_read(text):
    (launch,) = launches(text, "x.log")
    assert (launch.trainer, launch.keys["beta"]) == ("trl", 0.1)


def test_words_that_depend_on_a_condition_are_keys_whose_values_are_not_known():
    script = 'if [ "$KL" = 1 ]; then A=(--beta 0.1 --top_k 5); else A=(--top_k 5); fi\n'
    (launch,) = launches(f'{script}trl grpo --bf16 "${{A[@]}}" --epsilon 0.3 $OTHER\n', "x.sh")
    assert (
        launch.keys
        == {
            "bf16": True,
            "beta": Unknown("0.1 or not given", "${A[@]} depends on a condition in line 1"),
            "top_k": 5,
            "epsilon": Unknown("0.3 $OTHER", "$OTHER is not set in this file"),
        }
        or launch.keys["epsilon"] == 0.3
    )
    assert launch.notes[0] == "What $OTHER adds to the command is not known here."


WAYS = {
    "either of two programs": (
        'if [ -x $P ]; then C=($P/trl); else C=(python -m trl); fi\n"${C[@]}" grpo --beta 0.1'
    ),
    "python that reads what it is given": f"python - <<'EOF'\n{PYTHON}EOF\n",
    "a script beside it": "export B=0.1; bash train.sh",
    "a variable that is evaluated": "CMD='trl grpo --beta 0.1'\neval $CMD",
}


@pytest.mark.parametrize("script", WAYS.values(), ids=WAYS)
def test_a_trainer_is_found_however_it_is_started(script):
    launch, *_ = launches(script, "x.sh", beside={"train.sh": "trl grpo --beta $B\n"}.get)
    assert (launch.trainer, launch.keys["beta"]) == ("trl", 0.1)


def test_a_script_that_is_not_there_is_the_reason():
    with pytest.raises(ValueError, match=r"^It runs run\.sh, which was not found"):
        launches("#!/bin/bash\nbash run.sh\n", "x.sh")
    (launch,) = launches("bash run.sh --num_generations 4 --scale_rewards none --beta 0.1\n", "x.sh")
    assert (launch.trainer, launch.is_sure) == ("trl", False)
    assert launch.cautions[-1].startswith("It runs run.sh, which was not found")


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


def test_a_script_that_imports_unsloth_trains_with_it():
    assert launches("from unsloth import FastLanguageModel\n" + PYTHON)[0].trainer == "unsloth"


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


def test_a_script_that_only_has_the_name_of_a_trainers_is_taken_for_a_program_of_its_own():
    """NeMo-RL has a run_grpo.py, with other keys; and its file of defaults needs none of the objective's."""
    with pytest.raises(ValueError, match="no trainer is known by these keys"):
        launches("python run_grpo.py --model m --num_rollouts 5\n", "a.sh")
    (known,) = launches("python run_grpo.py cluster.num_nodes=2\n", "a.sh")
    assert known.trainer == "nemo_rl"


def test_a_program_that_nobody_knows_is_named():
    (launch,) = launches("python mine.py --num_generations 4 --beta 0.1 --epsilon 0.3\n", "a.sh")
    assert (launch.trainer, launch.program) == ("trl", "mine.py")


def test_why_nothing_is_found_stands_behind_what_was_read():
    source = "import os\nn = os.getenv('N', '8')\n"
    with pytest.raises(
        ValueError, match=r"as in an environment .*\. So no configuration was found in it: .*\.$"
    ):
        launches(source, "a.py")


def test_the_orchestrators_half_of_an_early_prime_rl_is_known_by_its_section_of_the_environment():
    text = 'batch_size = 64\nrollouts_per_example = 16\n[environment]\nid = "math"\n'
    (launch,) = launches(text, "orch.toml")
    assert (launch.trainer, launch.keys["rollouts_per_example"]) == ("prime_rl", 16)


def test_ms_swift_on_megatron_is_read():
    line = "NPROC_PER_NODE=8 megatron rlhf --rlhf_type grpo --micro_batch_size 4 --vllm_mode colocate"
    (launch,) = launches(line)
    assert (launch.trainer, launch.keys["use_vllm"]) == ("ms_swift", True)
    assert launches(f"{line} --use_vllm false")[0].keys["use_vllm"] is False


def test_a_comment_that_cuts_a_command_is_told_first():
    line = "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\\n  # a=1 \\\n  rollout.n=8\n"
    (launch,) = launches(line, "x.sh")
    assert "rollout.n" not in launch.keys
    assert "is not passed to that command" in launch.cautions[0]


PROGRAM = "from trl import GRPOConfig\nconfig = GRPOConfig(num_generations=4, beta={beta}, output_dir='x')\n"
OPTIONS = """import argparse
p = argparse.ArgumentParser()
p.add_argument('--beta', default=0.3)
a = p.parse_args()
"""


def test_a_program_beside_is_read_for_what_it_makes():
    files = {"src/train.py": PROGRAM.format(beta=0.1)}
    (launch,) = launches("accelerate launch src/train.py --model m\n", "run.sh", files.get)
    assert (launch.trainer, launch.keys["num_generations"], launch.keys["beta"]) == ("trl", 4, 0.1)


def test_an_option_of_the_command_overrides_its_default_in_the_program():
    files = {"src/train.py": OPTIONS + PROGRAM.format(beta="a.beta")}
    (launch,) = launches("accelerate launch src/train.py --model m\n", "run.sh", files.get)
    assert launch.keys["beta"] == 0.3
    (launch,) = launches("accelerate launch src/train.py --model m --beta 0.5\n", "run.sh", files.get)
    assert launch.keys["beta"] == 0.5


def test_a_named_trainer_is_no_reason_to_answer_a_text_without_keys():
    with pytest.raises(ValueError, match="no command in it starts a trainer that is known here"):
        launches("It is late.", trainer="trl")


SERVER = "python retrieval_server.py --index_path x --corpus_path y --topk 3 --faiss_gpu &\n"
TRAINER = (
    "python3 -m openrlhf.cli.multi_agent_train_ppo_ray --advantage_estimator reinforce --init_kl_coef 0.01"
    " --n_samples_per_prompt 8 --agent_func_path tool_workflow.py --eps_clip 0.3\n"
)


@pytest.mark.parametrize("trainer", ["", "openrlhf"])
def test_a_server_beside_the_trainer_is_not_the_trainer(trainer):
    (launch,) = launches(SERVER + TRAINER, "run.sh", trainer=trainer)
    assert (launch.trainer, launch.keys["eps_clip"]) == ("openrlhf", 0.3)
    assert launch.program == "openrlhf.cli.multi_agent_train_ppo_ray"
    assert "index_path" not in launch.keys


def test_a_second_training_run_is_kept_beside_a_known_one():
    two = (
        "python slime/train.py --advantage-estimator grpo --eps-clip 0.2 --n-samples-per-prompt 8\n"
        "python train.py --advantage-estimator gspo --eps-clip 3e-4 --n-samples-per-prompt 8 --use-kl-loss\n"
    )
    assert [launch.keys["advantage_estimator"] for launch in launches(two, "run.sh")] == ["gspo", "grpo"]
    (alone,) = launches(f"{SERVER}trl grpo --beta 0.1\n", "run.sh")
    assert alone.keys == {"beta": 0.1}


def test_hydras_list_of_overrides_is_read():
    lines = (
        "actor_rollout_ref.actor.clip_ratio=0.2",
        "algorithm.adv_estimator=grpo",
        "actor_rollout_ref.rollout.n=8",
    )
    text = "".join(f"- {line}\n" for line in lines)
    for name in ("overrides.yaml", ""):
        (launch,) = launches(text, name)
        assert (launch.trainer, launch.keys["actor_rollout_ref.rollout.n"]) == ("verl", 8)


def test_a_group_size_of_null_is_unknown_and_a_forks_class_is_named():
    text = (
        "_target_: {}.GRPOConfig\nnum_generations: null\nbeta: 0.04\nmax_completion_length: 9\nbf16: true\n"
    )
    (launch,) = launches(text.format("trainers"), "grpo.yaml")
    assert launch.keys["num_generations"] == Unknown(
        "null", "it gives no number, so the program that reads it decides"
    )
    assert launch.cautions == [
        "trainers.GRPOConfig is a class of a fork, not of TRL. Its objective may differ."
    ]
    assert launches(text.format("trl"), "grpo.yaml")[0].cautions == []


def test_an_environment_is_not_a_configuration():
    line = "ALIGN='/my path/a.json'\npython -m verl.trainer.main_ppo rollout.n=8 trainer.runtime_env=$ALIGN\n"
    (launch,) = launches(line, "run.sh")
    assert launch.missing == ()


def test_flags_of_a_plugin_are_not_typos():
    line = "swift rlhf --rlhf_type grpo --num_generations 8 --soft_min_length 100"
    assert launches(line)[0].added == frozenset()
    assert launches(f"{line} --external_plugins plugin.py")[0].added == {"soft_min_length"}


def test_a_file_that_only_samples_does_not_hide_the_trainer():
    sampler = "python filter.py --num_generations 8 --temperature 1.0 --max_completion_length 9 --top_p 0.9\n"
    trainer = "python train.py --num_generations 8 --beta 0.1 --epsilon 0.3 --learning_rate 1e-6\n"
    (launch,) = launches(sampler + trainer, "run.sh")
    assert launch.keys["beta"] == 0.1
    with pytest.raises(ValueError, match="configure only sampling"):
        launches(sampler, "run.sh")


def test_an_experimental_trainer_with_a_configuration_of_its_own_is_refused():
    text = "from trl.experimental.async_grpo import AsyncGRPOConfig\nAsyncGRPOConfig(num_generations=8)\n"
    with pytest.raises(
        ValueError, match=r"AsyncGRPOConfig of trl\.experimental\.async_grpo configures another"
    ):
        launches(text, "train.py")


def test_a_dictionary_in_a_program_without_a_trainer_is_not_a_launch():
    settings = "CFG = {'num_generations': 4, 'beta': 0.1, 'max_completion_length': 9, 'epsilon': 0.2}\n"
    with pytest.raises(ValueError, match="imports no trainer that is known here"):
        launches(f"import torch\n{settings}", "simulate.py")
    assert launches(f"import trl\n{settings}", "train.py")[0].trainer == "trl"


def test_code_behind_a_fence_is_read():
    text = "My command:\n```swift rlhf \\\n  --rlhf_type grpo --beta 0.1 --num_generations 8\n```\n"
    (launch,) = launches(text, "issue.md")
    assert (launch.trainer, launch.keys["beta"]) == ("ms_swift", 0.1)


def test_a_configuration_is_found_in_the_folder_of_the_program():
    files = {"examples/mine/run.yaml": "adv_estimator: reinforce\nppo_epochs: 3\n"}
    line = "python examples/start_rlvr_pipeline.py --config_path mine --config_name run\n"
    (launch,) = launches(line, "run.sh", files.get)
    assert (launch.trainer, launch.keys["ppo_epochs"], launch.missing) == ("roll", 3, ())


def test_a_task_of_a_cluster_may_start_a_custom_program():
    text = (
        "name: task\nnum_nodes: 1\nrun: |\n  cd skyrl-train\n  uv run -m mine.main \\\n"
        "    trainer.algorithm.advantage_estimator=grpo trainer.algorithm.eps_clip_low=0.1 \\\n"
        "    generator.n_samples_per_prompt=${SAMPLES} trainer.algorithm.use_kl_loss=false\n"
    )
    (launch,) = launches(text, "task.yaml")
    assert (launch.trainer, launch.program) == ("skyrl", "mine.main")


def test_flags_that_miles_is_started_with_are_a_command():
    text = (
        "import miles.utils.external_utils.command_utils as U\n"
        'grpo = "--eps-clip 0.3 --use-tis "\n'
        'U.execute_train(train_args=f"{grpo} {U.get_default_wandb_args(__file__)} --n-samples-per-prompt 8",'
        ' train_script="train_async.py")\n'
    )
    (launch,) = launches(text, "run.py")
    assert (launch.trainer, launch.keys["use_tis"], launch.keys["eps_clip"]) == ("miles", True, 0.3)


def test_a_command_in_an_fstring_is_read_with_its_last_value():
    text = (
        "import os, subprocess\n"
        "if os.path.exists('x'):\n    cmd = 'mv x y'\n    subprocess.run(cmd, shell=True)\n"
        "cmd = f'python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_files={DATA}/t"
        " actor_rollout_ref.rollout.n=5'\n"
        "subprocess.run(cmd, shell=True)\n"
    )
    (launch,) = launches(text, "modal_run.py")
    assert (launch.trainer, launch.keys["actor_rollout_ref.rollout.n"]) == ("verl", 5)


@pytest.mark.parametrize("script", ["examples/run_grpo_math.py", "examples/run_mine.py"])
def test_a_command_in_a_variable_of_a_job_is_read(script):
    text = (
        f'COMMAND="uv run ./{script} grpo.num_prompts_per_step=4 loss_fn.ratio_clip_max=0.3'
        ' grpo.num_generations_per_prompt=8" \\\nCONTAINER=c sbatch --nodes=2 ray.sub\n'
    )
    (launch,) = launches(text, "job.sh")
    assert (launch.trainer, launch.keys["loss_fn.ratio_clip_max"]) == ("nemo_rl", 0.3)


def test_a_script_that_a_job_writes_and_runs_on_each_node_is_read():
    text = (
        "cat > /shared/worker.sh << 'EOF'\n"
        "uv run examples/run_grpo_math.py grpo.num_prompts_per_step=4 grpo.num_generations_per_prompt=8\n"
        "EOF\nsrun --ntasks-per-node=1 /shared/worker.sh\n"
    )
    (launch,) = launches(text, "job.sh")
    assert (launch.trainer, launch.keys["grpo.num_generations_per_prompt"]) == ("nemo_rl", 8)
