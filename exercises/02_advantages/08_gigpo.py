"""The advantage of a turn

Medium, 2 points. GRADING.md says how answers are graded.

An agent answers in several turns: it calls a tool, reads the result, and calls again or answers.
All turns together are an episode. With one advantage for the whole episode, a good call before a
wrong answer is blamed like a bad one. GiGPO adds an advantage for each turn. It looks for turns of
the group's episodes that began in the same state, such as the same web page, and compares what came
of them.

## Your task

Write `step_advantages(turn_rewards, states, mask, gamma=0.95)`.

Write `step_advantages(turn_rewards, states, mask, gamma=0.95)` for the G episodes of one prompt.
The return of a turn is its own reward plus the discounted rewards of the later turns of the same
episode. The advantage of a turn is its return minus the mean return of all turns that began in the
same state:

    Rᵢₖ = Σⱼ γ^(j - k) rᵢⱼ        over the turns j = k, k + 1, ... of episode i
    Aᵢₖ = Rᵢₖ - mean(Rₘₙ)         over all turns (m, n) whose state equals the state of (i, k)

The mean includes the turn itself. Turns with the same state are compared wherever they are: in
other episodes, in the same episode, and at other places. `mask` is 1 on the turns of an episode.
Where it is 0, there is no turn, and the entries of `turn_rewards` and `states` do not matter.

* `turn_rewards`: the reward after each of the K turns of G episodes of one prompt; (G, K); −10 to
  10.
* `states`: the number of the state in which each turn began; (G, K); integers, -3 to 9.
* `mask`: 1 on the turns of an episode, 0 on padding; (G, K); 0 or 1.
* `gamma`: the discount per turn; number; 0 to 1.

* `turn_rewards` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: the zeros of a row come after its ones, and a row may be all zeros.
* G and K are at least 1.

(G, K) advantages, one per turn.

* Entries where mask is 0 get 0. `turn_rewards` may hold NaN or infinity there.
* A turn whose state occurs only once gets 0.
* States are only compared for equality. Any whole number may be the name of a state.

## Examples

    >>> step_advantages([[0, 1], [0, 0]], [[7, 3], [7, 4]], [[1, 1], [1, 1]], 0.5)
    [[0.25, 0], [-0.25, 0]]

The returns are 0 + 0.5 · 1 = 0.5 and 1 in the first episode, and 0 and 0 in the second. Both first
turns began in state 7, where the mean is 0.25. The states 3 and 4 occur once: 0.

    >>> step_advantages([[1.0, 0.0], [2.0, nan]], [[0, 0], [0, 5]], [[1, 1], [1, 0]], 1)
    [[0, -1], [1, 0]]

Three turns began in state 0, two of them in the first episode. Their returns are 1, 0 and 2 with
the mean 1. The second episode has one turn; the NaN is padding.

## When it is solved

GiGPO adds this number to the advantage of the episode. The paper either divides by the standard
deviation of the returns, or not, as here. The page docs/turns.md compares what the trainers do.

## See also

* Source: Feng et al. 2025, GiGPO, eq. 5 to 7 with a divisor of 1 (arXiv:2505.10978).
* `grpo_ref.advantages.gigpo` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/gigpo
"""

import numpy as np


def step_advantages(turn_rewards, states, mask, gamma=0.95):
    """Compare the return of each turn with the returns of all turns that began in the same state."""
    raise NotImplementedError("advantages/gigpo")
