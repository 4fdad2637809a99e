"""Let a trainer's modules be imported where packages such as vLLM or Megatron are missing or do not load.

A package that only the trainer imports is replaced by an empty module, whose attributes are stand-ins that do nothing.
Packages that other packages look for stay missing, since those have a way to go on without them.
"""

import importlib
import importlib.machinery
import inspect
import sys
import traceback
import types
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

NEEDED = ("torch", "numpy")
"""Packages that are never replaced: the numbers come from them."""
BOOTSTRAP = ("importlib._bootstrap", "importlib._bootstrap_external", "importlib", "_frozen_importlib")


class StandIn:
    """An object that does nothing. Used as a decorator, it returns what it decorates."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a function or class that is decorated, or this object."""
        is_decorated = (
            len(args) == 1 and not kwargs and (inspect.isroutine(args[0]) or inspect.isclass(args[0]))
        )
        return args[0] if is_decorated else self

    def __getattr__(self, name: str) -> Any:
        """Return this object for every name without underscores before and after it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """Add nothing to a class that inherits from a stand-in."""
        return ()

    def __bool__(self) -> bool:
        """Return false, as an answer to a question such as `ray.is_initialized()`."""
        return False

    def __or__(self, other: Any) -> Any:
        """Return this object, for types such as `int | Absent` and for arithmetic with constants."""
        return self

    __ror__ = __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __or__

    def __lt__(self, other: Any) -> bool:
        """Return false, as an answer to a comparison of versions."""
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __iter__(self) -> Any:
        """Iterate over nothing."""
        return iter(())


class EmptyModule(types.ModuleType):
    """A module whose attributes are stand-ins."""

    __version__ = "0"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        """Return a stand-in for every name without underscores before and after it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()


class StandIns:
    """A finder of modules for packages that are replaced.

    Attributes:
      replaced: names of the packages that were replaced so far.

    Args:
      package: the trainer's package; only its imports are served.
      forced: packages, and modules of the trainer, to replace whether they can be imported or not.
    """

    def __init__(self, package: str, forced: Collection[str] = ()) -> None:
        self.package, self.forced = package, forced
        self.replaced: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return a module for a package that is missing and that the trainer imports."""
        top = name.partition(".")[0]
        if self.forced:
            is_served = any(name == each or name.startswith(f"{each}.") for each in self.forced)
        elif top in (self.package, *NEEDED):
            is_served = False
        elif top in self.replaced:
            is_served = True
        else:
            is_served = name == top and importer().partition(".")[0] == self.package
        if not is_served:
            return None
        if not self.forced:
            self.replaced.add(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return an empty module."""
        return EmptyModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: the module is empty."""


def importer() -> str:
    """Return the name of the module whose import is under way."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name not in (*BOOTSTRAP, __name__):
            return str(name)
        frame = frame.f_back
    return ""


def load(package: str, modules: Sequence[str], without: Sequence[str] = ()) -> list[str]:
    """Import modules of a trainer, and return the names of the packages and modules that were replaced.

    A package that is missing is replaced at once. If a package is installed but cannot be imported, because it
    needs a GPU or is of another version, it is replaced as well and the import begins again.

    Args:
      package: the trainer's package.
      modules: full names of its modules.
      without: full names of modules of the trainer that the functions do not need.

    Raises:
      Exception: the error of the import, if it comes from the trainer's own code.
    """
    missing, broken = StandIns(package), set(without)
    sys.meta_path.append(missing)
    while True:
        forced = StandIns(package, frozenset(broken))
        if broken:
            sys.meta_path.insert(0, forced)
        try:
            for name in modules:
                importlib.import_module(name)
            return sorted(missing.replaced | broken)
        except Exception as error:
            culprit = foreign(package, error)
            if not culprit or culprit in broken or culprit in NEEDED:
                raise
            broken.add(culprit)
            for name in [name for name in sys.modules if name.partition(".")[0] in (package, culprit)]:
                del sys.modules[name]
            sys.meta_path[:] = [each for each in sys.meta_path if each is not forced]


def foreign(package: str, error: BaseException) -> str:
    """Return the package that the trainer's code was importing when an error came, or ""."""
    own = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            own = frame, line
    if own is None:
        return ""
    frame, line = own
    text = Path(frame.f_code.co_filename).read_text(encoding="utf-8").splitlines()[line - 1].split()
    if len(text) > 1 and text[0] in ("import", "from"):
        top = text[1].partition(".")[0].rstrip(",")
        return "" if top == package else top
    return ""
