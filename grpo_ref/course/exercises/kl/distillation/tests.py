"""The tests of `kl/distillation`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import with_teacher
from grpo_ref.course.author import Case, Domain, Holds, Mask, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "advantages": Real("N", (-10, 10), meaning="A, the advantage of each completion"),
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, -0.01), (-30, 0), (-1000, 0)),
            padding="mask",
            meaning="log π of each token, in nats",
        ),
        "teacher_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-1, 1), (-1e-3, 1e-3), (-30, 30), (-1000, 1000)),
            near="log_probs",
            padding="mask",
            meaning="log π_teacher of the same tokens",
        ),
        "mask": Mask("N T"),
        "coef": Scalar(1.0, (0, 10), usual=((0.1, 2),), at=(0, 1), meaning="weight of the log-ratio"),
        "limit": Scalar(
            5.0,
            (0.01, 1000),
            usual=((0.1, 10),),
            at=(1,),
            meaning="bound on the absolute log-ratio, in nats",
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


def _has_the_opposite_sign(f):
    there = np.asarray(f(0 * ADVANTAGES, STUDENT, TEACHER, MASK))
    back = np.asarray(f(0 * ADVANTAGES, TEACHER, STUDENT, MASK))
    same = np.allclose(there, -back)
    return None if same else "if student and teacher are exchanged, the sign should change"


CHECKS = (
    Case(
        "Two completions, with the defaults",
        (
            [1.0, -0.5],
            [[-1.0, -2.0, -3.0], [-0.5, -9.0, -1.0]],
            [[-1.5, -0.5, -3.0], [-0.5, -1.0, -2.0]],
            [[1, 1, 1], [1, 1, 0]],
        ),
        np.array([[0.5, 2.5, 1.0], [-0.5, 4.5, 0.0]]),
        why=(
            "The log-ratios of the first completion are -0.5, 1.5 and 0, each added to 1. The second completion"
            " has 0 and 8; the 8 becomes 5, and -0.5 + 5 = 4.5. The last token is padding."
        ),
        shown=True,
    ),
    Case(
        "First the limit, then the weight",
        ([0.0, 6.0], [[-9.0, -1.0], [-1.0, -1.0]], [[-1.0, -9.0], [-1.5, -1.0]], [[1, 1], [1, 1]]),
        np.array([[6.0, -6.0], [5.0, 6.0]]),
        why=(
            "The log-ratios 8 and -8 become 3 and -3, and twice these values are 6 and -6. The second completion"
            " has -0.5 and 0: 6 - 1 = 5, and 6, which is above 3 because the limit does not apply to it."
        ),
        keywords={"coef": 2.0, "limit": 3.0},
        shown=True,
    ),
    Case(
        "Arrays, with the defaults",
        (ADVANTAGES, STUDENT, TEACHER, MASK),
        np.array([[0.5, 2.5, 1.0], [-0.5, 2.5, 0.0]]),
        why="The log-ratios of the second completion are 0 and -1 + 4 = 3. Its last token is padding.",
    ),
    Case(
        "Padding may hold anything",
        ([2.0], [[np.nan, -1.0, -np.inf]], [[-1.0, -2.0, -np.inf]], [[0, 1, 0]], 0.5),
        np.array([[0.0, 1.5, 0.0]]),
        why="There is one token, with the log-ratio -1: 2 - 0.5 = 1.5. Padding gets 0.",
    ),
    Case(
        "No teacher",
        (ADVANTAGES, STUDENT, TEACHER, MASK, 0.0),
        np.array([[1.0, 1.0, 1.0], [-0.5, -0.5, 0.0]]),
        why="`coef` is 0, so each token has the advantage of its completion.",
    ),
    Case(
        "A completion without tokens",
        ([3.0, 1.0], [[-1.0, -1.0], [-2.0, -2.0]], [[-1.0, -1.0], [-1.0, -3.0]], [[0, 0], [1, 1]]),
        np.array([[0.0, 0.0], [2.0, 0.0]]),
        why="The first row is padding. The second row has 1 + 1 and 1 - 1.",
    ),
    Case(
        "Integers and truth values",
        ([1, 0], [[-2, -1], [-1, -3]], [[-1, -1], [-2, -1]], np.array([[True, True], [True, False]])),
        np.array([[2.0, 1.0], [-1.0, 0.0]]),
        why="The log-ratios of the tokens are 1 and 0 in the first row, and -1 in the second.",
    ),
    Holds("A teacher that agrees", _agrees, why="log π_teacher - log π is 0 for every token."),
    Holds("Student and teacher exchanged", _has_the_opposite_sign, why="The log-ratio changes its sign."),
    Unchanged((ADVANTAGES, STUDENT, TEACHER, MASK)),
)
