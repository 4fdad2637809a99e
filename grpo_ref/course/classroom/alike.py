"""Find answers of different students that are more alike than independent ones: evidence to look at, not a
verdict.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from itertools import combinations
from typing import NamedTuple

from grpo_ref.course.classroom.fingerprints import LARGEST, fingerprints
from grpo_ref.course.classroom.handed_in import Delivery
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.right_answers import right_answers
from grpo_ref.course.starters import starter_of

FEWEST = 15.0
"""Smallest number of rare fingerprints that two answers must share. Shorter answers are alike by chance."""
LEAST = 0.75
"""Smallest similarity of two answers that is reported."""
MOST = 20
"""Largest number of students who may share a fingerprint; one that more students share is ignored."""
Prints = Mapping[str, Set[int]]
"""Student -> fingerprints of the answer to one exercise."""


class Match(NamedTuple):
    """Two answers to one exercise that are alike.

    Attributes:
      exercise: id of the exercise.
      similarity: the weight of the fingerprints that both answers share, divided by the weight of the larger
        answer; from 0 to 1.
      size: weight of the shared fingerprints, where the rarest ones weigh 1; roughly a number of nodes of the
        syntax tree.
    """

    exercise: str
    similarity: float
    size: float


class Alike(NamedTuple):
    """Two students with answers that are alike.

    Attributes:
      students: their names.
      matches: the exercises, the most suspicious first.
    """

    students: tuple[str, str]
    matches: tuple[Match, ...]

    @property
    def evidence(self) -> float:
        """Amount of evidence: the sum of the sizes, each times its similarity."""
        return sum(match.size * match.similarity for match in self.matches)


def alike_pairs(answers: Mapping[str, Mapping[str, bytes]]) -> list[Alike]:
    """Return the pairs of students with answers that are alike, the pair with the most evidence first.

    Fingerprints of the starter or of the model answer are ignored. Fingerprints that many answers of the
    class, or of the right answers in other styles, have count little. Answers that cannot be parsed are
    skipped.

    Args:
      answers: student -> id of an exercise -> text of the answer.
    """
    found: dict[tuple[str, str], list[Match]] = defaultdict(list)
    names = dict.fromkeys(name for texts in answers.values() for name in texts)
    for name in names:
        prints = _fingerprints(name, answers)
        for pair, match in _matches(name, prints, _weights(name, prints)):
            found[pair].append(match)
    pairs = [Alike(pair, tuple(sorted(found[pair], key=_suspicion))) for pair in found]
    return sorted(pairs, key=lambda pair: (-pair.evidence, pair.students))


def comparable(delivery: Delivery) -> dict[str, bytes]:
    """Read a student's files, and return the answers that are not too long to be compared."""
    answers = delivery.read().answers
    return {name: text for name, text in answers.items() if len(text) <= LARGEST}


def _suspicion(match: Match) -> float:
    return -match.size * match.similarity


def _fingerprints(name: str, answers: Mapping[str, Mapping[str, bytes]]) -> Prints:
    """Return the fingerprints of every student's answer to an exercise. Equal texts are parsed once."""
    texts = {student: answers[student][name] for student in sorted(answers) if name in answers[student]}
    known = {text: fingerprints(text) for text in set(texts.values())}
    return {student: known[text] for student, text in texts.items()}


def _weights(name: str, prints: Prints) -> dict[int, float]:
    """Return the weight of each shared fingerprint: 1 if no other answer has it, 0 if it is to be expected.

        w = log(N / n) / log(N / 2),    n of N answers have it

    Args:
      name: id of the exercise, whose right answers count as answers of the class.
      prints: fingerprints of the class.
    """
    model, *others = (fingerprints(text.encode()) for text in right_answers(PROBLEMS[name]).values())
    expected = model | fingerprints(starter_of(name).encode())
    students = Counter(each for found in prints.values() for each in found)
    number, elsewhere = len(prints) + len(others), Counter(each for found in others for each in found)
    return {
        each: math.log(number / max(2, count + elsewhere[each])) / math.log(number / 2)
        for each, count in students.items()
        if each not in expected and count + elsewhere[each] < number and count <= MOST
    }


def _matches(
    name: str, prints: Prints, weights: Mapping[int, float]
) -> Iterator[tuple[tuple[str, str], Match]]:
    """Yield the pairs of students whose answers to an exercise are alike."""
    whole = {student: sum(weights.get(each, 0.0) for each in found) for student, found in prints.items()}
    for (left, right), size in _shared(prints, weights).items():
        similarity = size / max(whole[left], whole[right])
        if size >= FEWEST and similarity >= LEAST:
            yield (left, right), Match(name, min(1.0, round(similarity, 3)), round(size, 1))


def _shared(prints: Prints, weights: Mapping[int, float]) -> Mapping[tuple[str, str], float]:
    """Return the weight of the fingerprints that each two students share. Pairs that share nothing are not
    compared.
    """
    holders: dict[int, list[str]] = defaultdict(list)
    for student, found in prints.items():
        if sum(weights.get(each, 0.0) for each in found) >= FEWEST:
            for each in found & weights.keys():
                holders[each].append(student)
    shared: dict[tuple[str, str], float] = defaultdict(float)
    for each, students in holders.items():
        for pair in combinations(students, 2):
            shared[pair] += weights[each]
    return shared
