"""Programs that pass their keys on to a trainer."""

import pytest

from grpo_ref.explain.explanation import dialect_of
from grpo_ref.explain.launch import launches
from grpo_ref.explain.launch.wrappers import RELAYS, handed_on, launcher_of, relay_of

AXOLOTL = "base_model: m\nrl: {rl}\ntrl:\n  beta: 0.001\n  num_generations: 4\n"
TRAIN = f"cat > a.yaml <<E\n{AXOLOTL.format(rl='grpo')}E\naxolotl train a.yaml\n"
UNSTATED = (
    "axolotl chooses the release of trl, and the file does not state a release of axolotl."
    " Name the installed one with --version."
)


def test_gdpo_of_axolotl_normalizes_each_reward_before_the_sum():
    (launch,) = launches(AXOLOTL.format(rl="gdpo"), "a.yaml")
    assert launch.keys["multi_objective_aggregation"] == "normalize_then_sum"
    (other,) = launches(AXOLOTL.format(rl="grpo"), "a.yaml")
    assert "multi_objective_aggregation" not in other.keys
    own = AXOLOTL.format(rl="gdpo") + "  multi_objective_aggregation: sum_then_normalize\n"
    assert launches(own, "a.yaml")[0].keys["multi_objective_aggregation"] == "sum_then_normalize"


def test_a_file_without_a_release_of_axolotl_does_not_state_one_of_trl():
    (launch,) = launches(AXOLOTL.format(rl="grpo"), "a.yaml")
    assert (launch.version, launch.cautions) == ("", [UNSTATED])
    _, versioned = dialect_of(launch)
    assert len(versioned.candidates) > 1


# release of axolotl -> release of TRL, from requirements.txt or pyproject.toml at the tag
PINS = {"0.9.0": "0.17.0", "0.10.0": "0.18.1", "0.12.0": "0.21.0", "0.13.2": "0.27.0", "0.18.0": "1.8.0"}


@pytest.mark.parametrize(("own", "trl"), PINS.items(), ids=PINS)
def test_a_release_of_axolotl_requires_one_of_trl(own, trl):
    script = f"pip install 'axolotl[vllm]=={own}'\n{TRAIN}"
    (launch,) = launches(script, "run.sh")
    assert (launch.version, launch.cautions) == (trl, [])


def test_a_release_of_trl_beside_axolotl_is_used():
    assert launches(f"pip install trl==0.19.1\n{TRAIN}", "run.sh")[0].version == "0.19.1"


def test_keys_of_the_program_alone_are_not_passed_on():
    keys = {
        "training.trainer_type": "TRL_GRPO",
        "training.grpo.num_generations": 4,
        "training.optimizer": "adamw",
    }
    assert handed_on(relay_of(keys), keys) == {"num_generations": 4}
    assert relay_of({"rl": "dpo"}) is None
    assert all(relay.version("no release at all") == "" for relay in RELAYS)


LAUNCHES = {
    "SkyRL, asynchronous": (
        "-m examples.train.async.main_async trainer.algorithm.advantage_estimator=grpo"
        " generator.n_samples_per_prompt=5 trainer.algorithm.eps_clip_low=0.2",
        ("skyrl", "asynchronous"),
    ),
    "rLLM": (
        "-m rllm.trainer.verl.train_agent_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=8"
        " actor_rollout_ref.actor.clip_ratio_high=0.28",
        ("verl", "rLLM"),
    ),
}


@pytest.mark.parametrize(("line", "expected"), LAUNCHES.values(), ids=LAUNCHES)
def test_a_program_of_another_project_is_named(line, expected):
    (launch,) = launches(f"python {line}", "run.sh")
    assert launch.trainer == expected[0]
    assert expected[1] in launch.cautions[0]


def test_a_launcher_reads_the_keys_of_one_trainer():
    assert launcher_of("rllm.trainer.verl.train_agent_ppo", "verl").trainer == "verl"
    assert launcher_of("rllm.trainer.verl.train_agent_ppo", "trl") is None
    assert launcher_of("mine.train", "verl") is None
