"""An interpreter as good as new: what a file has changed in the modules, the next one does not find.

It is loaded beside `guest.py` in WebAssembly, where a new interpreter costs more than most answers. What
hides deeper than in the names of modules is left: so a failure is believed of a second interpreter only.
"""

import builtins
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np


def remembered() -> Callable[[], None]:
    """Remember what all modules hold now; what is returned gives it back to them."""
    modules, module_type = sys.modules, ModuleType
    held = [(name, each, each.__dict__) for name, each in modules.items() if type(each) is module_type]
    kept = [(name, each, names, dict(names)) for name, each, names in held]
    settings = _settings()
    ours, built_in = builtins.__dict__, dict(builtins.__dict__)

    def renew() -> None:
        ours.update(built_in)  # first: what follows uses them
        for name, module, names, contents in kept:
            modules[name] = module
            names.update(contents)
            if len(names) > len(contents):
                for added in names.keys() - contents.keys():
                    if type(names[added]) is not module_type:
                        del names[added]
        settings()

    return renew


def _settings() -> Callable[[], None]:
    """What is set by functions, or kept in lists."""
    path, filters, errors = list(sys.path), list(warnings.filters), np.geterr()
    options, limit = np.get_printoptions(), sys.getrecursionlimit()

    def reset() -> None:
        sys.path[:] = path
        warnings.filters[:] = filters  # type: ignore[index]
        getattr(warnings, "_filters_mutated", _nothing)()
        np.seterr(**errors)
        np.set_printoptions(**options)
        sys.setrecursionlimit(limit)
        sys.settrace(None)
        sys.setprofile(None)

    return reset


def _nothing(*_: Any) -> None:
    """Where a version of Python has no such thing."""
