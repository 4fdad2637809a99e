"""Phrases for OpenRLHF's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.openrlhf.kernels import (
    clipped_against_sampler,
    clipped_anywhere,
    less_batch_mean,
    limited,
    mean_between,
    ratio_below_divergence,
    ratio_inside,
    returned,
    returned_with_penalty,
    shaped_reward,
    the_same,
    unbiased_gradient,
    window_times_ratio,
)
from grpo_ref.explain.phrases import Kernel, Phrase
from grpo_ref.recipes import Slot


def _shaped(buffer: float | None, factor: float, stop: float | None) -> str:
    """Describe the penalties of long completions, then of truncated ones."""
    overlong = "a soft overlong penalty over the last {buffer} of the budget, weight {factor}"
    cut_off = "the reward of truncated completions " + (
        "times {stop}" if (stop or 0) >= 0 else "set to {stop}"
    )
    return "; ".join([overlong] * (buffer is not None) + [cut_off] * (stop is not None))


def _with_penalty(alone: Slot, **_: object) -> str:
    """Describe the KL. If tokens are compared with those of the batch, it is subtracted before that."""
    then = "subtracted before that" if alone.kernel is returned else "then subtracted"
    return f"{{alone}}; KL {{kl_coef}} ({{penalty}}) of the token and those after it {then}"


PHRASES: Mapping[Kernel, Phrase] = {
    clipped_anywhere: "PPO-clip {clip_low}/{clip_high}< with a dual clip at {max_ratio}>",
    clipped_against_sampler: "PPO-clip {clip_low}/{clip_high} of the ratio to the sampler< with a dual clip"
    " at"
    " {max_ratio}>, per sequence (length-normalised)",
    window_times_ratio: "importance weights against the sampler per token, 0 {outside}",
    the_same: "every token weighted {weight}, as the bounds for the sampler's ratio are in the wrong order",
    less_batch_mean: "rewards centred over the whole batch",
    ratio_below_divergence: "importance weights against the sampler per token, 0 where the"
    " {statistic:binary_kl=binary KL|total variation} {level:seq=of the completion|of the token} is above {max_value}",
    ratio_inside: "importance weights against the sampler per token, 0 {level:seq=for a completion whose mean ratio is"
    " |}{outside}",
    unbiased_gradient: "{estimator} with the gradient of the reverse KL",
    limited: "{scores}, limited to {limits}",
    returned: "{scores}, limited to {limits}<, discounted by {gamma}>,"
    " {divided:True=standardised|centred} over all tokens (REINFORCE++)",
    returned_with_penalty: _with_penalty,
    shaped_reward: _shaped,
    mean_between: "only groups with a mean reward between {low} and {high}",
}
