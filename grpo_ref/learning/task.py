"""A task: a deterministic automaton that writes completions, and a verifier that rewards them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grpo_ref.arrays import Bools, Floats, Integers

END = -1
"""The entry of a transition table that ends the completion."""


@dataclass(frozen=True)
class Examples:
    """Completions to imitate.

    Attributes:
      prompts: (M,) index of each prompt.
      tokens: (M, T) tokens of the completion; 0 on padding.
      mask: (M, T) True up to and including the last token of the completion.
    """

    prompts: Integers
    tokens: Integers
    mask: Bools


@dataclass(frozen=True)
class Task:
    """A task: prompts, an automaton that writes completions, and a verifier that rewards them.

    A state of the automaton is a row of the table of logits: it is all that a tabular policy knows when it
    chooses the next token.

    Attributes:
      name: name of the task, as on the command line.
      vocabulary: V tokens as text; the end-of-sequence token is "".
      transitions: (N, V) the state after each token in each state, or END.
      prompts: Q texts.
      starts: (Q,) first state of the completion of each prompt.
      prompt_probs: (Q,) probability of each prompt in training; they sum to 1. Held-out prompts have 0.
      max_length: generation budget in tokens.
      ref_logits: (N, V) logits of the initial policy, which is also the reference.
      verify: function from prompts (..., P), tokens (..., P, G, T) and mask (..., P, G, T) to rewards
        (..., P, G, C), one per criterion. If it reads tables, they must be arguments of a functools.partial:
        so they are moved to a GPU together with the task.
      criteria: names of the K criteria.
      weights: (C,) weight of each criterion in the reward. A criterion of weight 0 is measured only.
      verify_steps: function with the arguments of `verify` that returns rewards and ends of steps, two
        (..., P, G, T), for process supervision. Default: a completion is one step, with its reward.
      prompt_tokens: (Q, L) the prompts as tokens, for a network. If None, only a table can be trained.
      examples: completions for pretraining: a network imitates them before it is rewarded.
      policy: the kind of policy that suits the task, one of `POLICIES`.
      network_settings: training settings for a network; they replace those in `settings`.
      pretraining: settings for `pretrain` that suit the task, by the name of the `PretrainConfig` field.
      settings: training settings that suit the task, by the name of the `TrainConfig` field.
    """

    name: str
    vocabulary: tuple[str, ...]
    transitions: Integers
    prompts: tuple[str, ...]
    starts: Integers
    prompt_probs: Floats
    max_length: int
    ref_logits: Floats
    verify: Callable[[Integers, Integers, Bools], Floats]
    criteria: tuple[str, ...]
    weights: Floats
    settings: Mapping[str, Any] = field(default_factory=dict)
    verify_steps: Callable[[Integers, Integers, Bools], tuple[Floats, Bools]] | None = None
    prompt_tokens: Integers | None = None
    examples: Examples | None = None
    policy: str = "table"
    network_settings: Mapping[str, Any] = field(default_factory=dict)
    pretraining: Mapping[str, Any] = field(default_factory=dict)

    def render(self, prompt: int, tokens: Integers, mask: Bools) -> str:
        """Return a prompt and one of its completions as text.

        Args:
          prompt: index of the prompt.
          tokens, mask: (T,).
        """
        return self.prompts[prompt] + "".join(self.vocabulary[token] for token in tokens[mask])
