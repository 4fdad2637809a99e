"""The advantage of a turn  (medium, 2 points)

## Background

An agent answers in several turns: it calls a tool, reads the result, and calls again or answers.
All turns together are an episode. With one advantage for the whole episode, a good call before a
wrong answer is blamed like a bad one. GiGPO adds an advantage for each turn. It looks for turns of
the group's episodes that began in the same state, such as the same web page, and compares what came
of them.

## Problem

Write `step_advantages(turn_rewards, states, mask, gamma=0.95)` for the G episodes of one prompt.
The return of a turn is its own reward plus the discounted rewards of the later turns of the same
episode. The advantage of a turn is its return minus the mean return of all turns that began in the
same state:

    Rᵢₖ = Σⱼ γ^(j - k) rᵢⱼ        over the turns j = k, k + 1, ... of episode i
    Aᵢₖ = Rᵢₖ - mean(Rₘₙ)         over all turns (m, n) whose state equals the state of (i, k)

The mean includes the turn itself. Turns with the same state are compared wherever they are: in
other episodes, in the same episode, and at other places. `mask` is 1 on the turns of an episode.
Where it is 0, there is no turn, and the entries of `turn_rewards` and `states` do not matter.

## Input

- turn_rewards: the reward after each of the K turns of G episodes of one prompt; shape (G, K); from
  -10 to 10; where mask is 0 it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- states: the number of the state in which each turn began; shape (G, K); whole, from -3 to 9.
- mask: 1 on the turns of an episode, 0 on padding; shape (G, K); numbers or truth values; the zeros
  of a row are its last, and a row may be all zeros.
- gamma: the discount per turn; from 0 to 1; 0.95 if left out.

## Output

(G, K) advantages, one per turn.

## Examples

    step_advantages([[0, 1], [0, 0]], [[7, 3], [7, 4]], [[1, 1], [1, 1]], 0.5)
    -> [[0.25, 0], [-0.25, 0]]

The returns are 0 + 0.5 · 1 = 0.5 and 1 in the first episode, and 0 and 0 in the second. Both first
turns began in state 7, where the mean is 0.25. The states 3 and 4 occur once: 0.

    step_advantages([[1.0, 0.0], [2.0, nan]], [[0, 0], [0, 5]], [[1, 1], [1, 0]], 1)
    -> [[0, -1], [1, 0]]

Three turns began in state 0, two of them in the first episode. Their returns are 1, 0 and 2 with
the mean 1. The second episode has one turn; the NaN is padding.

## Constraints

- G and K are at least 1.
- Every number in turn_rewards is 0 or at least 1e-15 in size.
- Entries where mask is 0 get 0. `turn_rewards` may hold NaN or infinity there.
- A turn whose state occurs only once gets 0.
- States are only compared for equality. Any whole number may be the name of a state.

## Notes

GiGPO adds this number to the advantage of the episode. The paper either divides by the standard
deviation of the returns, or not, as here. The page docs/turns.md compares what the trainers do.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Feng et al. 2025, GiGPO, eq. 5 to 7 with a divisor of 1 (arXiv:2505.10978).

## See also

- grpo_ref.advantages.gigpo, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/gigpo
"""

import numpy as np


def step_advantages(turn_rewards, states, mask, gamma=0.95):
    """Compare the return of each turn with the returns of all turns that began in the same state."""
    raise NotImplementedError("advantages/gigpo")
