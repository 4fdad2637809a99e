"""Objective ID of a launch file: the recipe's ID, with the entropy bonus and the set over which averages are taken."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.explain.description import span, takes
from grpo_ref.explain.dialect import BONUS, COMPLETIONS, Averages, Dialect
from grpo_ref.explain.understanding import NAMES, Understood, Unsure
from grpo_ref.micro_batches import effective_weights
from grpo_ref.recipes import CATALOG, Recipe
from grpo_ref.recipes.identity import canonical_parts, canonical_value, objective_id

SYMBOLS = {
    **{"reward": "r", "advantage": "A", "distill": r"\hat A", "level": r"\rho", "surrogate": "s"},
    **{"corrections": "c", "penalty": "d", "aggregate": "W", "penalty_aggregate": "V"},
}
"""Symbol of each part in the LaTeX line. A part without a symbol is written by its name."""
RAGGED = np.array([[[1, 1, 1, 1], [1, 0, 0, 0]], [[1, 1, 0, 0], [0, 0, 0, 0]]])
"""(P, G, T) mask of completions of 4, 1, 2 and 0 tokens, which shows if micro-batches change the weights."""


class ObjectiveId(NamedTuple):
    """Identity of the objective of a launch file.

    Attributes:
      id: the ID, such as "grpo1-1f0c25a4e6b7"; "" if a part of the objective is unknown.
      parts: the canonical text of each part, see `grpo_ref.recipes.identity`.
      latex: the objective as one line of LaTeX, for mathematics mode.
      recipe: name of the recipe of `grpo_ref.RECIPES` that has the same ID, or "".
      unknown: the reasons for which there is no ID, each with the part that is unknown.
    """

    id: str
    parts: Mapping[str, str]
    latex: str
    recipe: str
    unknown: Sequence[str]


def identify(dialect: Dialect, keys: Understood, others: Sequence[Dialect] = ()) -> ObjectiveId:
    """Return the objective ID of a launch, or the reasons for which there is none.

    The ID does not depend on the trainer, the spelling and order of keys, or the sizes of a run: completions per
    prompt, generation budget, batch and learning rate.

    Args:
      dialect: dialect of the trainer, in its version.
      keys: the keys of the launch, sorted.
      others: other versions that the launch may be written for.

    >>> from grpo_ref import explain
    >>> explain("unsloth", "loss_type=dr_grpo", "scale_rewards=none").objective_id.recipe
    'dr_grpo'
    >>> explain("trl grpo --beta $KL", version="1.16.0").objective_id.unknown
    ['the weight of the KL penalty (beta = $KL)']
    """
    config = keys.config
    averages = dialect.objective.averages(dialect.settings(config))
    recipe, beside = dialect.recipe(**config), _beside(dialect, config)
    parts, identity = {**canonical_parts(recipe), **beside}, objective_id(recipe, beside)
    unknown = [*dict.fromkeys([*_unknown_parts(dialect, keys.unsure), *_other_averages(averages)])]
    differing = [
        other
        for other in others
        if takes(other, config) and objective_id(other.recipe(**config), _beside(other, config)) != identity
    ]
    if differing:
        versions = span(differing)
        unknown.append(f"the version ({versions} computes another objective; choose one with --version)")
    if unknown:
        return ObjectiveId("", parts, "", "", unknown)
    same = next((name for name, each in CATALOG.items() if objective_id(each) == identity), "")
    return ObjectiveId(identity, parts, latex_line(parts), same, [])


def latex_line(parts: Mapping[str, str]) -> str:
    r"""Return an objective as one line of LaTeX: the loss, and then each part by its symbol.

    Args:
      parts: the canonical text of each part.

    >>> print(latex_line({"surrogate": "reinforce", "advantage": "raw_rewards", "aggregate": "token_mean(eps=0)"}))
    \mathcal{L} = -\sum W \, s, \quad s = \texttt{reinforce}, \quad A = \texttt{raw\_rewards}, \quad W = \texttt{token\_mean(eps=0)}
    """
    gain = r"c \, s" if "corrections" in parts else "s"
    penalty = _signed(parts["kl_coef"]) if "kl_coef" in parts else ""
    if penalty and "penalty_aggregate" in parts:
        inner = rf"(W \, {gain} {penalty} \, V \, d)"
    elif penalty:
        inner = rf"W \, ({gain} {penalty} \, d)"
    else:
        inner = rf"W \, {gain}"
    bonus = rf" {_signed(parts['entropy_bonus'])} \, H" if "entropy_bonus" in parts else ""
    terms = [rf"\mathcal{{L}} = -\sum {inner}{bonus}"]
    for name, text in parts.items():
        if name not in ("kl_coef", "entropy_bonus"):
            symbol = SYMBOLS.get(name, rf"\text{{{_escaped(name.replace('_', ' '))}}}")
            terms.append(rf"{symbol} = \texttt{{{_escaped(text)}}}")
    return r", \quad ".join(terms)


def _signed(weight: str) -> str:
    """Return the weight of a term that is subtracted, with its sign: "- 0.04", or "+ 0.04" for -0.04."""
    return f"+ {weight[1:]}" if weight.startswith("-") else f"- {weight}"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("{", r"\{").replace("}", r"\}").replace("%", r"\%")


def _beside(dialect: Dialect, config: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of the objective that are not in the recipe: the averages and the entropy bonus."""
    averages = dialect.objective.averages(dialect.settings(config))
    beside = {}
    if averages.over == "micro-batch" and _micro_batches_count(dialect.recipe(**config), averages):
        beside["averages"] = f"each micro-batch, then {averages.across}"
    bonus = dialect.concept(BONUS, config, 0.0)
    if bonus:
        beside["entropy_bonus"] = canonical_value(bonus)
    return beside


def _micro_batches_count(recipe: Recipe, averages: Averages) -> bool:
    """Return true if a token's weight depends on the division into micro-batches of equal size."""
    aggregates = [recipe.aggregate]
    if recipe.kl_coef and recipe.penalty_aggregate is not None:
        aggregates.append(recipe.penalty_aggregate)
    for aggregate in aggregates:
        whole, divided = (
            effective_weights(
                replace(recipe, aggregate=aggregate), RAGGED, micro_batches=count, across=averages.across
            )
            for count in (1, 2)
        )
        if not np.allclose(whole, divided, rtol=1e-12, atol=0.0):
            return True
    return False


def _other_averages(averages: Averages) -> Iterator[str]:
    """Yield a reason if the averages are neither over a step nor over micro-batches."""
    if averages.over == "other":
        text = averages.text or "an unknown set"
        yield f"the denominator of the average, which does not follow from the tokens of a step (over {text})"


def _unknown_parts(dialect: Dialect, unsure: Sequence[Unsure]) -> Iterator[str]:
    """Yield each part that depends on a key with an unknown value or effect, with this key."""
    bonus = dialect.keys.concepts.get(BONUS)
    for each in unsure:
        parts = [part for part in (*each.parts, *each.unless) if part != COMPLETIONS]
        if bonus is not None and dialect.key(each.key) == bonus:
            parts.append("bonus")
        for part in parts:
            yield f"{NAMES.get(part, part)} ({each.reason})"
