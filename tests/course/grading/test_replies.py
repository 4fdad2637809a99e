"""Whatever comes out of a backend, the judge has a reply: right data, or a failure that says so."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading import wire
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.sandbox import Reply, Sandbox
from grpo_ref.course.grading.sandbox_interface import Answer

KEYS = st.sampled_from(
    "ok value warnings kinds message lines kind items dtype shape bytes order text parts".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | KEYS, inner, max_size=5)
    ),
    max_leaves=12,
)
LINES = st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode())


class Scripted:
    """A backend that sends a given line."""

    protection = ""

    def __init__(self, line):
        self.line, self.ended = line, 0

    def begin(self):
        """It is open at once."""

    def wait(self):
        return Answer()

    def load(self, source, seconds):
        return Answer(wire.dumps({"ok": True, "value": (["answer"], None), "warnings": []}).encode())

    def ask(self, request, seconds):
        return Answer(self.line)

    def ask_together(self, requests, seconds):
        return Answer(self.line)

    def last_words(self):
        return "gone"

    def end(self):
        self.ended += 1

    def leave(self):
        """There is nothing to close."""


def asked(line):
    """The reply to one call, and those to three together, from a backend that says this."""
    backend = Scripted(line)
    path = Path(__file__)
    with Sandbox(path, make_room=lambda submission, limits: backend) as sandbox:
        sandbox.load()
        together = sandbox.call_together("answer", [((1,), {})] * 3)
        if not together:
            sandbox.load()
        return sandbox.call("answer", (1,), {}), together


@given(LINES)
@settings(max_examples=600, deadline=None)
def test_any_line_gives_a_reply(line):
    reply, together = asked(line)
    for each in (reply, *together):
        assert isinstance(each, Reply)
        assert isinstance(each.message, str)
        assert all(isinstance(text, str) for text in (*each.kinds, *each.lines, *each.warnings))
    assert len(together) in (0, 3)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"kind": "array", "dtype": "O", "shape": [1], "order": "C", "bytes": ""}',
        b'{"kind": "dict", "items": [["ok", true], ["value", 3], ["warnings", []]]}',
        b'{"kind": "dict", "items": [["ok", "yes"], ["warnings", []]]}',
    ],
)
def test_a_line_that_is_no_reply_is_told(line):
    reply, together = asked(line)
    assert (reply.ok, reply.message) == (False, "the process sent something that is not a reply")
    assert together == []


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        (Limits(values=1000), wire.dumps([[]] * 300)),
        (Limits(received=1000), wire.dumps("x" * 600)),
        (Limits(values=1000), '{"kind": "tuple", "items": [' + "[]," * 300 + "[]]}"),
    ],
)
def test_all_replies_together_have_a_limit(limits, line):
    """The first one fits. Of the second one nothing is decoded, and from then on nothing is asked."""
    one = f'{{"kind": "dict", "items": [["ok", true], ["warnings", []], ["value", [{line}, null]]]}}'
    backend = Scripted(one.encode())
    with Sandbox(Path(__file__), limits, make_room=lambda *_: backend) as sandbox:
        sandbox.load()
        first, second, third = (sandbox.call("answer", (1,), {}) for _ in range(3))
        assert sandbox.call_together("answer", [((1,), {})]) == []
    assert (first.ok, second.ok, third.ok) == (True, False, False)
    assert second.message == third.message == "the returned value is too large"


def test_an_array_without_entries_has_no_axis_of_any_length():
    """Converted to lists, it would become a billion empty lists."""
    line = '{"kind": "array", "dtype": "<U1", "shape": [1000000000, 0], "order": "C", "bytes": ""}'
    with pytest.raises(ValueError, match="expected a value that this program sent"):
        wire.loads(line)
    assert wire.loads(line.replace("1000000000", "3")).shape == (3, 0)


def test_an_array_among_the_names_of_a_file_is_passed_over():
    class Forged(Scripted):
        def load(self, source, seconds):
            names = [np.zeros(3), "answer", 7]
            return Answer(wire.dumps({"ok": True, "value": (names, None), "warnings": []}).encode())

    with Sandbox(Path(__file__), make_room=lambda *_: Forged(b"")) as sandbox:
        report = grade(PROBLEMS["kl/k3"], sandbox)
    assert report.results[0].name == "The function is there"


def test_too_few_replies_are_none():
    one = wire.dumps({"ok": True, "value": (5, None), "warnings": []})
    assert asked(f"[{one}]".encode())[1] == []
    assert [reply.value for reply in asked(f"[{one},{one},{one}]".encode())[1]] == [5, 5, 5]
