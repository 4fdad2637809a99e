"""First names of the 1990 census: a policy that writes names is trained to write names with a property.

The reference policy is a character n-gram model, fitted to the census by counting. GRPO moves it toward a
property that can be verified. The KL penalty keeps the names similar to real ones.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.learning.task import END, Examples, Task

LETTERS = "abcdefghijklmnopqrstuvwxyz"
EOS = len(LETTERS)
"""The end-of-sequence token; tokens 0 to 25 are the letters."""
START = "^"
VOWEL = np.array([letter in "aeiouy" for letter in LETTERS])

Goal = Callable[[Integers, Integers], Bools]


def alternates(is_vowel: Bools, letters: Integers, lengths: Integers) -> Bools:
    """Return True where consonants and vowels alternate, as in "marina" but not in "bettie". y is a vowel."""
    vowel = is_vowel[letters]
    inside = array_namespace(lengths).arange(1, letters.shape[-1]) < lengths[..., None]
    turns: Bools = ((vowel[..., 1:] != vowel[..., :-1]) | ~inside).all(-1)
    return turns & (lengths >= 2)


def ends_in_vowel(is_vowel: Bools, letters: Integers, lengths: Integers) -> Bools:
    """Return True where the last letter is one of a, e, i, o, u, y."""
    xp = array_namespace(letters, lengths)
    last = xp.take_along_axis(letters, lengths[..., None] - 1, axis=-1)[..., 0]
    vowel: Bools = is_vowel[last]
    return vowel


def long_names(letters: Integers, lengths: Integers) -> Bools:
    """Return True where the name has eight to ten letters."""
    return (lengths >= 8) & (lengths <= 10)


GOALS: dict[str, Goal] = {
    "alternates": partial(alternates, VOWEL),
    "ends_in_vowel": partial(ends_in_vowel, VOWEL),
    "long_names": long_names,
}


def names(*, goal: str = "long_names", context: int = 3, max_length: int = 12, min_count: int = 8) -> Task:
    """Complete a first letter to a name.

    Args:
      goal: the rewarded property, one of `GOALS`.
      context: number of letters that the policy sees, 1 to 3; the n-gram model has n = context + 1.
      max_length: generation budget in tokens, the end-of-sequence token included; at most 12.
      min_count: a context that occurs less often is replaced by the next shorter context.

    Returns:
      A task with two criteria: the goal, and "real_name" (in the census list; weight 0, measured only).

    Raises:
      ValueError: if the goal is unknown or a number is out of range.
    """
    if goal not in GOALS:
        raise ValueError(f"goal: expected one of {', '.join(GOALS)}, got {goal!r}")
    if not 1 <= context <= 3 or not 1 <= max_length <= 12 or min_count < 1:
        raise ValueError(
            "expected 1 <= context <= 3, 1 <= max_length <= 12 and min_count >= 1,"
            f" got {context}, {max_length} and {min_count}"
        )
    known = census_names()
    model = _NGrams(known, context, min_count)
    first = Counter(name[0] for name in known)
    return Task(
        name="names",
        vocabulary=(*LETTERS, ""),
        transitions=model.transitions(),
        prompts=tuple(LETTERS),
        starts=np.array([model.state_after(START + letter) for letter in LETTERS]),
        prompt_probs=np.array([first[letter] / len(known) for letter in LETTERS]),
        max_length=max_length,
        ref_logits=model.log_probs(),
        verify=partial(_judge, GOALS[goal], np.sort(_codes_of(known))),
        criteria=(goal, "real_name"),
        weights=np.array([1.0, 0.0]),
        prompt_tokens=np.arange(EOS)[:, None],
        examples=_examples(known, max_length),
        pretraining={"steps": 300},
        network_settings={"learning_rate": 3e-4, "max_grad_norm": 1.0},
        settings={"updates": 100, "prompts": 16, "group_size": 16, "learning_rate": 0.05},
    )


@cache
def census_names() -> tuple[str, ...]:
    """Return the 5163 different first names of the census list, sorted."""
    text = files("grpo_ref.data").joinpath("census_1990_first_names.csv").read_text(encoding="utf-8")
    return tuple(sorted({row["name"] for row in csv.DictReader(text.splitlines())}))


def _tokens(letters: str) -> list[int]:
    """Return the token of each letter."""
    first = ord(LETTERS[0])
    return [code - first for code in letters.encode()]


def _examples(known: Sequence[str], max_length: int) -> Examples:
    """Return as examples all names that fit the budget: the prompt is the first letter."""
    short = [name for name in known if len(name) <= max_length]
    tokens = np.zeros((len(short), max_length), dtype=np.int64)
    mask = np.zeros(tokens.shape, dtype=bool)
    for row, name in enumerate(short):
        tokens[row, : len(name)] = [*_tokens(name[1:]), EOS]
        mask[row, : len(name)] = True
    return Examples(np.array([LETTERS.index(name[0]) for name in short]), tokens, mask)


class _NGrams:
    """An n-gram model: counts of each next letter (or the end) after each context in a list of names.

    A state is a context that occurs often enough in the list: the longest such suffix of the text so far, up
    to `context` characters.
    """

    def __init__(self, known: Sequence[str], context: int, min_count: int) -> None:
        self.context = context
        counts: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * (EOS + 1))
        for name in known:
            written = START + name
            for end, token in enumerate([*_tokens(name), EOS], start=1):
                for length in range(min(context, end) + 1):
                    counts[written[end - length : end]][token] += 1
        self.counts = {text: np.array(row) for text, row in counts.items()}
        often = sorted(text for text, row in counts.items() if sum(row) >= min_count or not text)
        self.states = {text: index for index, text in enumerate(often)}

    def state_after(self, written: str) -> int:
        """Return the index of the state after a text."""
        suffix = written[-self.context :]
        while suffix not in self.states:
            suffix = suffix[1:]
        return self.states[suffix]

    def transitions(self) -> Integers:
        """Return (N, V) next states; the end-of-sequence token ends the name."""
        rows = [[self.state_after(text + letter) for letter in LETTERS] + [END] for text in self.states]
        return np.array(rows)

    def log_probs(self) -> Floats:
        """Return (N, V) smoothed log-probabilities, all finite."""
        return np.log(np.stack([self._smoothed(text) for text in self.states]))

    def _smoothed(self, text: str) -> Floats:
        """Return the probabilities after a context, smoothed with one pseudo-count.

        The pseudo-count is distributed as after the next shorter context, and at the end uniformly.
        """
        shorter = self._smoothed(text[1:]) if text else np.full(EOS + 1, 1.0 / (EOS + 1))
        smoothed: Floats = (self.counts[text] + shorter) / (self.counts[text].sum() + 1.0)
        return smoothed


def _judge(goal: Goal, known: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): does the finished name have the property, and is it in the list?"""
    # The name of the prompt's letter and the tokens before the end; letters beyond `lengths` are ignored.
    xp = array_namespace(known, prompts, tokens, mask)
    ended = (mask & (tokens == EOS)).any(-1)
    first = xp.broadcast_to(prompts[..., None, None], (*tokens.shape[:-1], 1))
    letters = xp.concat([first, xp.where(mask & (tokens != EOS), tokens, 0)], axis=-1)
    lengths = 1 + mask.sum(-1) - ended
    # Each name is one integer, so that a binary search in the sorted list finds it.
    codes = _codes(letters, lengths)
    nearest = known[xp.minimum(xp.searchsorted(known, codes), len(known) - 1)]
    reached, real = goal(letters, lengths) & ended, (nearest == codes) & ended
    judged: Floats = xp.stack([reached, real], axis=-1).astype(xp.float64)
    return judged


def _codes(letters: Integers, lengths: Integers) -> Integers:
    """Return each name as one integer: its letters, numbered 1 to 26, are digits in base 27."""
    xp = array_namespace(letters, lengths)
    places = 27 ** xp.arange(letters.shape[-1], dtype=xp.int64)
    inside = xp.arange(letters.shape[-1]) < lengths[..., None]
    codes: Integers = ((letters + 1) * inside * places).sum(-1)
    return codes


def _codes_of(known: Sequence[str]) -> Integers:
    """Return the codes of names given as text."""
    width = max(map(len, known))
    letters = np.array([_tokens(name.ljust(width, LETTERS[0])) for name in known])
    return _codes(letters, np.array([len(name) for name in known]))
