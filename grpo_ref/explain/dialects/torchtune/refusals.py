"""The checks of torchtune, up to its first step."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.torchtune.keys import CHUNKED, LINEAR, OF_LINEAR, component
from grpo_ref.explain.settings import Settings


def check(settings: Settings, known: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that torchtune refuses, or that no recipe can express.

    Args:
      settings: every key with its value.
      known: the losses that can be expressed, by their full names.

    torchtune `config.instantiate`, and how the recipes call their losses.
    """
    loss = component(settings)
    expect(
        loss != CHUNKED,
        f"loss: torchtune refuses {CHUNKED} in both recipes, which do not call it as it is defined; what it computes"
        f" is {LINEAR} in the asynchronous one",
    )
    expect(
        loss in known,
        f"loss: {loss} cannot be expressed here; expected one of {', '.join(known)}, with their full names",
    )
    _check_recipe(settings, loss == LINEAR)
    told = [f"loss.{name}" for name in OF_LINEAR if settings[f"loss.{name}"] is not None]
    expect(loss == LINEAR or not told, f"{', '.join(told)}: torchtune refuses it for {loss}")
    chunks = settings["loss.num_output_chunks"]
    expect(
        chunks is None or chunks > 0, f"loss.num_output_chunks: torchtune refuses fewer than 1, got {chunks}"
    )


def _check_recipe(settings: Settings, is_linear: bool) -> None:
    """Check that the loss has the arguments of the recipe that calls it."""
    expect(
        not is_linear or settings["forward_batch_size"] is None,
        "loss: torchtune refuses LinearGRPOLoss in the synchronous recipe, which is that of forward_batch_size",
    )
    expect(
        is_linear or settings["orchestration.num_steps"] is None,
        "loss: torchtune refuses it in the asynchronous recipe, which has orchestration; expected LinearGRPOLoss",
    )
