"""Fingerprints: what a disguise changes makes no difference, what an answer does makes one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.course.classroom.fingerprints import LARGEST, fingerprints

ANSWER = b"""
import numpy as np


def k3(log_probs, ref_log_probs):
    total, count = 0.0, 1 + len(log_probs)
    v = np.asarray(log_probs, dtype=float) - ref_log_probs
    for value in v:
        total += 2.5 * np.expm1(-value)
    return total / count
"""
SAME = {
    "other names": ANSWER.replace(b"total", b"acc").replace(b"log_probs", b"lp").replace(b"value", b"x"),
    "another name of a module": ANSWER.replace(b"np", b"num"),
    "functions by their own names": ANSWER.replace(
        b"import numpy as np", b"from numpy import asarray, expm1 as e"
    )
    .replace(b"np.expm1", b"e")
    .replace(b"np.asarray", b"asarray"),
    "comments, lines and a docstring": ANSWER.replace(b"    v =", b'    "words"  # more\n\n    v = \\\n  '),
    "type hints": ANSWER.replace(b"ref_log_probs):", b"ref_log_probs: list) -> float:").replace(
        b"    v =", b"    v: np.ndarray ="
    ),
    "statements in another order": b"\n".join(
        [*ANSWER.splitlines()[:5], *reversed(ANSWER.splitlines()[5:7]), *ANSWER.splitlines()[7:]]
    ),
    "operands in another order": ANSWER.replace(b"2.5 * np.expm1(-value)", b"np.expm1(-value) * 2.5"),
    "a sum in full": ANSWER.replace(b"total += 2.5", b"total = total + 2.5"),
}
OTHER = {
    "another constant": ANSWER.replace(b"2.5", b"3.5"),
    "another function": ANSWER.replace(b"expm1", b"exp"),
    "another operator": ANSWER.replace(b"dtype=float) - ref", b"dtype=float) + ref"),
    "another variable": ANSWER.replace(b"return total / count", b"return total / total"),
    "another keyword": ANSWER.replace(b"dtype=float", b"order=float"),
}
HOSTILE = {
    "no Python": b"def k3(",
    "null bytes": b"x = 1\x00",
    "another encoding": b"\xff\xfe\x00",
    "1 MiB": b"x = 1\n" * 2**18,
    "a deep sum": b"x = 1" + b"+1" * (LARGEST // 2 - 10),
    "deep brackets": b"x = " + b"(" * 5000 + b")" * 5000,
    "deep signs": b"x = " + b"-" * 30_000 + b"1",
    "deep blocks": b"".join(b" " * depth + b"if 1:\n" for depth in range(150)) + b" " * 150 + b"pass",
    "an escape that Python warns of": b"x = '\\d'",
    "a number that cannot be written": b"x = 0x" + b"f" * 20_000,
    "nothing": b"",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_a_disguise_makes_no_difference(text):
    assert text != ANSWER
    assert fingerprints(text) == fingerprints(ANSWER)


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_what_an_answer_does_makes_a_difference(text):
    assert text != ANSWER
    assert fingerprints(text) != fingerprints(ANSWER)


def test_a_statement_of_n_nodes_has_n_minus_five_runs():
    """Assign, x, Add, Sub, y, 1, x: seven nodes and so two runs of six."""
    assert len(fingerprints(b"x = x + (y - 1)")) == 2
    assert len(fingerprints(b"x = y")) == 1
    assert fingerprints(b"'words'\nimport numpy\npass\nx: int") == frozenset()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_makes_it_fail(text):
    assert isinstance(fingerprints(text), frozenset)


def test_what_is_too_large_is_left_out_and_what_python_warns_of_is_not():
    assert fingerprints(HOSTILE["1 MiB"]) == frozenset()
    assert fingerprints(HOSTILE["an escape that Python warns of"])


@given(st.binary(max_size=60) | st.text(alphabet="def x():\n=+-[]'\\#1.,", max_size=60).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_any_bytes_have_some_or_none(text):
    assert isinstance(fingerprints(text), frozenset)
