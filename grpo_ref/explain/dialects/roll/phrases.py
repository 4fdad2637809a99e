"""Phrases for ROLL's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.common.kernels import turn_token_mean, turn_token_sum
from grpo_ref.explain.dialects.roll.kernels import (
    Norms,
    admitted,
    limited_turns,
    mean_inside,
    over_batch,
    over_width,
    scaled_by,
    segment_mean_level,
    short_first,
    spread_above,
    token_returns,
    token_returns_with_penalty,
    turn_scores,
)
from grpo_ref.explain.phrases import Kernel, Phrase


def _admitted(below_budget: bool, between: tuple[float, float] | None, longest_error: float | None) -> str:
    """Describe the filters that are on."""
    told = {
        "completions as long as the budget masked out": below_budget,
        "only groups with a mean reward in {between}": between is not None,
        "wrong completions only below {longest_error} tokens": longest_error is not None,
    }
    return "; ".join(text for text, is_on in told.items() if is_on)


def _turn_scores(episode: Norms, step: Norms, episode_weight: float, step_weight: float, gamma: float) -> str:
    """Describe scores with their norms; a weight of 0 is omitted."""
    of_episode = f"{{episode_weight}} times the reward of the episode, {_normed(episode, 'its group')}"
    of_turn = f"{{step_weight}} times the return of the turn, {_normed(step, 'turns from the same state')}"
    parts = [text for text, weight in ((of_episode, episode_weight), (of_turn, step_weight)) if weight]
    return f"{'; plus '.join(parts)}; returns discounted by {{gamma}} per turn"


def _normed(norms: Norms, group: str) -> str:
    mean, std = norms
    if mean is None:
        return "without a baseline"
    return f"{'centred' if std is None else 'standardised'} over {group if mean == 'group' else 'the batch'}"


LIMITED = "<, limited to ±{limit}>"
WHITENED = (
    "{whiten_rewards:True=, token rewards whitened}<, discounted by {gamma}>"
    "{whiten_advantages:True=, whitened over all tokens of the batch}<, limited to ±{clip}>"
)
PHRASES: Mapping[Kernel, Phrase] = {
    over_batch: "{centered:True=rewards centred over the batch|rewards, not centred}"
    "{divided:True=, divided by the std of the batch|, not divided by a std}",
    token_returns: f"{{scores}}{LIMITED}{WHITENED}",
    token_returns_with_penalty: f"{{scores}}; KL {{kl_coef}} ({{penalty}}) of the token and those after it"
    f" subtracted"
    f"{LIMITED}{WHITENED}",
    over_width: "summed over all tokens and divided by the padded width",
    scaled_by: "{aggregate}, times {factor}",
    segment_mean_level: "per unbroken segment (length-normalised)",
    short_first: "short completions weighted up to three times as much as long ones",
    spread_above: "only groups with a std of the rewards above {threshold}",
    mean_inside: "only groups with a mean reward between {low} and {high}",
    admitted: _admitted,
    turn_scores: _turn_scores,
    limited_turns: f"{{scores}}{LIMITED}{WHITENED}",
    turn_token_mean: "token mean within each turn, then mean over turns",
    turn_token_sum: "token sum within each turn, then mean over turns",
}
