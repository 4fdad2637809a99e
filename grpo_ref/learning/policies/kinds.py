"""Networks by name, with the sizes that fit a task."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

from grpo_ref.learning.policies.memory import check_weights
from grpo_ref.learning.policies.mlp import MLP
from grpo_ref.learning.policies.neural import prompt_tokens
from grpo_ref.learning.policies.transformer import Transformer
from grpo_ref.learning.task import Task
from grpo_ref.listing import unknown

OwnNetwork: TypeAlias = MLP | Transformer
NETWORKS: dict[str, type[OwnNetwork]] = {"mlp": MLP, "transformer": Transformer}


def network_for(task: Task, kind: str, settings: Mapping[str, Any] | None = None) -> OwnNetwork:
    """Return a network with the task's vocabulary and, for a transformer, the length of its longest text.

    Args:
      task: a task whose prompts have tokens.
      kind: "mlp" or "transformer".
      settings: settings of the network that differ from the defaults, as in {"width": 128}.

    Raises:
      TypeError: if the task is not a `Task`.
      ValueError: if the kind or a setting is unknown, or the task has no prompt_tokens.
      MemoryError: if the machine does not have enough memory for the weights.

    >>> from grpo_ref import TASKS
    >>> network_for(TASKS["names"](), "transformer").context
    12
    """
    if not isinstance(task, Task):
        raise TypeError(f"task: expected a Task, as in network_for(TASKS['names'](), ...), got {task!r:.60}")
    if kind not in NETWORKS:
        raise ValueError(f"policy: {unknown('network', kind, NETWORKS)}")
    settings, network = settings or {}, NETWORKS[kind]
    known = {field.name: type(field.default) for field in fields(network) if field.default is not MISSING}
    for name, value in settings.items():
        if name not in known:
            raise ValueError(f"policy: {unknown('setting of a network', name, known)}")
        if type(value) is not known[name]:
            raise ValueError(
                f"policy: {name}: expected a value of type {known[name].__name__}, got {value!r}"
            )
    sizes, prompts = {"vocabulary": len(task.vocabulary)}, prompt_tokens(task)
    if network is Transformer:
        # The last token of a completion is sampled but never read.
        sizes["context"] = prompts.shape[-1] + task.max_length - 1
    made = network(**sizes | dict(settings))
    check_weights(made)
    return made
