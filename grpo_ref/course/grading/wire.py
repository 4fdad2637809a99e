"""Values as lines of JSON, the only thing that passes between the judge and a student's process.

Data only: numbers, text, containers and NumPy arrays. Nothing is unpickled, so a reply can be wrong but
never run. This file is read by the child process too and imports nothing but NumPy and the standard
library.
"""

import base64
import io
import json
import math
from typing import Any

import numpy as np

KIND = "kind"


class NotData(TypeError):
    """A value that is not plain data, and so cannot be judged."""


def dumps(value: Any) -> str:
    """One line of JSON for a value.

    Raises:
      NotData: if the value holds anything but numbers, text, None, lists, tuples, dicts and numeric arrays.
    """
    return json.dumps(_encode(value), allow_nan=False)


def loads(line: str) -> Any:
    """The value of a line that `dumps` wrote.

    Raises:
      ValueError: if the line is anything else.
    """
    return _decode(json.loads(line))


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        return {KIND: "int", "text": str(value)}
    if type(value) is float:
        return value if math.isfinite(value) else {KIND: "float", "text": str(value)}
    if type(value) in (list, tuple):
        return {KIND: type(value).__name__, "items": [_encode(item) for item in value]}
    if type(value) is dict:
        return {KIND: "dict", "items": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return _encode_array(value)
    if type(value) is complex:
        return {KIND: "complex", "parts": [_encode(value.real), _encode(value.imag)]}
    raise NotData(f"a value of type {type(value).__name__} is not plain data")


def _encode_array(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in "biufcU":
        raise NotData(f"an array of dtype {array.dtype} is not plain data")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return {KIND: kind, "npy": base64.b64encode(buffer.getvalue()).decode()}


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    match value.get(KIND):
        case "int":
            return int(value["text"])
        case "float":
            return float(value["text"])
        case "complex":
            return complex(*map(_decode, value["parts"]))
        case "list":
            return [_decode(item) for item in value["items"]]
        case "tuple":
            return tuple(_decode(item) for item in value["items"])
        case "dict":
            return {_decode(key): _decode(item) for key, item in value["items"]}
        case "array" | "scalar" as kind:
            buffer = io.BytesIO(base64.b64decode(value["npy"]))
            array = np.load(buffer, allow_pickle=False)
            return array if kind == "array" else array[()]
    raise ValueError(f"not a value that was sent by this program: {str(value)[:80]}")
