"""Several rewards, none of which drowns the others

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times; these answers (completions)
form the prompt's group. Often they are judged by several criteria: is the answer right, is its
format, is it short? If the rewards are added up first and compared within the group afterwards, the
criterion with the widest spread decides nearly alone: beside a length that varies by hundreds,
right or wrong is a matter of 1. GDPO turns each criterion into an advantage of its own first, each
in units of its own spread, and adds these up.

## Your task

Write `gdpo_advantages(components, weights, eps=0.0001)`.

Write `gdpo_advantages(components, weights, eps=1e-4)`. rᵢₖ is the reward of completion i by
criterion k, and wₖ the weight of the criterion. There are three steps:

    Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps)
    aᵢ  = Σₖ wₖ Aᵢₖ
    Aᵢ  = (aᵢ - mean(a)) / (std(a) + eps)

In the first step mean and standard deviation run over the G completions of one prompt, for each
criterion by itself; in the last one over all P times G completions of the batch. Every standard
deviation is that of a population: it divides the sum of squares by the number of members, not by
one less. eps is added to every standard deviation.

* `components`: the rewards of the G completions of each prompt by K criteria; (P, G, K); −10 to 10.
* `weights`: w, one for each criterion; (K,); −5 to 5.
* `eps`: added to every standard deviation; number; 1e-4 to 1.

* P, G and K are at least 1.
* If G is above 1 and some reward is no whole number, some criterion of a weight other than 0 sets a
  group's completions apart.

(P, G) advantages; over the whole batch they sum to zero.

* A criterion on which a group agrees adds 0 there. If G is 1, every advantage is 0.
* Weights may be negative, as for a penalty, or 0.

## Examples

    >>> gdpo_advantages([[[1, 0], [0, 9]]], [1.0, 0.5], 0.5)
    [[0.0909091, -0.0909091]]

The stds are 1/2 and 9/2. The first completion has 0.5 / 1 = 0.5 and -4.5 / 5 = -0.9, together 0.5 -
0.5 · 0.9 = 0.05; the second has -0.05. Their std is 0.05: 0.05 / 0.55 = 1/11.

    >>> gdpo_advantages([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], [1.0, 1.0], 0.5)
    [[0.828427, -0.828427], [0, 0]]

In the first group each criterion gives ±0.5 / (0.5 + 0.5), together ±1; in the second all give 0.
Over the batch 1, -1, 0 and 0 have the std 1/√2: 1 / (0.7071 + 0.5) = 0.8284.

## When it is solved

TRL divides by one less than the number of members (ddof 1) in both steps. verl takes the last step
over tokens instead of completions, so that long ones count more.

## See also

* Source: GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`.
* `grpo_ref.normalized_then_summed` is the same function in this package. Look at it when you are
  done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/gdpo
"""

import numpy as np


def gdpo_advantages(components, weights, eps=1e-4):
    """Normalize each criterion in its group, sum with the weights, normalize over the batch."""
    raise NotImplementedError("advantages/gdpo")
