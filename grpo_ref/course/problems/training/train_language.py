"""Train a little language."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop, chain, normalized
from grpo_ref.course.grading.domain.arguments import Real, Scalar, Whole
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
from grpo_ref.course.problems.bandits import ONE_STEP_WITHOUT_A_CLIP
from grpo_ref.learning.policies.table import policy_of

LANGUAGE = replace(RIGHT, walk=chain, advantage=normalized)

DOMAIN = Domain(
    {
        "uniforms": Real(
            "U G T",
            (0, 0.999),
            at=(0, 0.25, 0.5, 0.75),
            whole=False,
            meaning="random numbers, one for each token",
        ),
        "vocabulary": Whole((2, 5), meaning="V, the number of tokens"),
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="length of a step"),
        "steps": Whole((1, 4), default=2, meaning="how often each batch is used"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="how far the ratio may go from 1"
        ),
    },
    sizes={"U": (1, 3), "G": (1, 6), "T": (2, 5)},
    large={"G": 20, "T": 12},
    rules=(ONE_STEP_WITHOUT_A_CLIP,),
)


def _counting(tokens: Any, vocabulary: int) -> Any:
    return (tokens[..., 1:] == (tokens[..., :-1] + 1) % vocabulary).mean(-1)


def _of(loop: ToyLoop, reward: Any = _counting, epochs: int | None = None) -> Function:
    def answer(
        uniforms: Any, vocabulary: int, learning_rate: float = 8.0, steps: int = 2, clip: float = 0.2
    ) -> Any:
        start = np.zeros((vocabulary + 1, vocabulary))
        numbers = np.asarray(uniforms, dtype=float)[:, None]

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return reward(tokens, vocabulary)

        return loop(start, verify, numbers, learning_rate, epochs=epochs or steps, clip=clip)

    return answer


_reference = _of(LANGUAGE)


def _learns(f: Function) -> str | None:
    for seed in range(2):
        logits = np.asarray(f(np.random.default_rng(seed).random((50, 16, 6)), 4), dtype=float)
        right = policy_of(logits).probs[np.arange(4), (np.arange(4) + 1) % 4]
        if not right.mean() > 0.9:
            return f"after 50 updates of 16 completions it should count on with probability 0.9, it does with {right.mean():.2f}"
    return None


ONE = np.array([[[0.25, 0.75], [0.25, 0.25]]])

PROBLEM = Problem(
    id="training/train_language",
    title="Train a little language",
    function="train_language",
    reference=_reference,
    background=(
        "A language model in a table: the row is the token before, the columns are the next token, and the softmax of"
        " a row gives its probabilities. It shall learn to count upwards, round and round: 0 1 2 3 0 1 ... Drawing"
        " completions is the expensive part of training, so each batch is used for several steps. From the second"
        " step on the policy π is no longer the policy πold that drew the batch; the ratio ρ = π / πold of a token's"
        " probabilities corrects for that, and the clip holds back what has gone far enough."
    ),
    task=(
        "Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`. The table of logits has"
        " V + 1 rows, one for each token before and the last one, row V, for the start; it is all zeros at first. In"
        " each of the U updates\n\n"
        "1. πold is the softmax of each row. Draw G completions of T tokens: each token is the first one whose"
        " cumulative probability πold(0 | row) + ... + πold(token | row) is larger than its number in `uniforms`. The"
        " row of the first token is V, after that it is the token before\n"
        "2. the reward r of a completion is the share of its T - 1 steps in which the next token is the one before"
        " plus 1, modulo V\n"
        "3. A = (r - mean(r)) / (std(r) + 1e-4) over the G completions; the standard deviation divides by G, not by"
        " G - 1\n"
        "4. `steps` times, with πold and A held constant, logits += learning_rate · ∂J/∂logits of\n\n"
        "    J = 1/(G T) Σ min(ρ A, clip(ρ, 1 - clip, 1 + clip) A),    ρ = π(token | row) / πold(token | row)\n\n"
        "with π the softmax of the logits of that moment. A token has no slope where A > 0 and ρ > 1 + clip, and none"
        " where A < 0 and ρ < 1 - clip. Everywhere else, on the bound itself too, the slope of its term with respect"
        " to log π(token | row) is ρ A, and the gradient of log π(token | row) with respect to the row's logits is"
        " the one-hot vector of the token minus π(· | row)."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(V + 1, V) the logits after U updates.",
    constraints=(
        "A group of one, or one in which all rewards are equal, has A = 0 and moves nothing.\n"
        "After 50 updates of 16 completions of 6 tokens with V = 4 and the defaults, the token after each of the"
        " four must be the right one with a probability above 0.9 on average."
    ),
    notes="All tokens of a completion share its advantage: nobody tells the policy which of its steps were right.",
    source="Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), algorithm 1, with a table for a model and no penalty.",
    hints=(
        "Which quantities belong to the batch, and which change with every step on it?",
        "A clipped token has no slope; the others have ρ A. The slope goes into its row as slope · (one-hot - π).",
        "np.add.at(gradient, rows, (slope / (G * T))[..., None] * (np.eye(V)[tokens] - probs[rows])), once a step.",
    ),
    checks=(
        Case(
            "One step by hand",
            (ONE, 2, 1.0, 1),
            np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
            why="All probabilities are 1/2. The completions are 0 1 and 0 0, their rewards 1 and 0, so A = ±0.5/0.5001"
            " = ±1/1.0002. Each of the four tokens has weight 1/4. At the start (row 2) both chose 0, and A and -A"
            " cancel. In row 0 one chose 1, which adds A/4 · [-1/2, 1/2], the other chose 0, which adds"
            " -A/4 · [1/2, -1/2]: together A/4 · [-1, 1].",
            shown=True,
        ),
        Case(
            "Two steps, the second one clipped",
            (ONE, 2, 8.0, 2, 0.2),
            np.array([[-2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
            why="after one step π(1 | 0) is 0.98 and π(0 | 0) is 0.02: both have moved where their advantages point,"
            " beyond the clip, and have no slope; the start cancels",
        ),
        Case(
            "On the bound itself",
            (ONE, 2, 1.0, 1, 0.0),
            np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
            why="with clip 0 the first step is on both bounds, and it is taken",
        ),
        Holds("It learns to count", _learns, why="two runs of 50 updates"),
        Unchanged((ONE, 2)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("downhill", _of(replace(LANGUAGE, direction=-1.0)), "The sign is turned over."),
        Mutant(
            "never clipped",
            _of(replace(LANGUAGE, slope=stages.never_clipped)),
            "The ratio is never clipped.",
        ),
        Mutant(
            "old moves along",
            _of(replace(LANGUAGE, old=lambda then, now: now)),
            "Every ratio is 1: πold is taken anew in every step, though it belongs to the batch, or the slope is A"
            " instead of ρ A.",
        ),
        Mutant("one step only", _of(LANGUAGE, epochs=1), "Each batch is to be used `steps` times."),
        Mutant(
            "centered only",
            _of(replace(LANGUAGE, advantage=RIGHT.advantage)),
            "The advantages are not divided by the std.",
        ),
        Mutant(
            "visits lost",
            _of(replace(LANGUAGE, back=stages.repeats_lost)),
            "`gradient[rows, tokens] += x` writes a repeated entry once.",
        ),
        Mutant(
            "probabilities left out",
            _of(replace(LANGUAGE, back=stages.one_hot_only)),
            "The -π of the softmax's gradient is missing.",
        ),
        Mutant(
            "sum for mean",
            _of(replace(LANGUAGE, weight=token_sum)),
            "The sum is not divided by G T.",
        ),
        Mutant(
            "counting without coming round",
            _of(LANGUAGE, lambda t, v: (t[..., 1:] == t[..., :-1] + 1).mean(-1)),
            "After the last token comes 0 again: plus 1 modulo V.",
        ),
        Mutant(
            "counting down", _of(LANGUAGE, lambda t, v: _counting(t[..., ::-1], v)), "It counts downwards."
        ),
        Mutant(
            "all or nothing",
            _of(LANGUAGE, lambda t, v: (_counting(t, v) == 1.0) * 1.0),
            "The reward is the share of right steps, not whether all are right.",
        ),
    ),
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
    rtol=1e-8,
)
