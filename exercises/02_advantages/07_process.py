"""A reward for every step

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times; these answers (completions)
form the prompt's group. With one reward per completion, which is called outcome supervision, all
tokens of a completion get the same advantage: in a solution of ten steps whose last one is wrong,
the nine right steps are blamed as well. With process supervision every step is judged, for example
every line of a proof, and has a reward of its own. A token is then worth what comes of it: the
steps that end at it or after it. It has no part in the steps that were over before it.

## Your task

Write `process_advantages(step_rewards, step_ends, eps=0.0001)`.

Write `process_advantages(step_rewards, step_ends, eps=1e-4)`. It has two parts. First the reward of
each step is standardized among all steps of the group. Then each token gets the sum of the
standardized rewards of those steps of its own completion that end at this token or later:

    sᵢⱼ = (rᵢⱼ - mean(R)) / (std(R) + eps)
    Aᵢₜ = Σⱼ sᵢⱼ      over the steps j of completion i whose last token is t or a later one

rᵢⱼ is the reward of step j of completion i, and R are the rewards of all steps of all completions
to one prompt, put together: each step counts once in the mean and in the standard deviation, so a
completion of many steps counts more than one of few. The standard deviation is the one of a
population: it divides the sum of squares by the number of steps in R, not by one less. eps is added
to it.

A token at which a step ends has a 1 in `step_ends`, and `step_rewards` has the reward of that step
at the same place. Where `step_ends` is 0, no step ends, and what `step_rewards` holds there never
matters, be it a number, NaN or infinity.

* `step_rewards`: the reward of the step that ends at a token, for the T tokens of each of G
  completions to P prompts; (P, G, T); −10 to 10.
* `step_ends`: 1 where a step ends, 0 elsewhere; (P, G, T); 0 or 1.
* `eps`: added to the standard deviation; number; 1e-4 to 1.

* `step_rewards` may hold anything where `step_ends` is 0, also NaN or infinity.
* `step_ends`: zeros may be anywhere, and a row may be all zeros.
* P, G and T are at least 1.

(P, G, T) advantages, one per token.

* Tokens after the last step of their completion get 0, and a completion without a step gets 0
  everywhere.
* A group with a single step gets 0, since this step is its own mean; so does a group whose steps
  all have the same reward, and a group without any step.
* Completions may have different numbers of steps. The steps of a group of one completion are
  compared with one another.
* Groups do not mix: the steps of one prompt are never compared with those of another one.

## Examples

    >>> process_advantages([[[3, 9, 3], [1, 1, 9]]], [[[1, 0, 1], [1, 1, 0]]], 1)
    [[[1, 0.5, 0.5], [-1, -0.5, 0]]]

The four steps have the rewards 3, 3, 1 and 1; the two 9 belong to no step. Their mean is 2 and
their standard deviation 1, so the steps of the first completion get (3 - 2) / (1 + 1) = 0.5 each
and those of the second -0.5. In the first completion both steps end at its first token or later:
0.5 + 0.5 = 1. Only the second step ends at its second token or later: 0.5. In the second completion
no step ends at the last token: 0.

    >>> process_advantages([[[nan, 4.0, inf], [0.0, nan, 7.0]]], [[[0, 1, 0], [1, 0, 0]]], 0.5)
    [[[0.8, 0.8, 0], [-0.8, 0, 0]]]

There are two steps, with the rewards 4 and 0: their mean is 2 and so is their standard deviation. 2
/ (2 + 0.5) = 0.8 for the tokens up to the end of the first, -2 / 2.5 = -0.8 for those up to the end
of the second.

## When it is solved

The paper says neither which divisor the standard deviation has nor whether anything is added to it;
both are chosen here as in the exercise on GDPO. No trainer has this built in. It can be trained:
compare `grpo-ref train arithmetic --recipe process_grpo`, where every token of the answer is a step
with a reward of its own, with `--recipe grpo`, where the answer as a whole has one reward.

## See also

* Source: DeepSeekMath, sec. 4.1.3, process supervision (arXiv:2402.03300).
* `grpo_ref.step_suffix_sums` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/process
"""

import numpy as np


def process_advantages(step_rewards, step_ends, eps=1e-4):
    """Standardize the steps of a group; each token gets the steps that end at it or later."""
    raise NotImplementedError("advantages/process")
