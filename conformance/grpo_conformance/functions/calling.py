"""The functions of a trainer, and the inputs of a recorded case as tensors."""

import importlib
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch

from grpo_conformance.functions.signatures import SignatureChanged

Parts = Mapping[str, Any]


class Outside(Exception):
    """The functions do not compute all of a case. The message says what is missing."""


class Trainer:
    """The functions of a trainer by their names in `trainers.toml`. A module is imported when it is needed.

    Args:
      functions: name -> "module:function".
    """

    def __init__(self, functions: Mapping[str, str]) -> None:
        self.functions = functions

    def module(self, name: str) -> Any:
        """Return the module that holds a function."""
        return importlib.import_module(self.functions[name].partition(":")[0])

    def __getitem__(self, name: str) -> Any:
        """Return a function or class.

        Raises:
          SignatureChanged: if the module does not have it.
        """
        place, _, attribute = self.functions[name].partition(":")
        try:
            return getattr(importlib.import_module(place), attribute)
        except AttributeError:
            raise SignatureChanged(f"{place} has no {attribute}") from None


class Case:
    """One recorded case.

    Attributes:
      id, call: as in the recordings.
      settings: every key of the configuration with its value; defaults are those of the recorded version.
      size: completions of one group.

    Args:
      asked: the case as `run` reads it.
    """

    def __init__(self, asked: Parts) -> None:
        self.id, self.call, self.size = asked["id"], asked["call"], asked["group_size"]
        self.settings: dict[str, Any] = asked["settings"]
        self._arrays, self._dtype = asked["arrays"], getattr(torch, asked["dtype"])

    def __contains__(self, name: str) -> bool:
        """Return true if the trainer was given an array."""
        return name in self._arrays

    def tensor(self, name: str) -> torch.Tensor:
        """Return an array in the precision of the case."""
        return torch.tensor(numbers(self._arrays[name]), dtype=torch.float64).to(self._dtype)

    def policy(self) -> torch.Tensor:
        """Return the policy's log-probabilities as a leaf with a gradient."""
        return self.tensor("log_probs").requires_grad_()

    def token_advantages(self) -> torch.Tensor:
        """Return the advantages, one per token."""
        values = self.tensor("advantages")
        return values if values.ndim > 1 else values[:, None].expand(self.tensor("mask").shape)

    def group(self, prefix: str) -> SimpleNamespace:
        """Return the settings under a prefix as nested attributes.

        >>> case = Case({"id": "", "call": "", "group_size": 1, "arrays": {}, "dtype": "float32",
        ...              "settings": {"loss.clip": 0.2, "loss.dppo.low": 0.1}})
        >>> case.group("loss").dppo.low
        0.1
        """
        root = SimpleNamespace()
        for key, value in self.settings.items():
            if not key.startswith(f"{prefix}."):
                continue
            place, (*parents, last) = root, key.removeprefix(f"{prefix}.").split(".")
            for name in parents:
                if not hasattr(place, name):
                    setattr(place, name, SimpleNamespace())
                place = getattr(place, name)
            setattr(place, last, value)
        return root


def with_gradient(loss: torch.Tensor, log_probs: torch.Tensor) -> dict[str, Any]:
    """Return the loss and its gradient with respect to the log-probabilities."""
    gradient = None
    if loss.requires_grad:
        (gradient,) = torch.autograd.grad(loss, log_probs, allow_unused=True)
    gradient = torch.zeros_like(log_probs) if gradient is None else gradient
    return {"loss": float(loss.detach()), "grad_logp": gradient.tolist()}


def numbers(value: Any) -> Any:
    """Convert text such as "nan" in nested lists to numbers. None is NaN."""
    if isinstance(value, list):
        return [numbers(each) for each in value]
    return math.nan if value is None else float(value)
