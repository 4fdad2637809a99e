"""Wrong answers to `advantages/process`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.process.tests import reference

GROUP, COMPLETION, BATCH = (1, 2), 2, (0, 1, 2)


def _of(scores=None, spread=None, read=None):
    """Return an answer with another way to score the steps, or to spread the scores over the tokens."""

    def answer(step_rewards, step_ends, eps=1e-4):
        ends = np.asarray(step_ends) > 0
        rewards = (read or _read)(np.asarray(step_rewards, dtype=float), ends)
        return (spread or _suffix_sums)(np.where(ends, (scores or _scored)(rewards, ends, eps), 0.0))

    return answer


def _read(rewards, ends):
    return np.where(ends, rewards, 0.0)


def _mean(values, ends, axis=GROUP):
    count = np.maximum(ends.sum(axis, keepdims=True), 1)
    return np.where(ends, values, 0.0).sum(axis, keepdims=True) / count


def _std(rewards, ends, axis=GROUP):
    return np.sqrt(_mean((rewards - _mean(rewards, ends, axis)) ** 2, ends, axis))


def _sample_std(rewards, ends):
    count = ends.sum(GROUP, keepdims=True)
    return _std(rewards, ends) * np.sqrt(count / np.maximum(count - 1, 1))


def _scored(rewards, ends, eps, axis=GROUP):
    return (rewards - _mean(rewards, ends, axis)) / (_std(rewards, ends, axis) + eps)


def _suffix_sums(scores):
    return np.cumsum(scores[..., ::-1], -1)[..., ::-1]


def _mean_of_means(rewards, ends):
    return _mean(_mean(rewards, ends, COMPLETION), np.asarray(ends.any(COMPLETION, keepdims=True)))


def _over_all_tokens(rewards, ends, eps):
    return (rewards - rewards.mean(GROUP, keepdims=True)) / (rewards.std(GROUP, keepdims=True) + eps)


def _summed_first(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) > 0
    totals = _suffix_sums(_read(np.asarray(step_rewards, dtype=float), ends))
    return np.where(_suffix_sums(ends) > 0, _scored(totals, ends, eps), 0.0)


def _own_step_alone(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) > 0
    alone = _of(spread=lambda scores: scores)(step_rewards, ends, eps)
    for t in reversed(range(ends.shape[-1] - 1)):
        alone[..., t] = np.where(ends[..., t], alone[..., t], alone[..., t + 1])
    return alone


def _mean_of_steps(step_rewards, step_ends, eps=1e-4):
    later = _suffix_sums(np.asarray(step_ends) > 0)
    return reference(step_rewards, step_ends, eps) / np.maximum(later, 1)


def _last_goes_on(step_rewards, step_ends, eps=1e-4):
    ends, length = np.asarray(step_ends) > 0, np.shape(step_ends)[-1]
    sums = reference(step_rewards, ends, eps)
    last = length - 1 - np.argmax(ends[..., ::-1], -1)[..., None]
    return np.where(np.arange(length) > last, np.take_along_axis(sums, last, -1), sums)


def _in_one_row(scores):
    return _suffix_sums(scores.reshape(len(scores), 1, -1)).reshape(scores.shape)


def _raw_if_alone(rewards, ends, eps):
    alone = ends.sum(GROUP, keepdims=True) == 1
    return np.where(alone, rewards, _scored(rewards, ends, eps))


def _one_pass_std(rewards, ends):
    return np.sqrt(np.maximum(_mean(rewards**2, ends) - _mean(rewards, ends) ** 2, 0.0))


def _nearly_tied(rewards, ends, eps):
    gaps = np.where(ends, rewards - _mean(rewards, ends), 0.0)
    tied = abs(gaps).max(GROUP, keepdims=True) <= 1e-9 * abs(rewards).max(GROUP, keepdims=True)
    return np.where(tied, 0.0, _scored(rewards, ends, eps))


def _of_size(places, most=128):
    """Return an answer that is right for the first entries along one axis, and 0 for the rest."""

    def answer(step_rewards, step_ends, eps=1e-4):
        whole = reference(step_rewards, step_ends, eps)
        left = np.zeros_like(whole)
        left[places(most)] = whole[places(most)]
        return left

    return answer


WRONG = (
    Mutant(
        "sums from the start",
        _of(spread=lambda s: np.cumsum(s, -1)),
        "The sum runs from the first token to this one; it should run from this one to the last.",
    ),
    Mutant(
        "own end left out",
        _of(spread=lambda s: _suffix_sums(s) - s),
        "A step that ends at the token itself is left out; it counts.",
    ),
    Mutant(
        "not spread over the tokens",
        _of(spread=lambda s: s),
        "Only tokens at which a step ends get anything, and only this one step.",
    ),
    Mutant(
        "own step alone",
        _own_step_alone,
        "A token gets the step to which it belongs alone; later steps count as well.",
    ),
    Mutant(
        "one number for the completion",
        _of(spread=lambda s: s.sum(-1, keepdims=True) + 0.0 * s),
        "All tokens of a completion get the sum of all its steps, also of those that were over before.",
    ),
    Mutant(
        "mean of the steps",
        _mean_of_steps,
        "The standardized rewards are averaged; they are summed.",
    ),
    Mutant(
        "the last step goes on",
        _last_goes_on,
        "Tokens after the last step get what this step got; they get 0.",
    ),
    Mutant(
        "the whole group as one row",
        _of(spread=_in_one_row),
        "The sum goes on over the completions that follow; each has its own.",
    ),
    Mutant(
        "summed first",
        _summed_first,
        "The raw rewards are summed before they are standardized; it is the other way round.",
    ),
    Mutant(
        "each completion by itself",
        _of(lambda r, e, eps: _scored(r, e, eps, COMPLETION)),
        "Mean and standard deviation are those of one completion; R are the steps of the whole group.",
    ),
    Mutant(
        "whole batch as one group",
        _of(lambda r, e, eps: _scored(r, e, eps, BATCH)),
        "Mean and standard deviation are taken over all prompts; every prompt has its own.",
    ),
    Mutant(
        "mean of means",
        _of(lambda r, e, eps: (r - _mean_of_means(r, e)) / (_std(r, e) + eps)),
        "The mean is that of the completions' means; every step counts once.",
    ),
    Mutant(
        "over all tokens",
        _of(_over_all_tokens),
        "Mean and standard deviation count a 0 for every token at which no step ends; only steps count.",
    ),
    Mutant(
        "sample standard deviation",
        _of(lambda r, e, eps: (r - _mean(r, e)) / (_sample_std(r, e) + eps)),
        "This looks like the sample standard deviation, ddof=1; here the divisor is the number of steps.",
    ),
    Mutant(
        "variance for std",
        _of(lambda r, e, eps: (r - _mean(r, e)) / (_std(r, e) ** 2 + eps)),
        "It divides by the variance.",
    ),
    Mutant("not divided", _of(lambda r, e, eps: r - _mean(r, e)), "The mean is taken off, and no more."),
    Mutant("not centered", _of(lambda r, e, eps: r / (_std(r, e) + eps)), "The mean is not taken off."),
    Mutant(
        "a single step keeps its reward",
        _of(_raw_if_alone),
        "A group with a single step gets its reward; it is its own mean and gets 0.",
    ),
    Mutant(
        "reads where no step ends",
        _of(read=lambda r, e: r, scores=_over_all_tokens),
        "Rewards are read where no step ends.",
    ),
    Mutant(
        "NaN made 0",
        lambda r, e, eps=1e-4: _suffix_sums(
            _over_all_tokens(np.nan_to_num(np.asarray(r, float), posinf=0.0, neginf=0.0), e, eps)
        ),
        "NaN and infinity are replaced, but ordinary numbers where no step ends are read.",
    ),
    Mutant(
        "NaN times 0",
        lambda r, e, eps=1e-4: _suffix_sums(
            _scored(np.asarray(r, float), np.asarray(e) > 0, eps) * np.asarray(e)
        ),
        "NaN where no step ends spreads: NaN times 0 is NaN.",
    ),
    Mutant(
        "eps left out",
        lambda r, e, eps=1e-4: _of()(r, e, 0.0),
        "eps is not used: where all steps are equal, 0 is divided by 0.",
    ),
    Mutant("eps fixed", lambda r, e, eps=1e-4: reference(r, e), "The argument eps is not used."),
    Mutant(
        "eps under the root",
        _of(lambda r, e, eps: (r - _mean(r, e)) / np.sqrt(_std(r, e) ** 2 + eps)),
        "eps is added to the variance; it belongs to the standard deviation.",
    ),
    Mutant(
        "larger of std and eps",
        _of(lambda r, e, eps: (r - _mean(r, e)) / np.maximum(_std(r, e), eps)),
        "eps is added, not used as a floor.",
    ),
    Mutant(
        "one-pass variance",
        _of(lambda r, e, eps: (r - _mean(r, e)) / (_one_pass_std(r, e) + eps)),
        "The variance is the mean of the squares less the square of the mean, which loses small differences.",
    ),
    Mutant(
        "nearly equal taken for equal",
        _of(_nearly_tied),
        "Steps that differ by less than some part of their size are taken to be equal.",
    ),
    Mutant(
        "128 tokens at most",
        _of_size(lambda most: (..., slice(most))),
        "Tokens from some place on get 0.",
    ),
    Mutant(
        "128 completions at most",
        _of_size(lambda most: (slice(None), slice(most))),
        "Completions of a large group get 0 from some place on.",
    ),
    Mutant(
        "128 prompts at most",
        _of_size(lambda most: (slice(most),)),
        "Prompts of a large batch get 0 from some place on.",
    ),
)
