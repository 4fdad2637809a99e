"""The tests of `kl/distillation`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import with_teacher
from grpo_ref.course.author import Case, Domain, Holds, Mask, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "advantages": Real("N", (-10, 10), meaning="the advantage of each completion from its reward"),
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, -0.01), (-30, 0), (-1000, 0)),
            padding="mask",
            meaning="log π of each sampled token under the student, in nats",
        ),
        "teacher_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-1, 1), (-1e-3, 1e-3), (-30, 30), (-1000, 1000)),
            near="log_probs",
            padding="mask",
            meaning="log π of the same tokens under the teacher",
        ),
        "mask": Mask("N T"),
        "coef": Scalar(1.0, (0, 10), usual=((0.1, 2),), at=(0, 1), meaning="weight of the teacher"),
        "limit": Scalar(
            5.0, (0.01, 1000), usual=((0.1, 10),), at=(1,), meaning="limit of the log-ratio, in nats"
        ),
    },
    sizes={"N": (1, 4), "T": (1, 6)},
    large={"N": 40, "T": 200},
)


def reference(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    rewarded, student, teacher = (
        np.asarray(x, dtype=float) for x in (advantages, log_probs, teacher_log_probs)
    )
    return with_teacher(
        rewarded[:, None] + np.zeros_like(student),
        student,
        student,
        student,
        teacher,
        np.asarray(mask) > 0,
        coef=coef,
        max_log_ratio=limit,
    )


ADVANTAGES = np.array([1.0, -0.5])

STUDENT = np.array([[-1.0, -2.0, -3.0], [-0.5, -4.0, -1.0]])

TEACHER = np.array([[-1.5, -0.5, -3.0], [-0.5, -1.0, -2.0]])

MASK = np.array([[1, 1, 1], [1, 1, 0]])


def _agrees(f):
    same = np.allclose(f(ADVANTAGES, STUDENT, STUDENT, MASK), ADVANTAGES[:, None] * MASK, atol=1e-12)
    return None if same else "a teacher that agrees with the student should change no advantage"


def _swapped(f):
    there = np.asarray(f(0 * ADVANTAGES, STUDENT, TEACHER, MASK))
    back = np.asarray(f(0 * ADVANTAGES, TEACHER, STUDENT, MASK))
    return (
        None if np.allclose(there, -back) else "student and teacher exchanged should give the opposite sign"
    )


CHECKS = (
    Case(
        "One good and one bad completion",
        (ADVANTAGES, STUDENT, TEACHER, MASK),
        np.array([[0.5, 2.5, 1.0], [-0.5, 2.5, 0.0]]),
        why=(
            "The log-ratios of the first completion are -1.5 + 1 = -0.5, -0.5 + 2 = 1.5 and 0, each added to 1."
            " Those of the second are 0 and -1 + 4 = 3, added to -0.5. Its last token is padding."
        ),
        shown=True,
    ),
    Case(
        "The limit, then the weight",
        (
            [0.0, 6.0],
            [[-9.0, -1.0], [-1.0, -1.0]],
            [[-1.0, -9.0], [-1.5, -1.0]],
            [[1, 1], [1, 1]],
            2.0,
            3.0,
        ),
        np.array([[6.0, -6.0], [5.0, 6.0]]),
        why=(
            "The log-ratios 8 and -8 become 3 and -3, and twice these are 6 and -6. In the second completion they"
            " are -0.5 and 0: 6 - 1 = 5, and 6, which is above 3, because the limit is that of the log-ratio."
        ),
        shown=True,
    ),
    Case(
        "Padding may hold anything",
        ([2.0], [[np.nan, -1.0, -np.inf]], [[-1.0, -2.0, -np.inf]], [[0, 1, 0]], 0.5),
        np.array([[0.0, 1.5, 0.0]]),
        why="one token, with the log-ratio -1: 2 - 0.5 = 1.5",
    ),
    Case(
        "No teacher",
        (ADVANTAGES, STUDENT, TEACHER, MASK, 0.0),
        np.array([[1.0, 1.0, 1.0], [-0.5, -0.5, 0.0]]),
        why="coef is 0",
    ),
    Case(
        "A completion without tokens",
        ([3.0, 1.0], [[-1.0, -1.0], [-2.0, -2.0]], [[-1.0, -1.0], [-1.0, -3.0]], [[0, 0], [1, 1]]),
        np.array([[0.0, 0.0], [2.0, 0.0]]),
        why="nothing in the first row; 1 + 1 and 1 - 1 in the second",
    ),
    Case(
        "Whole numbers and truth values",
        ([1, 0], [[-2, -1], [-1, -3]], [[-1, -1], [-2, -1]], np.array([[True, True], [True, False]])),
        np.array([[2.0, 1.0], [-1.0, 0.0]]),
        why="log-ratios 1 and 0, then -1",
    ),
    Case(
        "300 tokens",
        ([1.0], np.full((1, 300), -2.0), np.full((1, 300), -1.0), np.ones((1, 300))),
        np.full((1, 300), 2.0),
        why="1 + 1 for every token",
    ),
    Case(
        "300 completions",
        (np.ones(300), np.full((300, 1), -2.0), np.full((300, 1), -1.5), np.ones((300, 1))),
        np.full((300, 1), 1.5),
        why="1 + 0.5 for every token",
    ),
    Holds("A teacher that agrees", _agrees, why="log π_teacher - log π is 0"),
    Holds("Exchanged roles", _swapped, why="the log-ratio changes its sign"),
    Unchanged((ADVANTAGES, STUDENT, TEACHER, MASK)),
)
