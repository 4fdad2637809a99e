"""Packages that a trainer imports and that are not installed: they can be imported, and do nothing."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Collection
from typing import Any
from unittest.mock import MagicMock


def stand_in_for(packages: Collection[str]) -> None:
    """From now on these packages, and all of their modules, can be imported."""
    sys.meta_path.append(_Absent(packages))


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: Collection[str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return MagicMock(name=spec.name)

    def exec_module(self, module: Any) -> None:
        module.__path__ = []
