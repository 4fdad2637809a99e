"""What passes between the judge and a student's process: data, and nothing else."""

import numpy as np
import pytest

from grpo_ref.course.grading import wire

DATA = [None, True, 3, 10**30, 0.1, -0.0, float("inf"), "text", [1, (2.0, "x")], {"a": [1.0]}, {1: 2}, 1 + 2j]

DATA += [
    np.arange(6.0).reshape(2, 3),
    np.float32(1.5),
    np.array([True]),
    np.array(["a", "b"]),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("value", DATA, ids=repr)
def test_data_travels_unchanged(value):
    back = wire.loads(wire.dumps(value))
    assert type(back) is type(value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value


@pytest.mark.parametrize(
    "value", [object(), np.array([object()]), lambda: 1, {1, 2}, type("F", (float,), {})(1.0)]
)
def test_what_is_no_data_does_not_travel(value):
    with pytest.raises(wire.NotData, match="is not plain data"):
        wire.dumps([value])


@pytest.mark.parametrize("line", ["", "{}", '{"kind": "code"}', "[", '{"kind": "array", "npy": "gASV"}'])
def test_what_is_no_line_of_ours_is_refused(line):
    with pytest.raises((ValueError, EOFError)):
        wire.loads(line)
