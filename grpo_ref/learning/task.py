"""A task: a deterministic automaton that the policy walks through, and a verifier that judges the walk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grpo_ref.arrays import Bools, Floats, Integers

END = -1
"""In a transition table: the completion ends here."""


@dataclass(frozen=True)
class Examples:
    """Completions to imitate.

    Attributes:
      prompts: (M,) index of each prompt.
      tokens: (M, T) what follows it; 0 on padding.
      mask: (M, T) True up to and including the last token of the completion.
    """

    prompts: Integers
    tokens: Integers
    mask: Bools


@dataclass(frozen=True)
class Task:
    """All that `rollout` and `train` need to know of a task.

    Attributes:
      name: as given on the command line.
      vocabulary: V tokens as text; an ending token is written as "".
      transitions: (N, V) the state after each token in each state, or END.
      prompts: Q texts.
      starts: (Q,) state in which the completion of each prompt begins.
      prompt_probs: (Q,) how often each prompt is drawn; they sum to 1.
      max_length: generation budget in tokens.
      ref_logits: (N, V) the policy to start from, which is the reference as well.
      verify: (prompts (..., P), tokens (..., P, G, T), mask (..., P, G, T)) -> (..., P, G, K), one reward a
        criterion. To be moved to a GPU with the task, the tables it looks into must be arguments of a
        functools.partial.
      criteria: K names.
      weights: (K,) weight of each criterion in the reward; one of weight 0 is only watched.
      verify_steps: (prompts, tokens, mask) as in verify -> rewards and ends of the steps, two (..., P, G, T),
        for process supervision. Left out, a completion is one step, with its reward.
      prompt_tokens: (Q, L) the same prompts as tokens, for a policy that reads them; None if only a table can
        be trained on the task.
      examples: completions to imitate, from which a network learns to speak before it is rewarded.
      policy: the kind of policy that suits the task, one of `POLICIES`.
      network_settings: training settings in place of some of those in `settings`, where a network is trained.
      pretraining: settings of the imitation that suit the task, by the name of the `PretrainConfig` field.
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
        """One completion as text, after its prompt.

        Args:
          prompt: index of the prompt.
          tokens, mask: (T,).
        """
        return self.prompts[prompt] + "".join(self.vocabulary[token] for token in tokens[mask])
