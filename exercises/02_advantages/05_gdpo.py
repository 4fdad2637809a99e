"""GDPO's advantage from several rewards

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times. The G answers (completions)
form a group. Often, several criteria judge each completion: is the answer right, is its format
valid, is it short?

If you add the rewards first and compare the sums within the group, the criterion with the largest
spread decides nearly alone. A length may vary by hundreds, but right and wrong differ only by 1.
GDPO first computes an advantage for each criterion, in units of the spread of this criterion, and
then adds these advantages.

## Your task

Write `gdpo_advantages(components, weights, eps=1e-4)`.

Compute one advantage per completion in three steps:

    Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps)
    aᵢ  = Σₖ wₖ Aᵢₖ
    Aᵢ  = (aᵢ - mean(a)) / (std(a) + eps)

rᵢₖ is the reward of completion i by criterion k, and wₖ is the weight of this criterion. It may be
negative, for a penalty. In the first step, meanₖ and stdₖ run over the G completions of **one
prompt**. In the last step, mean and std run over all P · G completions of the **batch**, which has
P prompts. Each std is a population standard deviation: it divides the sum of squares by the number
of values.

| argument     | meaning                                     | shape     | values    |
| ------------ | ------------------------------------------- | --------- | --------- |
| `components` | reward of each completion by each criterion | (P, G, K) | −10 to 10 |
| `weights`    | w, weight of each criterion                 | (K,)      | −5 to 5   |
| `eps`        | added to each standard deviation            | number    | 1e-4 to 1 |

* P, G and K are at least 1.
* The advantages that you return are never all 0 up to rounding, unless G is 1 or all rewards are
  integers.

Return an array of shape (P, G) with the values Aᵢ. Up to rounding, its sum is 0.

## Examples

**Two criteria with different spreads.** The second criterion has the weight 0.5.

    >>> gdpo_advantages([[[1, 0], [0, 9]]], [1.0, 0.5], 0.5)
    [[0.0909091, -0.0909091]]

The standard deviations are 0.5 and 4.5. First completion: 0.5 / 1 = 0.5 and -4.5 / 5 = -0.9, so a =
0.5 - 0.5 · 0.9 = 0.05. The second has a = -0.05. Their standard deviation is 0.05, and 0.05 / (0.05
+ 0.5) = 0.0909091. If the rewards were added first, the second completion would be better: 4.5
against 1.

**Two groups and the default `eps`.** In the second group, both completions have the same rewards.

    >>> gdpo_advantages([[[1, 2], [0, 8]], [[1, 5], [1, 5]]], [1, 0.5])
    [[1.41381, -1.41381], [0, 0]]

First completion: 0.5 / 0.5001 - 0.5 · 3 / 3.0001 = 0.499817. So a has the values 0.499817,
-0.499817, 0 and 0. Their standard deviation is 0.353424, and 0.499817 / 0.353524 = 1.41381.

If G is 1, every advantage is 0. If all rewards of a group are equal by a criterion, this criterion
adds 0 there, up to rounding.

## When it is solved

TRL calls this `multi_objective_aggregation="normalize_then_sum"`. In both normalizations, TRL
divides by the number of values minus 1. verl takes the last step over the tokens of the batch, so
long completions count more.

Next: `advantages/ranks` uses only the order of the rewards.

## See also

* Source: GDPO (arXiv:2601.05242).
* `grpo_ref.advantages.normalized_then_summed` computes the same in this package. Look at it when
  you are done.
* `grpo-ref recipes gdpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run reward_scales --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/gdpo
"""

import numpy as np


def gdpo_advantages(components, weights, eps=1e-4):
    """Return one advantage per completion from the rewards of several criteria."""
    raise NotImplementedError("advantages/gdpo")
