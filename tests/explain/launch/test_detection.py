"""Whose keys these are."""

import pytest

from grpo_ref.explain.launch.detection import elsewhere, fit, of_keys, pinned, program, started

STARTED = {
    "trl": "accelerate launch --config_file a.yaml trl grpo --beta 0.1",
    "verl": "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo",
    "open_instruct": "uv run python open_instruct/grpo_fast.py --beta 0.1",
    "rlinf": "python examples/embodiment/train_embodied_agent.py --config-name x",
    "openrlhf": "ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --algo.advantage.estimator rloo",
    "understand_r1_zero": "python train_zero_math.py --critic_type drgrpo",
    "torchtune": "tune run --nproc_per_node 4 dev/grpo_full_finetune_distributed --config dev/3B_full_grpo",
}


@pytest.mark.parametrize("trainer", STARTED)
def test_a_trainer_is_known_by_what_is_started(trainer):
    words = STARTED[trainer].split()
    start = started(words)
    assert start.trainer == trainer
    assert words[start.behind].startswith(("--", "algorithm"))


NEAR = (
    "python -m verl.trainer.main_eval data.path=x",
    "python -m verl.trainer.main_generation data.path=x",
    "python -m openrlhf.cli.train_sft --max_epochs 1",
    "trl sft --beta 0.1",
    "pip install trl grpo-ref",
    "python grpo_fast_test.py",
    "echo verl.trainer.main_ppo",
)


@pytest.mark.parametrize("line", NEAR)
def test_what_only_looks_like_one_starts_none(line):
    assert started(line.split()) is None


def test_programs_without_a_dialect_are_named():
    assert elsewhere("tune run --nproc 4 lora_dpo_distributed".split()) == "torchtune without GRPO"
    assert elsewhere(["python", "train.py"]) == ""
    assert program("torchrun --nproc 8 src/open_r1/grpo.py --config a.yaml".split()).behind == 4
    assert program("uv run -m my.train --a 1".split()).shown == "my.train"
    assert program(["ls", "-l"]) is None


def test_keys_tell_a_trainer_if_enough_of_them_matter():
    assert (
        of_keys({"num_generations": 8, "max_completion_length": 1, "scale_rewards": True, "bf16": True})[0]
        == "trl"
    )
    assert (
        of_keys({"actor_rollout_ref.actor.clip_ratio": 0.2, "algorithm.adv_estimator": "grpo"})[0] == "verl"
    )
    assert of_keys({"learning_rate": 1e-6, "beta": 0.1})[0] == ""
    assert of_keys({"num_generations": 4, "beta": 0.1})[0] == "trl"
    assert of_keys({"num_generations": 4, "beta": 0.1, "rlhf_type": "grpo"})[0] == "ms_swift"
    assert of_keys({"lr": 1}) == ("", 0)
    assert of_keys({"group_size": 4, "kl_beta": 0.1, "loss_type": "actor", "adv_type": "grpo"})[0] == ""


PINS = {
    "pip install vllm==0.7.2 'trl[vllm]==0.18.1'": "0.18.1",
    "uv pip install trl==v0.14": "0.14",
    "git+https://github.com/huggingface/trl@v0.15.2": "0.15.2",
    "trl>=0.14": "",
    "my-trl==1.0": "",
    "trl==0.14.0 then trl==0.18.0": "0.18.0",
}


@pytest.mark.parametrize("text", PINS)
def test_a_pin_names_the_version(text):
    assert pinned(text, "trl") == PINS[text]


PROGRAMS = {
    "a path as the value of a flag": ("python -m a.train --agent tool.py", "a.train"),
    "a wrapper": ("python wrapper.py train.py --beta 1", "train.py"),
    "flags of a launcher": ("torchrun --nproc_per_node 8 train.py --beta 1", "train.py"),
    "a launcher that is a module": (
        "python -m torch.distributed.run --nproc 8 train.py --a b.py",
        "train.py",
    ),
}


@pytest.mark.parametrize(("line", "shown"), PROGRAMS.values(), ids=PROGRAMS)
def test_the_program_is_the_last_one_before_its_flags(line, shown):
    assert program(line.split()).shown == shown


# OpenRLHF 0.5 to 0.9 had flat flags, of which slime has adopted some
FLAT = "advantage_estimator eps_clip n_samples_per_prompt use_kl_loss".split()


def test_flat_names_of_older_releases_identify_a_trainer_if_they_fit_better():
    assert of_keys(dict.fromkeys(FLAT, 1))[0] == "slime"
    assert of_keys(dict.fromkeys([*FLAT, "init_kl_coef", "gamma"], 1))[0] == "openrlhf"
    assert of_keys(dict.fromkeys(FLAT, 1), "openrlhf.cli.multi_agent_train_ppo_ray")[0] == "openrlhf"


def test_the_number_of_keys_that_matter_is_the_fit():
    assert fit("trl", {"beta": 0.1, "num_generations": 4, "bf16": True, "index_path": "x"}) == 2


REQUESTS = {
    "uv pip install trl==0.14.0": "0.14.0",
    'uv add "trl[vllm]==0.15.1"': "0.15.1",
    '# dependencies = ["trl==0.14.0"]': "0.14.0",
    "pip install git+https://github.com/huggingface/trl.git@v0.15.0": "0.15.0",
    'pip install "trl @ git+https://github.com/huggingface/trl.git@v0.15.0"': "0.15.0",
    "pip install trl~=0.16.0": "0.16.0",
    "pip install 'trl>=0.14'": "",
    "pip install my-trl==9.9": "",
}


@pytest.mark.parametrize(("line", "version"), REQUESTS.items(), ids=REQUESTS)
def test_a_requested_release_is_read(line, version):
    assert pinned(line, "trl") == version
