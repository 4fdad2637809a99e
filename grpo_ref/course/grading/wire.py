"""Encode values as lines, the only thing that passes between the judge and a student's process.

Replies are JSON with data only: numbers, text, containers and NumPy arrays. The judge unpickles nothing, so a
reply can be wrong but can never run code. The judge's requests are pickles, which the sandbox decodes
fastest. The student's process reads this file too, so it imports nothing but NumPy and the standard library.
"""

import base64
import contextlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from pickle import Pickler  # imported by name, so that student code cannot replace it
from pickle import loads as unpickle
from typing import Any, Literal, NamedTuple

import numpy as np

KIND = "kind"
DEEPEST = 32
"""Largest depth of nested lists that is sent. Decoding deeper ones would overflow the stack."""
LONGEST = 10_000
"""Largest number of bits of a whole number that is sent. Python refuses to print one of more than 4300
digits.
"""

LARGEST = 4 * 1024**2
"""Largest size of an array that is sent, in bytes."""
KINDS = "biufcU"
"""Kinds of dtype that are plain data."""
ARRAYS = (np.ndarray, np.generic)
ENCODER = json.JSONEncoder(allow_nan=False)
PROTOCOL = 4
"""Version of the pickle protocol. Later versions would make a copy of a read-only array read-only too."""
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Encoded(NamedTuple):
    """A value that is encoded already."""

    data: Any


def encoded(value: Any) -> Encoded:
    """Encode a value now; `dumps` then only writes it. Encoding may run code of the student's types."""
    return Encoded(_encode(value, DEEPEST - 4))  # the reply around the value is nested, too


class NotData(TypeError):
    """A value that is not plain data, so that it cannot be judged."""


def request(function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bytes:
    """Return the line that requests a call."""
    return base64.b64encode(packed((function, packed((tuple(arguments), dict(keywords))))))


def requested(line: str) -> tuple[str, bytes]:
    """Return the function that a line requests, and its packed arguments. Use it for the judge's own lines
    only.
    """
    function, given = unpickle(base64.b64decode(line))
    return function, given


def packed(value: Any) -> bytes:
    """Pickle a value without references between its parts, so that equal values have equal pickles."""
    file = io.BytesIO()
    pickler = Pickler(file, PROTOCOL)
    pickler.fast = True
    pickler.dump(value)
    return file.getvalue()


def unpacked(given: bytes) -> Arguments:
    """Return the positional and keyword arguments of a call."""
    arguments, keywords = unpickle(given)
    return arguments, keywords


def dumps(value: Any) -> str:
    """Encode a value as one line of JSON.

    Raises:
      NotData: if the value holds anything but numbers, text, None, lists, tuples, dicts and numeric arrays.
    """
    return ENCODER.encode(_encode(value))


def loads(line: str) -> Any:
    """Decode a line that `dumps` wrote.

    Raises:
      ValueError: if the line is anything else.
    """
    try:
        return _decode(json.loads(line), DEEPEST)
    except Exception as error:  # a hostile line finds its way to many: KeyError, RecursionError, SystemError
        raise _unknown(line) from error


def _encode(value: Any, depth: int = DEEPEST) -> Any:
    kind = type(value)
    if kind is Encoded:
        return value.data
    if kind is float:
        return value if math.isfinite(value) else {KIND: "float", "text": str(value)}
    if value is None or kind is bool or kind is str or (kind is int and value.bit_length() <= LONGEST):
        return value
    if issubclass(kind, ARRAYS):
        return _encode_array(value)
    if kind is complex:
        return {KIND: "complex", "parts": [_encode(value.real), _encode(value.imag)]}
    if depth == 0:
        raise NotData(f"a value with more than {DEEPEST} nested lists is not plain data")
    if issubclass(kind, list):
        return [_encode(item, depth - 1) for item in list.__iter__(value)]
    if issubclass(kind, tuple):  # a named tuple is sent as a tuple
        return {KIND: "tuple", "items": [_encode(item, depth - 1) for item in tuple.__iter__(value)]}
    if issubclass(kind, dict):
        pairs = dict.items(value)
        items = [[_encode(key, depth - 1), _encode(item, depth - 1)] for key, item in pairs]
        return {KIND: "dict", "items": items}
    huge = "a whole number of thousands of digits" if kind is int else ""
    raise NotData(f"{huge or f'a value of type {type(value).__name__}'} is not plain data")


def _encode_array(value: Any) -> Any:
    """Encode an array as its dtype, its shape and its bytes, in its memory order."""
    array = np.asarray(value)
    if array.dtype.kind == "O":  # np.frompyfunc and np.vectorize return arrays of Python numbers
        with contextlib.suppress(ValueError):
            array = np.array(array.tolist())
    if array.dtype.kind == "f" and array.itemsize > 8:  # how long doubles look differs between machines
        array = array.astype(np.float64)
    if array.dtype.kind not in KINDS:
        raise NotData(f"an array of dtype {array.dtype} is not plain data")
    if array.nbytes > LARGEST:
        raise NotData(f"an array of {array.nbytes} bytes is too large to be sent: at most {LARGEST} bytes")
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    data = {"dtype": array.dtype.str, "shape": array.shape, "order": order}
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return {KIND: kind, **data, "bytes": base64.b64encode(array.tobytes(order)).decode()}


def _decode(value: Any, depth: int) -> Any:
    if depth < 0:
        raise _unknown(value)
    if isinstance(value, list):
        return [_decode(item, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get(KIND):
        case "float":
            return float(value["text"])
        case "complex":
            return complex(*(_decode(part, 0) for part in value["parts"]))
        case "tuple":
            return tuple(_decode(item, depth - 1) for item in value["items"])
        case "dict":
            return {_decode(key, depth - 1): _decode(item, depth - 1) for key, item in value["items"]}
        case "array":
            return _decode_array(value)
        case "scalar":
            return _decode_array(value)[()]
    raise _unknown(value)


def _decode_array(value: Any) -> Any:
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in KINDS:
        raise _unknown(value)
    if math.prod(max(1, length) for length in value["shape"]) > LARGEST:
        raise _unknown(value)  # an array without entries can have axes of any length
    flat = np.frombuffer(base64.b64decode(value["bytes"]), dtype) if dtype.itemsize else np.zeros(0, dtype)
    array = flat.reshape(value["shape"], order=value["order"]).copy("K")
    if dtype.kind == "U":
        array.tolist()  # fails if the bytes are not text
    return array


def _unknown(value: Any) -> ValueError:
    return ValueError(f"expected a value that this program sent, got {str(value)[:80]}")
