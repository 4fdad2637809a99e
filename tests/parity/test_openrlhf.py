"""OpenRLHF: the calls and metrics of its recorded cases."""

from grpo_ref.parity.replay import verdict


def test_without_a_weight_of_the_penalty_there_is_no_reference_to_be_away_from():
    """The trainer loads none then, and logs 0."""
    ones = [[-1.0, -2.0]]
    case = {
        "id": "mine",
        "trainer": "openrlhf",
        "call": "loss",
        "config": {"algo.kl.use_loss": True, "algo.kl.init_coef": 0.0},
        "given": {"log_probs": "ones", "old_log_probs": "ones", "advantages": "good", "mask": "tokens"},
        "loss": -1.0,
        "grad_logp": [[-0.5, -0.5]],
        "metrics": {"kl": 0.0, "logprobs_diff": 0.0},
    }
    inputs = {"group_size": 1, "ones": ones, "good": [1.0], "tokens": [[1, 1]]}
    assert verdict(case, inputs).passed


def test_a_hole_counts_for_the_length_and_metrics_are_of_the_shaped_rewards():
    """From the first token to the last it is 4 places, all of the budget: 1 is taken off the reward."""
    case = {
        "id": "x",
        "trainer": "openrlhf",
        "call": "advantages of shaped rewards",
        "config": {"algo.kl.init_coef": 0.0, "rollout.max_new_tokens": 4, "reward.overlong_buffer_len": 2},
        "given": {"rewards": "rewards", "mask": "mask"},
        "inputs": {"rewards": [1.0, 1.0], "mask": [[1, 0, 0, 1], [1, 1, 0, 0]]},
        "value": [[-(0.5**0.5), 0.0, 0.0, -(0.5**0.5)], [0.5**0.5, 0.5**0.5, 0.0, 0.0]],
        "axes": ["completion", "token"],
        "metrics": {"reward": 0.5, "group_reward_std": 0.5**0.5},
    }
    assert verdict(case, {"group_size": 2}).passed
