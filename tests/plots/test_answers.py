import numpy as np

from grpo_ref import TASKS
from grpo_ref.plots import likeliest_answer, next_tokens

TASK = TASKS["arithmetic"](largest=3, max_length=3)
PROMPT = TASK.prompts.index("2+3=")


def probabilities(tokens):
    """A policy that says these tokens after the prompt, with probability 0.9 each."""
    probs = np.full((len(TASK.ref_logits), 11), 0.01)
    for step, token in enumerate(tokens):
        probs[TASK.starts[PROMPT] + step, token] = 0.9
    return probs


def test_the_likeliest_answer_walks_to_the_end():
    start = int(TASK.starts[PROMPT])
    assert likeliest_answer(TASK, probabilities([5, 10]), PROMPT) == [
        ("2+3=", start, 5),
        ("2+3=5", start + 1, 10),
    ]
    assert len(likeliest_answer(TASK, probabilities([1, 1, 1]), PROMPT)) == TASK.max_length


def test_pictures_hold_the_probabilities_of_the_states_on_the_way():
    policies = {"short": probabilities([5, 10]), "long": probabilities([1, 2, 3])}
    short, long, colours = next_tokens(TASK, policies, PROMPT).axes
    assert short.images[0].get_array().tolist() == policies["short"][TASK.starts[PROMPT] :][:2].tolist()
    assert [text.get_text() for text in long.texts] == ["0.90"] * 3
    assert [label.get_text() for label in long.get_yticklabels()] == ["2+3=", "2+3=1", "2+3=12"]
    assert short.get_xticklabels()[-1].get_text() == "end"
    assert (short.get_title(), short.get_xlabel(), colours.get_ylabel()) == (
        "short",
        "next token",
        "probability",
    )
