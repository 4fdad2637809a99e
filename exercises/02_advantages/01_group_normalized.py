"""The group-normalized advantage

Easy, 2 points. GRADING.md says how answers are graded.

Is a reward of 0.6 good? It depends on the prompt. If the other answers to the same prompt got 0.1,
it is. If they got 0.9, it is not. GRPO therefore lets the policy, the language model in training,
answer each prompt G times. These G answers (completions) form a *group*, and GRPO compares each
reward with the rewards of its group.

The result is the *advantage* of the completion. If it is positive, the completion should become
more likely. If it is negative, the completion should become less likely. PPO trains a second
network to predict the expected reward. In GRPO, the mean of the group replaces this network.

## Your task

Write `group_advantages(rewards, eps=1e-4)`.

Return one advantage per completion:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)

rᵢ is the reward of completion i. Mean and standard deviation run over the completions of **one
prompt**. Use the population standard deviation, which divides the sum of squares by G. `eps` keeps
the fraction finite when all rewards of a group are equal.

| argument  | meaning                                       | shape  | values      |
| --------- | --------------------------------------------- | ------ | ----------- |
| `rewards` | reward of each completion, one row per prompt | (P, G) | −1e4 to 1e4 |
| `eps`     | added to the standard deviation               | number | 1e-8 to 1   |

* P and G are at least 1.

Return an array of shape (P, G). Up to rounding, each row sums to 0.

## Examples

**One of two is right.** `eps` is omitted, so it is 1e-4.

    >>> group_advantages([[0, 1]])
    [[-0.9998, 0.9998]]

The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.

**Groups do not mix.** Both completions of the second prompt got 5.

    >>> group_advantages([[0, 1], [5, 5]], 0.5)
    [[-0.5, 0.5], [0, 0]]

First row: 0.5 / (0.5 + 0.5) = 0.5. In the second row no completion is better than the other: 0 / (0
+ 0.5) = 0.

**A rare success counts more.**

    >>> group_advantages([[1, 0, 0, 0]])
    [[1.73165, -0.577217, -0.577217, -0.577217]]

The mean is 1/4. The variance is (0.75² + 3 · 0.25²) / 4 = 0.1875, so the standard deviation is
0.433013. The success has 0.75 / 0.433113 = 1.73165.

A group of one gets 0. If all rewards of a group are equal, the exact result is 0, but the formula
may return a small number: the mean of three rewards of 0.1 is rounded to 0.10000000000000002. In
the tests, an exact 0 and the result of the formula are both accepted.

## When it is solved

Trainers differ in this line, and the choice matters for small groups:

| trainer | variance divided by | `eps` | advantages of the rewards 0 and 1 |
|---|---|---|---|
| TRL | G - 1 | 1e-4 | -0.7070 and 0.7070 |
| verl | G - 1 | 1e-6 | -0.7071 and 0.7071 |
| Open Instruct (`standard`) | G | 1e-8 | -1.0000 and 1.0000 |

The library function has an argument `ddof`; with `ddof=0` it is your function.

Next: `advantages/centered` omits the division.

## See also

* Source: Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300).
* `grpo_ref.advantages.group_normalized` computes the same in this package. Look at it when you are
  done.
* Step 6 of the derivation, standard deviation, explains the formula.
* `grpo-ref recipes grpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run std_division --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/group_normalized
"""

import numpy as np


def group_advantages(rewards, eps=1e-4):
    """Return the normalized advantage of each completion."""
    raise NotImplementedError("advantages/group_normalized")
