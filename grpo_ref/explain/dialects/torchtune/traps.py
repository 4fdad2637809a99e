"""Traps: configurations of torchtune with effects that their author is unlikely to expect."""

from collections.abc import Set

from grpo_ref.explain.dialects.torchtune.keys import BATCH, LINEAR, SIMPLE, TOKEN, component
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _loss(s: Settings) -> str:
    name: str = component(s)
    return name


def _has_no_ratio(s: Settings) -> bool:
    return _loss(s) in (SIMPLE, LINEAR)


def _names_a_loss_alone(s: Settings, given: Set[str]) -> bool:
    return "loss._component_" in given and "loss.kl_coeff" not in given


TRAPS = (
    Trap(
        "loss.epsilon is ignored by this loss",
        lambda s, given: _has_no_ratio(s) and "loss.epsilon" in given,
        "GRPOSimpleLoss and LinearGRPOLoss take the ratio to the policy being trained itself: it is 1,"
        " and nothing is ever clipped. Only GRPOLoss and GRPOCompletionLoss read epsilon, although"
        " torchtune's files set it for all.",
        "torchtune dev/grpo/loss.py, GRPOSimpleLoss; dev/rl/linear_grpo_loss.py",
        {"loss._component_": SIMPLE, "loss.epsilon": 0.2},
        {"loss._component_": TOKEN, "loss.epsilon": 0.2, "ppo_epochs": 2},
    ),
    Trap(
        "ppo_epochs above 1, with a loss that has no ratio",
        lambda s, given: _has_no_ratio(s) and s.ppo_epochs > 1,
        "With ppo_epochs above 1 the same completions are used again, and this loss has no ratio to"
        " notice it. Each pass takes the full step of the first, without a limit. GRPOLoss has the ratio"
        " and the clip.",
        "torchtune dev/grpo/loss.py, GRPOSimpleLoss",
        {"loss._component_": SIMPLE, "ppo_epochs": 4},
        {"loss._component_": TOKEN, "ppo_epochs": 4},
    ),
    Trap(
        "ppo_epochs is 1, so epsilon has no effect",
        lambda s, given: _loss(s) in (TOKEN, BATCH) and s.ppo_epochs == 1,
        "The old log-probabilities are the policy's own before the step, and each batch is one step. With"
        " ppo_epochs=1 every ratio is 1, and epsilon does nothing.",
        "torchtune grpo_full_finetune_distributed.py, train",
        {"loss._component_": TOKEN},
        {"loss._component_": TOKEN, "ppo_epochs": 2},
    ),
    Trap(
        "GRPOCompletionLoss has one ratio for the whole batch",
        lambda s, given: _loss(s) == BATCH,
        "GRPOCompletionLoss sums over the whole batch, because its sums have no axis; its comments say"
        " over each completion. There is one ratio, the product over all tokens of all completions, and"
        " one KL of that sum, so kl_coeff weights thousands of tokens at once. Once the policy has changed"
        " at all, the ratio is far outside of any clip.",
        "torchtune dev/grpo/loss.py, GRPOCompletionLoss",
        {"loss._component_": BATCH, "ppo_epochs": 2},
        {"loss._component_": TOKEN, "ppo_epochs": 2},
    ),
    Trap(
        "reward_functions is ignored by the synchronous recipe",
        lambda s, given: _loss(s) != LINEAR and "reward_functions" in given,
        "The synchronous recipe does not read reward_functions, although one of torchtune's own files"
        " gives them. Its rewards are two functions in dev/rl/rewards.py: 1 for any thought, and 100, 50"
        " or 1 for the answer. The asynchronous recipe reads them.",
        "torchtune grpo_full_finetune_distributed.py, generate_trajectory; dev/rl/rewards.py, batched_rewards",
        {"reward_functions": ["torchtune.dev.rl.rewards.FormattedMathCorrectnessReward"]},
        {
            "training.loss._component_": LINEAR,
            "reward_functions": ["torchtune.dev.rl.rewards.FormattedMathCorrectnessReward"],
        },
    ),
    Trap(
        "loss.kl_coeff is not set: its default is 0.1",
        _names_a_loss_alone,
        "The default of kl_coeff in the classes is 0.1, ten times the 0.01 of torchtune's files.",
        "torchtune dev/grpo/loss.py",
        {"loss._component_": SIMPLE},
        {"loss._component_": SIMPLE, "loss.kl_coeff": 0.01},
    ),
    Trap(
        "LinearGRPOLoss does not correct stale completions",
        lambda s, given: _loss(s) == LINEAR,
        "The asynchronous recipe trains on completions sampled with older weights, and LinearGRPOLoss has"
        " no ratio to them. The sampler's log-probabilities are only logged, in approx_policy_kl."
        " steps_before_weight_sync and the buffer decide how stale they are.",
        "torchtune dev/rl/workers/trainers/training.py, grpo_step",
        {"training.loss._component_": LINEAR},
        {"loss._component_": SIMPLE},
    ),
    Trap(
        "temperature is applied only to the reference",
        lambda s, given: _loss(s) == LINEAR and s.temperature != 1.0,
        "The log-probabilities of the reference are divided by the temperature, but those of the policy"
        " being trained are not. With a temperature other than 1, the penalty is not 0 even if both models"
        " are equal, and it pulls the policy towards another sharpness.",
        "torchtune dev/rl/linear_grpo_loss.py, chunked_grpo_loss; dev/rl/workers/postprocessing.py",
        {"training.loss._component_": LINEAR, "inference.temperature": 0.7},
        {"loss._component_": SIMPLE, "temperature": 0.7},
    ),
    Trap(
        "grpo_samples is 1: every advantage is NaN",
        lambda s, given: s.grpo_samples == 1,
        "The std of one reward is NaN in PyTorch. With one completion per prompt every advantage is NaN,"
        " and so are the weights after the first step.",
        "torchtune grpo_full_finetune_distributed.py, generate_trajectory",
        {"grpo_samples": 1},
        {"grpo_samples": 2},
    ),
)
"""The traps, in the order in which they are reported."""
