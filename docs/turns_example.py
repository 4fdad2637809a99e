"""The example of docs/turns.md: an agent that calls a tool or not, reads a bit, and answers.

    turn 1  the policy writes 1 (call the tool) or 0 (no call)
            the tool, if called, writes 0 with probability 0.8, else 1
    turn 2  the policy answers with a bit; the right answer is the opposite of the tool's bit

The reward is 1 for the right answer after a call, and 0 otherwise. There are only six episodes, so every
expectation on the page is a sum.
"""

from itertools import product

import numpy as np

from grpo_ref import REINFORCE, policy_loss_from_logits
from grpo_ref.advantages import gigpo, group_centered, group_normalized, mt_grpo
from grpo_ref.arrays import Floats, Integers
from grpo_ref.filters import trained_tokens

ZERO = 0.8
"""Probability that the tool writes 0."""
TOKENS = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
"""(6, 3) every episode: call, the tool's bit, answer. Without a call the second token is padding."""
CALLED = TOKENS[:, 0] == 1
MASK = np.where(CALLED[:, None], [1, 1, 1], [1, 0, 1])
TURN_IDS = np.tile([0, -1, 1], (6, 1))
REWARDS = (CALLED & (TOKENS[:, 2] != TOKENS[:, 1])).astype(float)
TURN_REWARDS = np.stack([CALLED, np.zeros(6)], axis=-1)
"""(6, 2) a reward of 1 for the call, and none of its own for the answer."""
STATES = np.stack([np.zeros(6), np.where(CALLED, 1 + TOKENS[:, 1], 3)], axis=-1).astype(int)
"""(6, 2) anchor states: the question; then what the tool has said, or 3 for nothing."""


def probabilities(call: float, one: float) -> Floats:
    """Return (6,) the probability of each episode.

    Args:
      call: probability of a call.
      one: probability that the policy answers 1.
    """
    tool = np.where(TOKENS[:, 1] == 0, ZERO, 1.0 - ZERO)
    calls = np.where(CALLED, call * tool, 1.0 - call)
    probs: Floats = calls * np.where(TOKENS[:, 2] == 1, one, 1.0 - one)
    return probs


def sigmoid(logit: float) -> float:
    """Return the probability of 1 under the logits 0 and `logit`."""
    return 1.0 / (1.0 + float(np.exp(-logit)))


def value(call_logit: float, bit_logit: float) -> float:
    """Return J, the expected reward."""
    return float(probabilities(sigmoid(call_logit), sigmoid(bit_logit)) @ REWARDS)


def expected_step(call_logit: float, bit_logit: float, *, tool_tokens: bool) -> Floats:
    """Return (2,) the expected step of both logits, with the expected reward as the baseline.

    Args:
      call_logit: logit of a call.
      bit_logit: logit of a 1 wherever a bit is written. The model is so small that it does not see who
        writes: the same logit stands for the tool's bit and for the answer.
      tool_tokens: if true, the loss includes the token that the tool wrote.
    """
    probs = probabilities(sigmoid(call_logit), sigmoid(bit_logit))
    logits = np.zeros((1, 6, 3, 2))
    logits[..., 1] = [call_logit, bit_logit, bit_logit]
    mask = MASK if tool_tokens else trained_tokens(TURN_IDS, MASK)
    advantages = 6.0 * probs * (REWARDS - value(call_logit, bit_logit))  # the loss divides by 6 episodes
    batch = logits, TOKENS[None], advantages[None], mask[None]
    steps = -policy_loss_from_logits(*batch, recipe=REINFORCE).gradient[0, ..., 1].sum(0)
    return np.array([steps[0], steps[1] + steps[2]])


def trained(*, tool_tokens: bool, updates: int = 400, learning_rate: float = 1.0) -> Floats:
    """Return (updates + 1,) the expected reward while the logits follow the expected steps from 0."""
    logits, values = np.zeros(2), []
    for _ in range(updates + 1):
        values.append(value(*logits))
        logits = logits + learning_rate * expected_step(*logits, tool_tokens=tool_tokens)
    return np.array(values)


def groups(size: int) -> tuple[Integers, Floats]:
    """Return every group of episodes, and its probability if every choice has probability 1/2.

    Returns:
      (6**size, size) indices of episodes, and (6**size,) probabilities.
    """
    members = np.array(list(product(range(6), repeat=size)))
    return members, probabilities(0.5, 0.5)[members].prod(-1)


def of_gigpo(members: Integers, *, scale: bool = True) -> Floats:
    """Return the (N, G, 3) advantages of GiGPO in groups of episodes. Only the outcome is rewarded."""
    rewards = REWARDS[members]
    outcome = np.stack([0.0 * rewards, rewards], axis=-1)
    each: Floats = gigpo(rewards, outcome, STATES[members], TURN_IDS[members], scale=scale)
    return each


def credit_of_first_turn() -> dict[str, list[float]]:
    """Return the expected advantage of the first turn in groups of four, by recipe.

    Each list has three numbers: a call before the right answer, a call before a wrong answer, no call.
    """
    members, probs = groups(4)
    kinds = (REWARDS == 1.0, CALLED & (REWARDS == 0.0), ~CALLED)
    weights = [probs[:, None] * kind[members] for kind in kinds]
    of_call = {
        "GRPO": group_normalized(REWARDS[members]),
        "GiGPO": of_gigpo(members)[..., 0],
        "MT-GRPO": mt_grpo(REWARDS[members], TURN_REWARDS[members], TURN_IDS[members])[..., 0],
    }
    return {
        name: [float((weight * each).sum() / weight.sum()) for weight in weights]
        for name, each in of_call.items()
    }


def signal_of_answer() -> dict[str, float]:
    """Return mean over standard deviation of the step of the answer's logit after the tool's 0, by recipe.

    The policy sees the tool's bit here, so the answer has a logit for each anchor state. The groups have four
    episodes, and no advantage is divided by a standard deviation.
    """
    members, probs = groups(4)
    slope = np.where(STATES[members][..., 1] == 1, TOKENS[members][..., 2] - 0.5, 0.0)
    of_answer = {"GRPO": group_centered(REWARDS[members]), "GiGPO": of_gigpo(members, scale=False)[..., 2]}
    signals = {}
    for name, each in of_answer.items():
        steps = (each * slope).mean(-1)
        mean = probs @ steps
        signals[name] = float(mean / np.sqrt(probs @ (steps - mean) ** 2))
    return signals
