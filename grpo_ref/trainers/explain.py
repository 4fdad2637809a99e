"""What a configuration really optimises: part by part, key by key, with the traps it falls into."""

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any, NamedTuple

from grpo_ref.recipes import Recipe, Slot
from grpo_ref.trainers.dialect import Dialect, flat
from grpo_ref.trainers.traps import Trap, sprung

COMPLETIONS = "completions a prompt: it decides what the advantages are compared with"
ABOUT_KEYS = {
    "alpha": "how fast the reference follows the policy",
    "args": "the configuration itself",
    "entropy_loss_coef": "the entropy of the policy, times this, is added to what is maximised",
    "loss_scale_factor": "the length that is divided by; give it as max_length",
    "max_completion_length": "the generation budget; dr_grpo divides by it, give it as max_length",
    "gamma": "the discount of rewards along the tokens",
    "non_stop_penalty": "changes the reward, before the objective sees it",
    "ref_model_mixup_alpha": "how fast the reference follows the policy",
    "ref_model_sync_steps": "how often the reference follows the policy",
    "ref_policy_update_freq": "how often the reference follows the policy",
    "sync_ref_model": "lets the reference follow the policy",
    "temperature": "of the policy, for sampling and for the log-probabilities alike",
    "use_adaptive_entropy": "steers the weight of the entropy bonus toward a target",
    "verification_reward": "changes the reward, before the objective sees it",
    "beta": "weight of the KL penalty",
    "entropy_bonus": "the entropy of the policy, times this, is added to what is maximised",
    "entropy_coef": "the entropy of the policy, times this, is added to what is maximised",
    "entropy_coeff": "the entropy of the policy, times this, is added to what is maximised",
    "group_size": COMPLETIONS,
    "gradient_accumulation_steps": "how many micro-batches make a step",
    "n_samples_per_prompt": COMPLETIONS,
    "num_generations": COMPLETIONS,
    "num_iterations": "how often each batch is used; there are ratios to clip from the second time on",
    "num_samples_per_prompt_rollout": COMPLETIONS,
    "ref_model": "GRPOTrainer has no such argument; it loads the reference itself if beta > 0",
    "reward_weights": "weights of the reward functions, summed before or after normalising",
    "rollout.n": COMPLETIONS,
    "steps_per_generation": "into how many steps a generation batch is cut: the later ones are off-policy",
    "tokenizer": "an old name of processing_class",
    "use_valid_token_scale": "turns averages over micro-batches into the average over all tokens",
    "vllm_importance_sampling_cap": "an old name of vllm_importance_sampling_clip_max",
}


class Part(NamedTuple):
    """One part of the objective.

    Attributes:
      name: of the slot.
      value: the kernel with its settings.
      sentence: what it does.
      equation: its formula, or "".
    """

    name: str
    value: str
    sentence: str
    equation: str


class Explanation(NamedTuple):
    """What there is to say about a configuration.

    Attributes:
      recipe: what it computes.
      parts: its parts in order.
      keys: each given key with its value and what it does here.
      traps: those it falls into.
      entropy_coef: weight of the entropy bonus, which is no part of a recipe.
    """

    recipe: Recipe
    parts: list[Part]
    keys: list[tuple[str, Any, str]]
    traps: list[Trap]
    entropy_coef: float


def explain(dialect: Dialect, config: Mapping[str, Any]) -> Explanation:
    """Explain a configuration.

    Args:
      dialect: the trainer's.
      config: its keys, in groups or not.

    Raises:
      ValueError: if a key is unknown or a value is one that the trainer would refuse.
    """
    recipe = dialect.recipe(**config)
    keys = [(key, value, _about(dialect, config, key)) for key, value in flat(config).items()]
    bonus = dialect.concepts.get("weight of the entropy bonus", "")
    entropy_coef = getattr(dialect.settings(config), bonus, 0.0)
    return Explanation(recipe, _parts(recipe), keys, sprung(dialect, config), entropy_coef)


def _parts(recipe: Recipe) -> list[Part]:
    kernels: list[tuple[str, Slot | Any]] = [
        ("advantage", recipe.advantage),
        ("level", recipe.level),
        ("surrogate", recipe.surrogate),
        *(("correction", part) for part in recipe.corrections),
        *([("penalty", recipe.penalty)] if recipe.kl_coef else []),
        ("aggregate", recipe.aggregate),
        ("keep", recipe.keep),
        ("admit", recipe.admit),
        ("reward", recipe.reward),
    ]
    return [_part(name, kernel) for name, kernel in kernels]


def _part(name: str, part: Any) -> Part:
    kernel = part.kernel if isinstance(part, Slot) else part
    paragraphs = inspect.cleandoc(kernel.__doc__ or "").split("\n\n")
    equation = next((text for text in paragraphs if text.startswith("    ")), "")
    value = str(part) if isinstance(part, Slot) else kernel.__name__
    return Part(name, value, " ".join(paragraphs[0].split()), textwrap.dedent(equation))


def _about(dialect: Dialect, config: Mapping[str, Any], key: str) -> str:
    """What a key does in this configuration: which parts change if it is left out."""
    name = dialect.key(key) or key
    about = ABOUT_KEYS.get(key.split(".")[-1], ABOUT_KEYS.get(name, ""))
    if name not in dialect.defaults:
        return about or "leaves the objective alone"
    others = {other: value for other, value in flat(config).items() if other != key}
    try:
        changed = dialect.recipe(**config).differences(dialect.recipe(**others))
    except ValueError:
        return "needed"
    if changed:
        return f"sets {', '.join(f'{part} = {text}' for part, text in changed.items())}"
    default = dialect.settings(others).__dict__[name]
    same = dialect.settings(config).__dict__[name] == default
    return about or ("the default" if same else "changes nothing here")
