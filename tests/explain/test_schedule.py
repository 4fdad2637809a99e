"""The schedule of a launch: updates per batch, staleness, sampling and rewards, worked by hand."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch.values import Unknown
from grpo_ref.explain.schedule import schedule


def lines(trainer, keys, missing=False):
    """Return the texts of a schedule by name. All keys that matter to the objective are taken as known."""
    dialect = DIALECTS[trainer]
    config = {
        key: value
        for key, value in keys.items()
        if dialect.key(key) in dialect.keys.table and not isinstance(value, Unknown)
    }
    return {line.name: line.text for line in schedule(dialect, config, keys, missing)}


# trainer, keys -> updates on each batch of completions
UPDATES = {
    "512 prompts in mini-batches of 128": (
        "verl",
        {"data.train_batch_size": 512, "actor.ppo_mini_batch_size": 128, "rollout.n": 8},
        "4 updates per batch of 4096 completions (512 prompts of 8).",
    ),
    "each of them twice": (
        "verl",
        {
            "data.train_batch_size": 512,
            "actor.ppo_mini_batch_size": 128,
            "rollout.n": 8,
            "actor.ppo_epochs": 2,
        },
        "8 updates per batch of 4096 completions (512 prompts of 8).",
    ),
    "32 prompts of 8 in one batch of 256": (
        "slime",
        {"rollout_batch_size": 32, "n_samples_per_prompt": 8, "global_batch_size": 256},
        "1 update per batch of 256 completions (32 prompts of 8).",
    ),
}


@pytest.mark.parametrize(("trainer", "keys", "text"), UPDATES.values(), ids=UPDATES)
def test_the_updates_on_each_batch_are_counted(trainer, keys, text):
    assert lines(trainer, keys)["updates"].startswith(text)


def test_with_one_update_a_clip_cannot_act():
    _, keys, _ = UPDATES["32 prompts of 8 in one batch of 256"]
    assert "a clip cannot act" in lines("slime", keys)["updates"]


def test_nothing_is_said_of_a_number_that_is_unknown():
    keys = {"data.train_batch_size": Unknown("$B", "is not set"), "rollout.n": 8}
    assert "updates" not in lines("verl", keys)
    assert "updates" not in lines("verl", {"rollout.n": 8}, missing=True)
    assert lines("verl", {"rollout.n": 8})["updates"].startswith("4 updates per batch of 8192 completions")


def test_a_cut_distribution_is_not_the_one_that_is_trained():
    assert "top_p 0.9" in lines("verl", {"rollout.top_p": 0.9, "rollout.top_k": -1})["sampling"]
    assert "sampling" not in lines(
        "verl", {"rollout.top_p": 1.0, "rollout.top_k": -1, "rollout.temperature": 1.0}
    )


def test_stale_completions_are_named():
    assert "older" in lines("openrlhf", {"train.async_enable": True})["staleness"]
    assert "staleness" not in lines("openrlhf", {"train.async_enable": False})


def test_rewards_are_named_with_their_weights_or_their_file():
    keys = {"reward_funcs": ["accuracy", "format"], "reward_weights": [1.0, 0.5]}
    assert lines("trl", keys)["rewards"] == "The reward is the sum of 1 accuracy, 0.5 format."
    shown = lines("verl", {"custom_reward_function.path": "math.py"})["rewards"]
    assert shown == "The reward is computed in math.py, which is not read."


def test_a_default_number_of_updates_is_not_used_beside_a_key_for_mini_batches_of_an_older_release():
    assert "updates" in lines("open_instruct", {"num_samples_per_prompt_rollout": 4})
    assert "updates" not in lines(
        "open_instruct", {"num_samples_per_prompt_rollout": 4, "local_mini_batch_size": 24}
    )
