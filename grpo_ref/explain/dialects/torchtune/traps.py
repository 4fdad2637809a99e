"""Traps: configurations of torchtune with effects that their author is unlikely to expect."""

from collections.abc import Set
from types import SimpleNamespace

from grpo_ref.explain.dialects.torchtune.keys import BATCH, LINEAR, SIMPLE, TOKEN
from grpo_ref.explain.trap import Trap


def _loss(s: SimpleNamespace) -> str:
    name: str = vars(s)["loss._component_"]
    return name


def _has_no_ratio(s: SimpleNamespace) -> bool:
    return _loss(s) in (SIMPLE, LINEAR)


def _names_a_loss_alone(s: SimpleNamespace, given: Set[str]) -> bool:
    return "loss._component_" in given and "loss.kl_coeff" not in given


TRAPS = (
    Trap(
        "A clip that is not read",
        lambda s, given: _has_no_ratio(s) and "loss.epsilon" in given,
        "GRPOSimpleLoss and LinearGRPOLoss take the ratio to the policy being trained itself: it is 1, and nothing"
        " is ever clipped. epsilon is read by GRPOLoss and GRPOCompletionLoss; the files of torchtune set it all the"
        " same.",
        "torchtune dev/grpo/loss.py, GRPOSimpleLoss; dev/rl/linear_grpo_loss.py",
        {"loss._component_": SIMPLE, "loss.epsilon": 0.2},
        {"loss._component_": TOKEN, "loss.epsilon": 0.2, "ppo_epochs": 2},
    ),
    Trap(
        "A batch used again as if it were new",
        lambda s, given: _has_no_ratio(s) and s.ppo_epochs > 1,
        "With ppo_epochs above 1 the same completions are used again, and this loss has no ratio that would know it:"
        " each pass takes the full step of the first, with no limit. GRPOLoss has the ratio and the clip.",
        "torchtune dev/grpo/loss.py, GRPOSimpleLoss",
        {"loss._component_": SIMPLE, "ppo_epochs": 4},
        {"loss._component_": TOKEN, "ppo_epochs": 4},
    ),
    Trap(
        "A clip that never acts",
        lambda s, given: _loss(s) in (TOKEN, BATCH) and s.ppo_epochs == 1,
        "The old log-probabilities are the policy's own before the step, and each batch is one step: with ppo_epochs=1"
        " every ratio is 1, and epsilon does nothing.",
        "torchtune grpo_full_finetune_distributed.py, train",
        {"loss._component_": TOKEN},
        {"loss._component_": TOKEN, "ppo_epochs": 2},
    ),
    Trap(
        "The whole batch as one completion",
        lambda s, given: _loss(s) == BATCH,
        "GRPOCompletionLoss sums over the whole batch where its comments say over each completion, as the sums are"
        " given no axis: there is one ratio, the product of those of all tokens of all completions, and one KL of that"
        " sum, in which kl_coeff weighs thousands of tokens at once. Once the policy has moved at all, the ratio is"
        " far outside of any clip.",
        "torchtune dev/grpo/loss.py, GRPOCompletionLoss",
        {"loss._component_": BATCH, "ppo_epochs": 2},
        {"loss._component_": TOKEN, "ppo_epochs": 2},
    ),
    Trap(
        "Rewards that are not read",
        lambda s, given: _loss(s) != LINEAR and "reward_functions" in given,
        "The synchronous recipe does not read reward_functions, though a file of torchtune's own gives them: its rewards"
        " are two functions in dev/rl/rewards.py, 1 for any thought and 100, 50 or 1 for the answer. The asynchronous"
        " recipe reads them.",
        "torchtune grpo_full_finetune_distributed.py, generate_trajectory; dev/rl/rewards.py, batched_rewards",
        {"reward_functions": ["torchtune.dev.rl.rewards.FormattedMathCorrectnessReward"]},
        {
            "training.loss._component_": LINEAR,
            "reward_functions": ["torchtune.dev.rl.rewards.FormattedMathCorrectnessReward"],
        },
    ),
    Trap(
        "A weight of the penalty that nobody gave",
        _names_a_loss_alone,
        "Where kl_coeff is left out, the classes have 0.1: ten times what the files of torchtune say, 0.01.",
        "torchtune dev/grpo/loss.py",
        {"loss._component_": SIMPLE},
        {"loss._component_": SIMPLE, "loss.kl_coeff": 0.01},
    ),
    Trap(
        "Stale completions without a correction",
        lambda s, given: _loss(s) == LINEAR,
        "The asynchronous recipe trains on what older weights have sampled, and LinearGRPOLoss has no ratio to them: the"
        " sampler's log-probabilities are only logged, in approx_policy_kl. How stale they are is up to"
        " steps_before_weight_sync and the buffer.",
        "torchtune dev/rl/workers/trainers/training.py, grpo_step",
        {"training.loss._component_": LINEAR},
        {"loss._component_": SIMPLE},
    ),
    Trap(
        "A reference at another temperature",
        lambda s, given: _loss(s) == LINEAR and s.temperature != 1.0,
        "The log-probabilities of the reference are divided by the temperature, and those of the policy being trained"
        " are not: with a temperature other than 1 the penalty is not 0 where both models are the same, and pulls the"
        " policy towards another sharpness.",
        "torchtune dev/rl/linear_grpo_loss.py, chunked_grpo_loss; dev/rl/workers/postprocessing.py",
        {"training.loss._component_": LINEAR, "inference.temperature": 0.7},
        {"loss._component_": SIMPLE, "temperature": 0.7},
    ),
    Trap(
        "A group of one",
        lambda s, given: s.grpo_samples == 1,
        "The std of one reward is NaN in PyTorch: with one completion per prompt every advantage is NaN, and so are the"
        " weights after the first step.",
        "torchtune grpo_full_finetune_distributed.py, generate_trajectory",
        {"grpo_samples": 1},
        {"grpo_samples": 2},
    ),
)
"""The traps, in the order in which they are reported."""
