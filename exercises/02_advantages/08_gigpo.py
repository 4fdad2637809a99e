"""The advantage of a turn

Medium, 2 points. GRADING.md says how answers are graded.

An agent answers in several turns: it calls a tool, reads the result, and calls again or answers.
All turns together are an *episode*. With one advantage for the whole episode, a good call before a
wrong answer is blamed like a bad call.

GiGPO adds an advantage for each turn. It collects the turns of the group that began in the same
state, for example on the same web page, and compares their results.

## Your task

Write `step_advantages(turn_rewards, states, mask, gamma=0.95)`.

Compute, for the G episodes of one prompt:

    Rᵢₖ = Σⱼ γ^(j - k) rᵢⱼ        over the turns j = k, k + 1, ... of episode i
    Aᵢₖ = Rᵢₖ - mean(Rₘₙ)         over all turns (m, n) whose state equals the state of (i, k)

rᵢₖ is the reward after turn k of episode i, and γ is `gamma`. Rᵢₖ is the *return* of the turn: its
own reward plus the discounted rewards of the later turns. γ⁰ is 1, even if γ is 0.

The mean includes the turn itself. It also includes turns of the same episode, and turns at other
positions, if they began in the same state.

`mask` is 1 on the turns of an episode and 0 on padding. Padding counts neither in a return nor in a
mean, and its result is 0.

| argument       | meaning                                    | shape  | values            |
| -------------- | ------------------------------------------ | ------ | ----------------- |
| `turn_rewards` | reward after each turn                     | (G, K) | −10 to 10         |
| `states`       | state in which each turn began             | (G, K) | integers, -3 to 9 |
| `mask`         | 1 on the turns of an episode, 0 on padding | (G, K) | 0 or 1            |
| `gamma`        | γ, discount per turn                       | number | 0 to 1            |

* `turn_rewards` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: the zeros of a row come after its ones, and a row may be all zeros.
* G and K are at least 1.

Return an array of shape (G, K), one advantage per turn.

## Examples

**Two episodes that begin in the same state.**

    >>> step_advantages([[0, 1], [0, 0]], [[7, 3], [7, 4]], [[1, 1], [1, 1]], 0.5)
    [[0.25, 0], [-0.25, 0]]

The returns of the first episode are 0 + 0.5 · 1 = 0.5 and 1. The returns of the second are 0 and 0.
Both first turns began in state 7, and the mean of 0.5 and 0 is 0.25. The states 3 and 4 occur once,
so each of these turns is its own mean.

**A state that comes back.** The last entry of the second row is padding.

    >>> step_advantages([[1, 0], [2, 9]], [[0, 0], [0, 0]], [[1, 1], [1, 0]], 1)
    [[0, -1], [1, 0]]

Three turns began in state 0, two of them in the first episode. Their returns are 1, 0 and 2, with
mean 1. The 9 is padding: it changes neither this mean nor the return before it.

**The default discount.** `gamma` is 0.95.

    >>> step_advantages([[0, 1], [0, 0]], [[7, 3], [7, 3]], [[1, 1], [1, 1]])
    [[0.475, 0.5], [-0.475, -0.5]]

The returns of the first episode are 0.95 and 1, those of the second are 0 and 0. Now both second
turns began in state 3.

## When it is solved

GiGPO adds this advantage to the advantage of the episode. The paper has two variants: one divides
by the standard deviation of the returns with the same state, the other does not divide, like your
function.

`docs/turns.md` shows what trainers do with the turns of an agent.

Next: the chapter `ratios` measures how far the policy has moved.

## See also

* Source: Feng et al. 2025, GiGPO, eq. 5 to 7 with a divisor of 1 (arXiv:2505.10978).
* `grpo_ref.advantages.gigpo` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes gigpo` shows the whole algorithm.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/gigpo
"""

import numpy as np


def step_advantages(turn_rewards, states, mask, gamma=0.95):
    """Return the advantage of each turn among the turns that began in the same state."""
    raise NotImplementedError("advantages/gigpo")
