"""Train a little language."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.kernels.aggregation import token_sum
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.toy_loop import RIGHT, ToyLoop, chain, normalized

LANGUAGE = replace(RIGHT, walk=chain, advantage=normalized)


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


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (
        rng.random((size + 1, size + 2, 4)),
        3,
        rng.uniform(2.0, 8.0),
        int(rng.integers(1, 4)),
        rng.uniform(0.05, 0.3),
    )


def _learns(f: Function) -> str | None:
    for seed in range(2):
        logits = np.asarray(f(np.random.default_rng(seed).random((200, 16, 6)), 4), dtype=float)
        right = policy_of(logits).probs[np.arange(4), (np.arange(4) + 1) % 4]
        if not right.mean() > 0.9:
            return f"after 200 updates of 16 completions it should count on with probability 0.9, it does with {right.mean():.2f}"
    return None


ONE = np.array([[[0.25, 0.75], [0.25, 0.25]]])

PROBLEM = Problem(
    id="training/train_language",
    title="Train a little language",
    function="train_language",
    reference=_reference,
    background=(
        "A language model in a table: the row is the token before, the columns are the next token. It shall learn to count"
        " upwards, round and round. Each batch is used for several steps, so the ratio and the clip come in."
    ),
    task=(
        "Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`. The table has V + 1 rows, one"
        " for each token before and the last one for the start; it begins with zeros. In each update\n\n"
        "1. draw G completions of T tokens, one uniform number u per token: the first token whose cumulative probability is larger than u; the row of the first"
        " token is V, after that it is the token before; keep log πold of every token\n"
        "2. r = share of the T - 1 steps in which the next token is the one before plus 1, modulo V\n"
        "3. A = (r - mean(r)) / (std(r) + 1e-4), the std with divisor G\n"
        "4. `steps` times: logits += learning_rate · gradient of  1/(G T) Σ min(ρ A, clip(ρ, 1 - clip, 1 + clip) A),"
        "  ρ = π/πold with π from the logits of that moment"
    ),
    inputs="uniforms: (U, G, T) numbers in [0, 1), T at least 2.\nvocabulary: V.\nlearning_rate, clip: numbers.\nsteps: how often each batch is used.",
    output="(V + 1, V) the logits after U updates.",
    constraints="After 200 updates of 16 completions of 6 tokens it must count on with probability 0.9, for V = 4.",
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
            np.array([[-0.125, 0.125], [0.0, 0.0], [0.0, 0.0]]) * 2 / 1.0002,
            why="completions 0 1 and 0 0, rewards 1 and 0, A = ±0.5/0.5001; four tokens of weight 1/4: at the start both chose 0, which cancels; after 0 one chose 1 and one chose 0",
            shown=True,
        ),
        Case(
            "Two steps, the second one clipped",
            (ONE, 2, 8.0, 2, 0.2),
            np.array([[-2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
            why="after one step π(1 | 0) is 0.98 and π(0 | 0) is 0.02: both moved where their advantages point, beyond the clip, and have no slope; the start cancels",
        ),
        Holds("It learns to count", _learns, why="two runs of 200 updates"),
        Unchanged((ONE, 2)),
        Drawn("Random runs agree", _draw, why="a few updates, several steps per batch"),
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
            "no ratio",
            _of(replace(LANGUAGE, slope=stages.no_ratio)),
            "The slope of a token that is not clipped is ρ A, not A.",
        ),
        Mutant(
            "old moves along",
            _of(replace(LANGUAGE, old=lambda then, now: now)),
            "log πold is taken anew in every step, so every ratio is 1; it belongs to the batch.",
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
