"""Code that a WebAssembly interpreter runs before it gets a student's file: the imports and the functions
that answer the judge.

The text of this file runs there (see `wasm.py`), together with `wire.py` and `guest.py`.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from types import ModuleType


def begun(imported: Sequence[str], sources: Mapping[str, str]) -> tuple[Callable[..., None], ...]:
    """Return three functions: one loads a file, one answers a request, one answers several. Each writes its
    reply.

    Args:
      imported: modules that take long to import; they are imported now.
      sources: name -> text of the two modules that run beside the student's code.
    """
    for name in imported:
        __import__(name)
    wire, guest = (_module(name, text) for name, text in sources.items())
    write, flush = os.write, sys.stdout.flush

    def reply(line: str) -> None:
        flush()
        rest = memoryview(b"\n" + line.encode())
        while rest:
            rest = rest[write(1, rest) :]

    def load(path: str, source: bytes) -> None:
        reply(guest.load(wire, path, source))

    def answer(path: str, line: str) -> None:
        reply(guest.answer(wire, path, line))

    def answer_all(path: str, lines: str) -> None:
        reply(f"[{','.join(guest.answer(wire, path, line) for line in lines.split())}]")

    return load, answer, answer_all


def _module(name: str, text: str) -> ModuleType:
    module = module_from_spec(ModuleSpec(name, SourceFileLoader(name, name)))
    exec(compile(text, name, "exec"), vars(module))
    sys.modules[name] = module
    return module
