"""Process supervision

Medium, 2 points. GRADING.md says how answers are graded.

The policy answers each prompt G times. The G answers (completions) form a group. With one reward
per completion, all tokens of the completion share one advantage. If only the last of ten steps is
wrong, the nine right steps are blamed as well.

With *process supervision*, each step of a completion has a reward, for example each line of a
proof. The advantage of a token adds up the steps that end at this token or later, because the token
has no influence on earlier steps.

## Your task

Write `process_advantages(step_rewards, step_ends, eps=1e-4)`.

Compute, for each prompt:

    sᵢⱼ = (rᵢⱼ - mean(R)) / (std(R) + eps)
    Aᵢₜ = Σⱼ sᵢⱼ      over the steps j of completion i whose last token is t or a later one

Step j of completion i of prompt p ends at the j-th 1 in `step_ends[p, i]`. Its reward rᵢⱼ is the
entry of `step_rewards` at this token. Where `step_ends` is 0, no step ends and the entry of
`step_rewards` does not count.

R contains the rewards of all steps of all completions of this prompt. Each step counts once. std is
the population standard deviation: it divides the sum of squares by the number of steps in R.

| argument       | meaning                                    | shape     | values    |
| -------------- | ------------------------------------------ | --------- | --------- |
| `step_rewards` | reward of the step that ends at each token | (P, G, T) | −10 to 10 |
| `step_ends`    | 1 where a step ends, 0 elsewhere           | (P, G, T) | 0 or 1    |
| `eps`          | added to the standard deviation            | number    | 1e-4 to 1 |

* `step_rewards` may hold anything where `step_ends` is 0, also NaN or infinity.
* `step_ends`: zeros may be anywhere, and a row may be all zeros.
* P, G and T are at least 1.

Return an array of shape (P, G, T), one advantage per token. A token after the last step of its
completion gets 0.

## Examples

**Three steps and one.** The two entries 9 belong to no step.

    >>> process_advantages([[[3, 3, 1], [9, 1, 9]]], [[[1, 1, 1], [0, 1, 0]]], 1)
    [[[0.5, 0, -0.5], [-0.5, -0.5, 0]]]

R contains 3, 3, 1 and 1, with mean 2 and standard deviation 1. A reward of 3 becomes (3 - 2) / (1 +
1) = 0.5, and 1 becomes -0.5. First completion: 0.5 + 0.5 - 0.5 = 0.5 at the first token, then 0.5 -
0.5 = 0, then -0.5. In the second completion, the only step ends at the second token: -0.5, -0.5 and
0.

**Groups do not mix.** `eps` is omitted, so it is 1e-4.

    >>> process_advantages([[[0, 4], [0, 0]], [[6, 9], [2, 9]]],
    ...                    [[[0, 1], [0, 1]], [[1, 0], [1, 0]]])
    [[[0.99995, 0.99995], [-0.99995, -0.99995]], [[0.99995, 0], [-0.99995, 0]]]

The steps of the first prompt have the rewards 4 and 0, with mean 2 and standard deviation 2: 2 /
2.0001 = 0.99995. The steps of the second prompt have the rewards 6 and 2, with mean 4 and the same
standard deviation.

**A group with a single step gets 0.** The second completion has no step.

    >>> process_advantages([[[5, 5], [7, 7]]], [[[0, 1], [0, 0]]])
    [[[0, 0], [0, 0]]]

The single step is its own mean. Equal rewards of several steps also give 0, up to rounding.

## When it is solved

The paper states neither the divisor of the standard deviation nor an `eps`. No trainer has this
method built in. You can compare `grpo-ref train arithmetic --recipe process_grpo`, which rewards
each token of the answer, with `--recipe grpo`, which rewards the whole answer.

Next: `advantages/gigpo` gives each turn of an agent an advantage.

## See also

* Source: Shao et al. 2024, DeepSeekMath, sec. 4.1.3, process supervision (arXiv:2402.03300).
* `grpo_ref.advantages.step_suffix_sums` computes the same in this package. Look at it when you are
  done.
* `grpo-ref recipes process_grpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run process_rewards --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/process
"""

import numpy as np


def process_advantages(step_rewards, step_ends, eps=1e-4):
    """Return the advantage of each token from the rewards of the steps."""
    raise NotImplementedError("advantages/process")
