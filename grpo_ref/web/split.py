"""Split a WebAssembly program in two: the functions that most visits call, and the rest.

Python with NumPy and SciPy has 89 060 functions, and the pages call less than a tenth of them. A page starts
with the first half. In each half, a function of the other half is replaced by a few instructions that call it
through a table, which both halves share. Before the first half calls a function of the second, it asks the
page to load the second half. So every function can be called, and only some calls wait.

Functions keep their numbers in both halves, so their instructions are copied as they are. The format is that
of the WebAssembly specification, section 5, "Binary Format".
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from grpo_ref.course.grading.snapshot import CUSTOM, HEADER, read_unsigned, sections, signed, unsigned

TYPES, IMPORTS, FUNCTIONS, TABLES, MEMORIES, GLOBALS, EXPORTS = 1, 2, 3, 4, 5, 6, 7
ELEMENTS, CODE, DATA, TAGS = 9, 10, 11, 13
"""Numbers of sections."""
ORDER = (TYPES, IMPORTS, FUNCTIONS, TABLES, MEMORIES, TAGS, GLOBALS, EXPORTS, ELEMENTS, CODE, DATA)
"""Order of the sections in a binary."""
OF_FUNCTION, OF_TABLE, OF_MEMORY, OF_GLOBAL, OF_TAG = 0, 1, 2, 3, 4
"""Kinds of imports and exports."""
CALL, CALL_INDIRECT, DROP, END, IF, RETURN = b"\x10", b"\x11", b"\x1a", b"\x0b", b"\x04\x40", b"\x0f"
LOCAL_GET, GLOBAL_GET, GLOBAL_SET, INTEGER = b"\x20", b"\x23", b"\x24", b"\x41"
"""Instructions."""
NO_TYPE = b"\x60\x00\x00"
"""Type of a function without parameters and results."""
FIRST = "first"
"""Name under which the second half imports from the first."""


class Halves(NamedTuple):
    """A program in two halves, each a binary.

    Attributes:
      first: the program. It calls its import `host.call` with four zeros when it needs the rest.
      rest: to be instantiated with the imports of the whole program and the exports of the first half, which
        it imports from `FIRST`.
    """

    first: bytes
    rest: bytes


class _Program(NamedTuple):
    """The parts of a binary that a split needs.

    Attributes:
      binary: sections by number.
      parameters: number of parameters of each type.
      kinds: type of each function that the binary defines.
      bodies: its instructions.
      imported: number of functions that the binary imports. They come first in the numbering.
      variables: type of each global variable.
      tags: type of each exception.
    """

    binary: dict[int, bytes]
    parameters: list[int]
    kinds: list[int]
    bodies: list[bytes]
    imported: int
    variables: list[bytes]
    tags: list[bytes]


def split(binary: bytes, called: Collection[int]) -> Halves:
    """Split a binary.

    Args:
      binary: a WebAssembly module with one memory and one table, which imports functions only. Its first
      import
        is a function with four integer parameters and an integer result.
      called: the functions of the first half, numbered from the first one that is not imported.
    """
    program = _read(binary)
    count = len(program.bodies)
    inside = set(called)
    first = sorted(inside)
    rest = [number for number in range(count) if number not in inside]
    size, _ = read_unsigned(program.binary[TABLES], 3)
    slots = {number: size + place for place, number in enumerate(first + rest)}
    table = b"\x70\x01" + unsigned(size + count) * 2  # exactly as large as needed
    flag, asks = len(program.variables), program.imported + count
    needed = (
        *(b"\x00", GLOBAL_GET, unsigned(flag), IF, RETURN, END),  # the rest is loaded already
        *((INTEGER + b"\x00") * 4, CALL, b"\x00", DROP),
        *(INTEGER + b"\x01", GLOBAL_SET, unsigned(flag), END),
    )

    def detour(number: int, before: bytes = b"") -> bytes:
        kind = program.kinds[number]
        given = b"".join(LOCAL_GET + unsigned(each) for each in range(program.parameters[kind]))
        slot = INTEGER + signed(slots[number])
        return b"\x00" + before + given + slot + CALL_INDIRECT + unsigned(kind) + b"\x00" + END

    asking = CALL + unsigned(asks)
    no_type = _types(program.binary[TYPES]).index(NO_TYPE)
    shared = [_named("table", OF_TABLE, 0)]
    shared += [_named(f"tag{each}", OF_TAG, each) for each in range(len(program.tags))]
    shared += [_named(f"global{each}", OF_GLOBAL, each) for each in range(flag)]
    whole = program.binary
    first_half = whole | {
        FUNCTIONS: _vector([*map(unsigned, program.kinds), unsigned(no_type)]),
        TABLES: _vector([table]),
        GLOBALS: _longer(whole[GLOBALS], [b"\x7f\x01" + INTEGER + b"\x00" + END]),
        EXPORTS: _longer(whole[EXPORTS], shared),
        ELEMENTS: _longer(whole[ELEMENTS], [_elements(slots, first, program.imported)]),
        CODE: _vector(
            [
                *(
                    _sized(body if n in inside else detour(n, asking))
                    for n, body in enumerate(program.bodies)
                ),
                _sized(b"".join(needed)),
            ]
        ),
    }
    from_first = [
        _imported("memory", OF_MEMORY, whole[MEMORIES][1:]),
        _imported("table", OF_TABLE, table),
        *(_imported(f"tag{each}", OF_TAG, kind) for each, kind in enumerate(program.tags)),
        *(_imported(f"global{each}", OF_GLOBAL, kind) for each, kind in enumerate(program.variables)),
    ]
    second_half = {
        TYPES: whole[TYPES],
        IMPORTS: _longer(whole[IMPORTS], from_first),
        FUNCTIONS: whole[FUNCTIONS],
        ELEMENTS: _vector([_elements(slots, rest, program.imported)]),
        CODE: _vector(_sized(detour(n) if n in inside else body) for n, body in enumerate(program.bodies)),
    }
    return Halves(_binary(binary, first_half), _binary(binary, second_half))


def bodies(code: bytes) -> Iterator[bytes]:
    """Yield the local variables and instructions of each function in the code section."""
    count, at = read_unsigned(code, 0)
    for _ in range(count):
        length, at = read_unsigned(code, at)
        yield code[at : at + length]
        at += length


def _read(binary: bytes) -> _Program:
    whole = {number: content for number, content in sections(binary) if number != CUSTOM}
    imported, at = read_unsigned(whole[IMPORTS], 0)
    count, at = read_unsigned(whole[FUNCTIONS], 0)
    kinds = []
    for _ in range(count):
        kind, at = read_unsigned(whole[FUNCTIONS], at)
        kinds.append(kind)
    parameters = [read_unsigned(each, 1)[0] for each in _types(whole[TYPES])]
    variables, tags = _globals(whole[GLOBALS]), _tags(whole.get(TAGS, b"\x00"))
    return _Program(whole, parameters, kinds, list(bodies(whole[CODE])), imported, variables, tags)


def _types(content: bytes) -> list[bytes]:
    """Return each type of a function: 0x60, then the vectors of parameters and results, a byte each."""
    count, at = read_unsigned(content, 0)
    types = []
    for _ in range(count):
        begin = at
        for _ in ("parameters", "results"):
            size, at = read_unsigned(content, at + (at == begin))
            at += size
        types.append(content[begin:at])
    return types


def _globals(content: bytes) -> list[bytes]:
    """Return the type of each global variable, which is followed by a constant."""
    count, at = read_unsigned(content, 0)
    variables = []
    for _ in range(count):
        variables.append(content[at : at + 2])
        _, at = read_unsigned(content, at + 3)
        at += 1  # the end of the constant
    return variables


def _tags(content: bytes) -> list[bytes]:
    """Return the type of each exception: a zero, then the number of a type."""
    count, at = read_unsigned(content, 0)
    tags = []
    for _ in range(count):
        _, end = read_unsigned(content, at + 1)
        tags.append(content[at:end])
        at = end
    return tags


def _elements(slots: dict[int, int], functions: list[int], imported: int) -> bytes:
    """Return the part of the table that holds some functions. Their slots follow one another."""
    begin = slots[functions[0]] if functions else 0
    return b"\x00" + INTEGER + signed(begin) + END + _vector(unsigned(imported + each) for each in functions)


def _binary(whole: bytes, content: dict[int, bytes]) -> bytes:
    parts = [bytes([number]) + _sized(content[number]) for number in ORDER if number in content]
    return whole[:HEADER] + b"".join(parts)


def _sized(content: bytes) -> bytes:
    return unsigned(len(content)) + content


def _vector(items: Iterable[bytes]) -> bytes:
    all_items = list(items)
    return unsigned(len(all_items)) + b"".join(all_items)


def _longer(vector: bytes, items: list[bytes]) -> bytes:
    """Return a vector with further items."""
    count, at = read_unsigned(vector, 0)
    return unsigned(count + len(items)) + vector[at:] + b"".join(items)


def _named(name: str, kind: int, number: int) -> bytes:
    return _sized(name.encode()) + bytes([kind]) + unsigned(number)


def _imported(name: str, kind: int, what: bytes) -> bytes:
    return _sized(FIRST.encode()) + _sized(name.encode()) + bytes([kind]) + what
