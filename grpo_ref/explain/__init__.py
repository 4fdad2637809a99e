"""Explain a trainer's configuration: read a launch file, and say which objective it optimizes.

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import sys
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Callable(ModuleType):
    """A package that can be called, so that `grpo_ref.explain(path)` works beside `grpo_ref.explain.dialects`."""

    def __call__(self, *config: Any, **options: Any) -> Any:
        """Call `grpo_ref.explain.report.explain`."""
        from grpo_ref.explain.report import explain  # most of this package, only when it is used

        return explain(*config, **options)


sys.modules[__name__].__class__ = _Callable
