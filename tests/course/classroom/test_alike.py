"""Answers that are alike: copies in disguise are found, what everybody writes is not told of."""

import pytest

from grpo_ref.course.classroom.alike import FEWEST, LEAST, MOST, alike_pairs
from grpo_ref.course.classroom.fingerprints import fingerprints
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import model_answer
from grpo_ref.course.right_answers import right_answers
from grpo_ref.course.starters import starter_of

NAME = "kl/k3"
ODD = b"""
import numpy as np
def k3(log_probs, ref_log_probs):
    size = 17 * len(log_probs) // 3 + 41
    table = [divmod(size, n + 7) for n in range(5, 91, 6)]
    weights = {a: (b - 3) ** 2 for a, b in table if a % 4 != 1}
    return np.cumsum(np.sort(list(weights.values()))[::-2])[3:-1] / max(table)[1]
"""
DISGUISED = b'''
import numpy
def k3(a: list, b: list) -> list:
    """My own work."""
    s = 41 + len(a) * 17 // 3
    t = [divmod(s, 7 + i)
         for i in range(5, 91, 6)]  # a table
    w = {x: (y - 3) ** 2 for x, y in t if x % 4 != 1}
    return numpy.cumsum(numpy.sort(list(w.values()))[::-2])[3:-1] / max(t)[1]
'''


def styles(name):
    """Right answers in other styles, as bytes."""
    return [text.encode() for text in list(right_answers(PROBLEMS[name]).values())[1:]]


def test_a_disguised_copy_is_found_among_independent_answers():
    others = {f"student {number}": {NAME: text} for number, text in enumerate(styles(NAME))}
    (pair,) = alike_pairs({"zoe": {NAME: ODD}, "anna": {NAME: DISGUISED}, **others})
    assert pair.students == ("anna", "zoe")
    ((name, similarity, size),) = pair.matches
    assert (name, similarity) == (NAME, 1.0)
    assert size >= FEWEST


def test_a_part_of_an_answer_is_similar_by_its_share():
    """The copy lacks the last line, which is rarer than a quarter of the whole: it is not told of."""
    part = DISGUISED.rpartition(b"    return")[0]
    assert alike_pairs({"anna": {NAME: ODD}, "ben": {NAME: part}}) == []
    longer = ODD + b"    print('done', size)\n"
    ((match,),) = (pair.matches for pair in alike_pairs({"anna": {NAME: ODD}, "ben": {NAME: longer}}))
    assert LEAST <= match.similarity < 1.0


@pytest.mark.parametrize("name", ["kl/k3", "objective/grpo_loss", "clinic/falling_reward"])
def test_the_model_answer_and_the_starter_are_no_evidence(name):
    for text in (model_answer(name), starter_of(name)):
        assert alike_pairs({student: {name: text.encode()} for student in ("anna", "ben", "carol")}) == []


def test_what_more_than_a_few_write_is_no_evidence():
    others = {f"student {number}": {NAME: f"def k3(a): return {number}".encode()} for number in range(100)}
    few = {f"copyist {number:02}": {NAME: ODD} for number in range(MOST)}
    assert len(alike_pairs(others | few)) == MOST * (MOST - 1) // 2
    assert alike_pairs(others | few | {"one more": {NAME: DISGUISED}}) == []


def test_pairs_with_more_in_common_come_first():
    second = ODD.replace(b"k3", b"entropy").replace(b"41", b"43")
    both, one = {NAME: ODD, "probabilities/entropy": second}, {NAME: ODD.replace(b"3", b"4")}
    found = alike_pairs({"yan": both, "zoe": both, "anna": one, "ben": one, "eve": {NAME: b"def k3("}})
    assert [pair.students for pair in found] == [("yan", "zoe"), ("anna", "ben")]
    assert {match.exercise for match in found[0].matches} == set(both)
    assert found[0].evidence > found[1].evidence


def test_the_weight_of_what_two_share_is_one():
    """Two of 2 + 7 answers have it: log(9 / 2) / log(9 / 2); the size is then the number of fingerprints."""
    expected = fingerprints(model_answer(NAME).encode()) | fingerprints(starter_of(NAME).encode())
    ours = fingerprints(ODD) - expected
    assert not any(ours & fingerprints(text) for text in styles(NAME))
    (pair,) = alike_pairs({"anna": {NAME: ODD}, "ben": {NAME: DISGUISED}})
    assert pair.matches[0].size == len(ours)


def test_what_a_right_answer_has_counts_less():
    """Three of 2 + 7 have it: log(9 / 3) / log(9 / 2) instead of 1."""
    name = "training/train_language"
    expected = fingerprints(model_answer(name).encode()) | fingerprints(starter_of(name).encode())
    for text in styles(name):
        for pair in alike_pairs({"anna": {name: text}, "ben": {name: text}}):
            assert pair.matches[0].size < 0.9 * len(fingerprints(text) - expected)
