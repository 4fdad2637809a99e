"""Every kernel of the package, found by walking it: a new one is tested without being listed anywhere."""

import importlib
import inspect
import pkgutil
from dataclasses import fields

from package_map import KERNELS

from grpo_ref import RECIPES, slot
from grpo_ref.recipes import Slot

SHARED = ("grpo_ref.advantages.moments", "grpo_ref.advantages.turn_axis")
"""Modules of arithmetic that kernels share; their functions are no parts of a recipe."""


def kernels_of(package):
    """name -> function, of a module of kernels or of a package of them."""
    found = {}
    for module in _modules_of(package):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and function.__name__ == name and name[0] != "_":
                found[name] = function
    return found


def _modules_of(package):
    yield package
    for info in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        if info.name not in SHARED:
            yield importlib.import_module(info.name)


def parts_of(recipe):
    """The slots of a recipe, its corrections included."""
    values = [getattr(recipe, field.name) for field in fields(recipe)]
    return [
        part
        for value in values
        for part in (value if isinstance(value, tuple) else (value,))
        if isinstance(part, Slot)
    ]


USED = {part.kernel: part for recipe in reversed(RECIPES.values()) for part in parts_of(recipe)}
"""kernel -> its part in the first recipe that has it."""


def as_slot(kernel):
    """The kernel with its defaults; settings that have none are taken from a recipe."""
    required = [
        p.name
        for p in inspect.signature(kernel).parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    ]
    return slot(kernel, **{name: USED[kernel].settings[name] for name in required})


EVERY = {}
for name in KERNELS:
    EVERY |= kernels_of(importlib.import_module(f"grpo_ref.{name}"))
