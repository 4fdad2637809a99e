"""A teacher for every token."""

from typing import Any

import numpy as np

from grpo_ref.advantages import with_teacher
from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain

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


def _reference(
    advantages: Any, log_probs: Any, teacher_log_probs: Any, mask: Any, coef: float = 1.0, limit: float = 5.0
) -> Any:
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


def _answer(combine: Any = None, log_ratio: Any = None, hide: Any = None) -> Function:
    """Return an answer with another log-ratio, another sum of both parts, or another treatment of the padding."""

    def answer(
        advantages: Any,
        log_probs: Any,
        teacher_log_probs: Any,
        mask: Any,
        coef: float = 1.0,
        limit: float = 5.0,
    ) -> Any:
        present = np.asarray(mask) > 0
        student, teacher = (
            np.where(present, np.asarray(x, dtype=float), 0.0) for x in (log_probs, teacher_log_probs)
        )
        d = (log_ratio or _limited)(student, teacher, limit)
        rewarded = np.asarray(advantages, dtype=float)[:, None] + np.zeros_like(d)
        combined = (combine or _sum)(rewarded, d, coef, present)
        return (hide or _hidden)(combined, present)

    return answer


def _limited(student: Floats, teacher: Floats, limit: float) -> Any:
    return np.clip(teacher - student, -limit, limit)


def _sum(rewarded: Floats, d: Floats, coef: float, present: Bools) -> Any:
    return rewarded + coef * d


def _hidden(combined: Floats, present: Bools) -> Any:
    return np.where(present, combined, 0.0)


def _mean_over(d: Floats, present: Bools) -> Any:
    count = np.maximum(present.sum(-1, keepdims=True), 1)
    return np.where(present, d, 0.0).sum(-1, keepdims=True) / count


def _to_come(d: Floats, present: Bools) -> Any:
    return np.cumsum(np.where(present, d, 0.0)[:, ::-1], -1)[:, ::-1]


def _masked_by_product(
    advantages: Any, log_probs: Any, teacher_log_probs: Any, mask: Any, coef: float = 1.0, limit: float = 5.0
) -> Any:
    d = np.clip(np.asarray(teacher_log_probs, float) - np.asarray(log_probs, float), -limit, limit)
    return (np.asarray(advantages, float)[:, None] + coef * d) * np.asarray(mask)


def _limited_last(
    advantages: Any, log_probs: Any, teacher_log_probs: Any, mask: Any, coef: float = 1.0, limit: float = 5.0
) -> Any:
    whole = _reference(advantages, log_probs, teacher_log_probs, mask, coef, 1e9)
    return np.clip(whole, -limit, limit)


def _limited_after_the_weight(
    advantages: Any, log_probs: Any, teacher_log_probs: Any, mask: Any, coef: float = 1.0, limit: float = 5.0
) -> Any:
    nothing = np.zeros(len(np.asarray(advantages)))
    taught = np.clip(_reference(nothing, log_probs, teacher_log_probs, mask, coef, 1e9), -limit, limit)
    rewarded = np.asarray(advantages, dtype=float)[:, None]
    return np.where(np.asarray(mask) > 0, rewarded + taught, 0.0)


def _of_size(most: int, axis: int) -> Function:
    """Return an answer that is right for the first entries along one axis, and 0 for the rest."""

    def answer(*given: Any, **named: Any) -> Any:
        whole = _reference(*given, **named)
        places = np.arange(whole.shape[axis]) < most
        return np.where(places if axis else places[:, None], whole, 0.0)

    return answer


ADVANTAGES = np.array([1.0, -0.5])
STUDENT = np.array([[-1.0, -2.0, -3.0], [-0.5, -4.0, -1.0]])
TEACHER = np.array([[-1.5, -0.5, -3.0], [-0.5, -1.0, -2.0]])
MASK = np.array([[1, 1, 1], [1, 1, 0]])


def _agrees(f: Function) -> str | None:
    same = np.allclose(f(ADVANTAGES, STUDENT, STUDENT, MASK), ADVANTAGES[:, None] * MASK, atol=1e-12)
    return None if same else "a teacher that agrees with the student should change no advantage"


def _swapped(f: Function) -> str | None:
    there = np.asarray(f(0 * ADVANTAGES, STUDENT, TEACHER, MASK))
    back = np.asarray(f(0 * ADVANTAGES, TEACHER, STUDENT, MASK))
    return (
        None if np.allclose(there, -back) else "student and teacher exchanged should give the opposite sign"
    )


PROBLEM = Problem(
    id="kl/distillation",
    title="A teacher for every token",
    function="distilled_advantages",
    reference=_reference,
    background=(
        "The student, the language model in training, has written some completions. A reward says whether a"
        " completion as a whole is good, and all tokens of the completion share its advantage. A teacher, a better"
        " model, can say more: it reads the completion and gives each token a probability. A token that the teacher"
        " finds more likely than the student does was a better choice than the student knew. This is on-policy"
        " distillation. The mean of log π - log π_teacher over the student's own tokens is the KL from the student"
        " to the teacher, so these advantages make the student more like its teacher."
    ),
    task=(
        "Write `distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0)`. The"
        " advantage of token t of completion i is\n\n"
        "    dᵢₜ = log π_teacher - log π      limited to the range from -limit to limit\n"
        "    Âᵢₜ = Aᵢ + coef dᵢₜ\n\n"
        "Where `mask` is 0 there is no token: the advantage is 0, and the log-probabilities there never matter, be"
        " they numbers, NaN or infinity."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, T) advantages, one per token.",
    constraints=(
        "The limit holds for the log-ratio dᵢₜ alone. It is applied before dᵢₜ is multiplied by coef, and"
        " Âᵢₜ itself has no limit.\n"
        "With coef = 0, every token has the advantage of its completion. A completion without tokens gets 0"
        " everywhere."
    ),
    notes=(
        "slime, miles, ms-swift, ROLL and Tinker's cookbook add the teacher in this way, with a coefficient of 1. Most"
        " of them have no limit; rLLM's example uses 5. NeMo-RL and RLinf leave out Aᵢ, so that the teacher is the only"
        " signal. In `policy_loss` this is the recipe `opd_rl`, and without Aᵢ it is `opd`."
    ),
    kernel="grpo_ref.advantages.with_teacher",
    source="slime `apply_opd_kl_to_advantages`; MiMo-V2-Flash, eq. 8 (arXiv:2601.02780).",
    hints=(
        "Should a token that the teacher finds more likely than the student get a higher or a lower advantage?",
        "np.clip limits the log-ratio, advantages[:, None] gives each token its completion's advantage, and np.where"
        " hides the padding.",
        "d = np.clip(teacher_log_probs - log_probs, -limit, limit); np.where(mask > 0, advantages[:, None] + coef * d,"
        " 0.0)",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "student minus teacher",
            _answer(log_ratio=lambda s, t, limit: np.clip(s - t, -limit, limit)),
            "The log-ratio has the wrong sign: the student would flee from its teacher.",
        ),
        Mutant(
            "subtracted",
            _answer(combine=lambda a, d, c, m: a - c * d),
            "coef d is subtracted; it is added.",
        ),
        Mutant(
            "probabilities for logarithms",
            _answer(log_ratio=lambda s, t, limit: np.clip(np.exp(t) - np.exp(s), -limit, limit)),
            "This is the difference of the probabilities, not of their logarithms.",
        ),
        Mutant(
            "the ratio",
            _answer(log_ratio=lambda s, t, limit: np.clip(np.exp(np.clip(t - s, -700, 700)), -limit, limit)),
            "This is the ratio of the probabilities, not its logarithm.",
        ),
        Mutant(
            "absolute",
            _answer(log_ratio=lambda s, t, limit: np.clip(abs(t - s), -limit, limit)),
            "The sign of the log-ratio is lost.",
        ),
        Mutant(
            "negative part alone",
            _answer(log_ratio=lambda s, t, limit: np.clip(t - s, -limit, 0.0)),
            "Only tokens that the teacher finds less likely count.",
        ),
        Mutant(
            "positive part alone",
            _answer(log_ratio=lambda s, t, limit: np.clip(t - s, 0.0, limit)),
            "Only tokens that the teacher finds more likely count.",
        ),
        Mutant(
            "no limit",
            _answer(log_ratio=lambda s, t, limit: t - s),
            "The log-ratio is not limited.",
        ),
        Mutant(
            "limited above alone",
            _answer(log_ratio=lambda s, t, limit: np.minimum(t - s, limit)),
            "The log-ratio is not limited below.",
        ),
        Mutant(
            "limited below alone",
            _answer(log_ratio=lambda s, t, limit: np.maximum(t - s, -limit)),
            "The log-ratio is not limited above.",
        ),
        Mutant(
            "dropped beyond the limit",
            _answer(log_ratio=lambda s, t, limit: np.where(abs(t - s) > limit, 0.0, t - s)),
            "A log-ratio beyond the limit becomes 0; it becomes the limit.",
        ),
        Mutant(
            "limit fixed",
            _answer(log_ratio=lambda s, t, limit: np.clip(t - s, -5.0, 5.0)),
            "limit is not used.",
        ),
        Mutant(
            "the sum is limited",
            _limited_last,
            "The limit is applied to the advantage as a whole; it belongs to the log-ratio.",
        ),
        Mutant(
            "limited after the weight",
            _limited_after_the_weight,
            "coef d is limited; the limit comes before the weight.",
        ),
        Mutant(
            "log-probabilities limited",
            _answer(log_ratio=lambda s, t, limit: np.clip(t, -limit, limit) - np.clip(s, -limit, limit)),
            "Each log-probability is limited by itself; the limit belongs to their difference.",
        ),
        Mutant(
            "the teacher alone",
            _answer(combine=lambda a, d, c, m: c * d),
            "The advantages from the rewards are omitted.",
        ),
        Mutant(
            "coef not used",
            _answer(combine=lambda a, d, c, m: a + d),
            "coef is not used.",
        ),
        Mutant(
            "everything weighted",
            _answer(combine=lambda a, d, c, m: c * (a + d)),
            "coef multiplies the advantages from the rewards too.",
        ),
        Mutant(
            "a mixture",
            _answer(combine=lambda a, d, c, m: (1.0 - c) * a + c * d),
            "The advantages from the rewards are weighted by 1 - coef; their weight is 1.",
        ),
        Mutant(
            "a product",
            _answer(combine=lambda a, d, c, m: a * (1.0 + c * d)),
            "The teacher multiplies the advantages; it is added.",
        ),
        Mutant(
            "mean over the completion",
            _answer(combine=lambda a, d, c, m: a + c * _mean_over(d, m)),
            "All tokens of a completion get the mean of its log-ratios; each token has its own.",
        ),
        Mutant(
            "sum over the completion",
            _answer(combine=lambda a, d, c, m: a + c * np.where(m, d, 0.0).sum(-1, keepdims=True)),
            "All tokens of a completion get the sum of its log-ratios; each token has its own.",
        ),
        Mutant(
            "tokens to come",
            _answer(combine=lambda a, d, c, m: a + c * _to_come(d, m)),
            "The log-ratios of later tokens are added; a token has its own alone.",
        ),
        Mutant(
            "advantage spread over the tokens",
            _answer(combine=lambda a, d, c, m: a / np.maximum(m.sum(-1, keepdims=True), 1) + c * d),
            "The advantage of the completion is divided among its tokens; each token has all of it.",
        ),
        Mutant(
            "centered",
            _answer(combine=lambda a, d, c, m: a + c * (d - _mean_over(d, m))),
            "The mean of the completion's log-ratios is subtracted.",
        ),
        Mutant(
            "advantages on the padding",
            _answer(hide=lambda x, m: x),
            "The padding gets an advantage; it is 0 there.",
        ),
        Mutant(
            "NaN times 0",
            _masked_by_product,
            "NaN in the padding spreads: NaN times 0 is NaN.",
        ),
        Mutant(
            "mask turned round",
            lambda a, s, t, mask, coef=1.0, limit=5.0: _answer(hide=lambda x, m: np.where(m, 0.0, x))(
                a, s, t, mask, coef, limit
            ),
            "The tokens get 0 and the padding gets the advantage.",
        ),
        Mutant("128 tokens at most", _of_size(128, 1), "Tokens from some place on get 0."),
        Mutant("128 completions at most", _of_size(128, 0), "Completions from some place on get 0."),
    ),
    others={"in the steps of the statement": _answer()},
)
