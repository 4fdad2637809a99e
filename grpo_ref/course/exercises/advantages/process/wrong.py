"""Wrong answers to `advantages/process`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.process.tests import reference

GROUP, COMPLETION, BATCH = (1, 2), 2, (0, 1, 2)


def changed(scores=None, spread=None, read=None):
    """Return an answer with another way to score the steps, or to spread the scores over the tokens."""

    def answer(step_rewards, step_ends, eps=1e-4):
        ends = np.asarray(step_ends) > 0
        rewards = (read or at_the_ends)(np.asarray(step_rewards, dtype=float), ends)
        return (spread or suffix_sums)(np.where(ends, (scores or scored)(rewards, ends, eps), 0.0))

    return answer


def at_the_ends(rewards, ends):
    return np.where(ends, rewards, 0.0)


def mean_of_steps(values, ends, axis=GROUP):
    count = np.maximum(ends.sum(axis, keepdims=True), 1)
    return np.where(ends, values, 0.0).sum(axis, keepdims=True) / count


def std_of_steps(rewards, ends, axis=GROUP):
    return np.sqrt(mean_of_steps((rewards - mean_of_steps(rewards, ends, axis)) ** 2, ends, axis))


def sample_std(rewards, ends):
    count = ends.sum(GROUP, keepdims=True)
    return std_of_steps(rewards, ends) * np.sqrt(count / np.maximum(count - 1, 1))


def scored(rewards, ends, eps, axis=GROUP):
    return (rewards - mean_of_steps(rewards, ends, axis)) / (std_of_steps(rewards, ends, axis) + eps)


def suffix_sums(scores):
    return np.cumsum(scores[..., ::-1], -1)[..., ::-1]


def mean_of_the_means(rewards, ends):
    return mean_of_steps(
        mean_of_steps(rewards, ends, COMPLETION), np.asarray(ends.any(COMPLETION, keepdims=True))
    )


def over_all_tokens(rewards, ends, eps):
    return (rewards - rewards.mean(GROUP, keepdims=True)) / (rewards.std(GROUP, keepdims=True) + eps)


def summed_first(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) > 0
    totals = suffix_sums(at_the_ends(np.asarray(step_rewards, dtype=float), ends))
    return np.where(suffix_sums(ends) > 0, scored(totals, ends, eps), 0.0)


def own_step_alone(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) > 0
    alone = changed(spread=lambda scores: scores)(step_rewards, ends, eps)
    for t in reversed(range(ends.shape[-1] - 1)):
        alone[..., t] = np.where(ends[..., t], alone[..., t], alone[..., t + 1])
    return alone


def mean_of_the_steps(step_rewards, step_ends, eps=1e-4):
    later = suffix_sums(np.asarray(step_ends) > 0)
    return reference(step_rewards, step_ends, eps) / np.maximum(later, 1)


def last_step_continued(step_rewards, step_ends, eps=1e-4):
    ends, length = np.asarray(step_ends) > 0, np.shape(step_ends)[-1]
    sums = reference(step_rewards, ends, eps)
    last = length - 1 - np.argmax(ends[..., ::-1], -1)[..., None]
    return np.where(np.arange(length) > last, np.take_along_axis(sums, last, -1), sums)


def in_one_row(scores):
    return suffix_sums(scores.reshape(len(scores), 1, -1)).reshape(scores.shape)


def raw_if_alone(rewards, ends, eps):
    alone = ends.sum(GROUP, keepdims=True) == 1
    return np.where(alone, rewards, scored(rewards, ends, eps))


def one_pass_std(rewards, ends):
    return np.sqrt(np.maximum(mean_of_steps(rewards**2, ends) - mean_of_steps(rewards, ends) ** 2, 0.0))


def nearly_tied(rewards, ends, eps):
    gaps = np.where(ends, rewards - mean_of_steps(rewards, ends), 0.0)
    tied = abs(gaps).max(GROUP, keepdims=True) <= 1e-9 * abs(rewards).max(GROUP, keepdims=True)
    return np.where(tied, 0.0, scored(rewards, ends, eps))


def right_only_at(places):
    """Return an answer that is right at these places and 0 elsewhere."""

    def answer(step_rewards, step_ends, eps=1e-4):
        whole = reference(step_rewards, step_ends, eps)
        left = np.zeros_like(whole)
        left[places] = whole[places]
        return left

    return answer


def step_ends_ignored(step_rewards, step_ends, eps=1e-4):
    return suffix_sums(over_all_tokens(np.asarray(step_rewards, dtype=float), step_ends, eps))


def nan_replaced(step_rewards, step_ends, eps=1e-4):
    rewards = np.nan_to_num(np.asarray(step_rewards, dtype=float), posinf=0.0, neginf=0.0)
    return step_ends_ignored(rewards, step_ends, eps)


def multiplied_by_the_mask(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends)
    return suffix_sums(scored(np.asarray(step_rewards, dtype=float), ends > 0, eps) * ends)


WRONG = (
    Mutant(
        "sums from the start",
        changed(spread=lambda s: np.cumsum(s, -1)),
        "Adds the steps from the first token to this one; the sum runs from this token to the last.",
    ),
    Mutant(
        "own end omitted",
        changed(spread=lambda s: suffix_sums(s) - s),
        "Omits the step that ends at the token itself; it counts.",
    ),
    Mutant(
        "not spread over the tokens",
        changed(spread=lambda s: s),
        "Gives each step only to the token at which it ends, and 0 to all other tokens.",
    ),
    Mutant(
        "own step alone",
        own_step_alone,
        "Gives each token only the first step that ends at it or later; the steps after it count too.",
    ),
    Mutant(
        "one number for the completion",
        changed(spread=lambda s: s.sum(-1, keepdims=True) + 0.0 * s),
        "Gives all tokens of a completion the sum of all its steps, including steps that ended before the token.",
    ),
    Mutant(
        "mean of the steps",
        mean_of_the_steps,
        "Divides the sum by the number of its steps; the steps are only added.",
    ),
    Mutant(
        "the last step continued",
        last_step_continued,
        "Gives tokens after the last step the value of this step; they get 0.",
    ),
    Mutant(
        "the whole group as one row",
        changed(spread=in_one_row),
        "Continues the sum into the later completions of the group; each completion has its own sum.",
    ),
    Mutant(
        "summed first",
        summed_first,
        "Adds the raw rewards first and standardizes the sums; standardize the rewards first.",
    ),
    Mutant(
        "each completion by itself",
        changed(lambda r, e, eps: scored(r, e, eps, COMPLETION)),
        "Computes mean and standard deviation over one completion; R contains the steps of the whole group.",
    ),
    Mutant(
        "whole batch as one group",
        changed(lambda r, e, eps: scored(r, e, eps, BATCH)),
        "Computes mean and standard deviation over the whole batch; each prompt has its own.",
    ),
    Mutant(
        "mean of means",
        changed(lambda r, e, eps: (r - mean_of_the_means(r, e)) / (std_of_steps(r, e) + eps)),
        "Averages the mean rewards of the completions; every step counts once.",
    ),
    Mutant(
        "over all tokens",
        changed(over_all_tokens),
        "Includes a reward of 0 in R for each token where no step ends.",
    ),
    Mutant(
        "sample standard deviation",
        changed(lambda r, e, eps: (r - mean_of_steps(r, e)) / (sample_std(r, e) + eps)),
        "Divides the sum of squares by the number of steps minus 1; divide by the number of steps.",
    ),
    Mutant(
        "variance for std",
        changed(lambda r, e, eps: (r - mean_of_steps(r, e)) / (std_of_steps(r, e) ** 2 + eps)),
        "Divides by the variance plus `eps`; the divisor is the standard deviation plus `eps`.",
    ),
    Mutant(
        "not divided",
        changed(lambda r, e, eps: r - mean_of_steps(r, e)),
        "Subtracts the mean, but does not divide by the standard deviation.",
    ),
    Mutant(
        "not centered",
        changed(lambda r, e, eps: r / (std_of_steps(r, e) + eps)),
        "Divides by the standard deviation, but does not subtract the mean.",
    ),
    Mutant(
        "a single step keeps its reward",
        changed(raw_if_alone),
        "Gives the single step of a group its raw reward; the step is its own mean and gets 0.",
    ),
    Mutant(
        "padding averaged",
        changed(read=lambda r, e: r, scores=over_all_tokens),
        "Includes entries in R where no step ends.",
    ),
    Mutant(
        "step_ends ignored",
        step_ends_ignored,
        "Ignores `step_ends`: every entry of `step_rewards` counts as a step.",
    ),
    Mutant(
        "NaN replaced",
        nan_replaced,
        "Replaces NaN and infinity by 0, but counts every entry as a step; only `step_ends` marks the steps.",
    ),
    Mutant(
        "NaN times 0",
        multiplied_by_the_mask,
        "Lets a NaN where no step ends into the sums: NaN times 0 is NaN.",
    ),
    Mutant(
        "eps omitted",
        lambda r, e, eps=1e-4: changed()(r, e, 0.0),
        "Ignores `eps`: equal rewards give 0/0.",
    ),
    Mutant(
        "eps fixed",
        lambda r, e, eps=1e-4: reference(r, e),
        "Uses 1e-4 whatever `eps` is.",
    ),
    Mutant(
        "default 1e-8",
        lambda r, e, eps=1e-8: reference(r, e, eps),
        "Uses 1e-8 if `eps` is omitted; the default is 1e-4.",
    ),
    Mutant(
        "eps under the root",
        changed(lambda r, e, eps: (r - mean_of_steps(r, e)) / np.sqrt(std_of_steps(r, e) ** 2 + eps)),
        "Adds `eps` to the variance, under the root; it is added to the standard deviation.",
    ),
    Mutant(
        "larger of std and eps",
        changed(lambda r, e, eps: (r - mean_of_steps(r, e)) / np.maximum(std_of_steps(r, e), eps)),
        "Divides by the larger of std and `eps`; the divisor is their sum.",
    ),
    Mutant(
        "one-pass variance",
        changed(lambda r, e, eps: (r - mean_of_steps(r, e)) / (one_pass_std(r, e) + eps)),
        "Computes the variance as the mean of the squares minus the square of the mean, which loses small differences.",
    ),
    Mutant(
        "nearly equal taken for equal",
        changed(nearly_tied),
        "Treats rewards that differ by less than a billionth of their value as equal.",
    ),
    Mutant(
        "128 tokens at most",
        right_only_at((..., slice(128))),
        "Gives 0 from the 129th token on.",
    ),
    Mutant(
        "128 completions at most",
        right_only_at((slice(None), slice(128))),
        "Gives 0 from the 129th completion of a group on.",
    ),
    Mutant(
        "128 prompts at most",
        right_only_at(slice(128)),
        "Gives 0 from the 129th prompt on.",
    ),
)
