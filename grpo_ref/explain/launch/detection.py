"""Whose keys these are: by what is started, and else by the keys themselves; never by a file's name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import COMPLETIONS, Dialect
from grpo_ref.explain.dialects import DIALECTS

MODULE = re.compile(r"-[a-zA-Z]?m|--module")
"""What stands before the name of a module: `python -m`, `python -um`, `deepspeed --module`."""
ENOUGH = 3
"""How many keys that matter a trainer has to know, to be taken for the one that they are of; one in a group is two."""
PIN = r"(?<![\w-]){name}(?:\[[\w,-]*\])?\s*(?:==|@v?)\s*[\"']?v?(\d+\.\d+(?:\.\d+)?)"
ELSEWHERE = {
    r"-m tunix\.cli\.(?!grpo)\w+": "Tunix without GRPO",
    r"\S*(finetune|dpo|distillation|qat)_(single_device|distributed)(\.py)?": "torchtune without GRPO",
    r"llamafactory-cli train": "LLaMA-Factory",
    r"-m realhf\.\S+": "ReaLHF",
}
"""What starts trainers that have no dialect here -> their names."""


SAMPLED = re.compile(
    r"(.*\.)?(num_generations|n|n_samples\w*|group_size|max_\w*|\w*length|temperature|top_[pk]|min_p|reward\w*|vllm\w*)"
)
"""Keys that say how to sample and what that is worth, and nothing of training."""
TRAINED = re.compile(
    r"(.*[._])?(lr|learning_rate|optim\w*|epochs?|max_steps|train\w*|gradient\w*|output_dir)([._].*)?"
)
"""Keys that say that there is a training, whatever its objective."""


HANDING_ON = ("axolotl train", "oumi train")
"""What starts programs that hand their keys on, see `relays`."""


class Start(NamedTuple):
    """A command that starts a trainer.

    Attributes:
      trainer: name of its dialect; "" if nobody knows the program.
      shown: the words that say so.
      behind: how many words there are up to these; the arguments follow.
    """

    trainer: str
    shown: str
    behind: int


def started(words: Sequence[str]) -> Start | None:
    """The trainer that a command starts: the last word that some dialect knows.

    >>> started(["torchrun", "-m", "verl.trainer.main_ppo", "trainer.nnodes=1"])
    Start(trainer='verl', shown='-m verl.trainer.main_ppo', behind=3)
    """
    for place in reversed(range(len(words))):
        for shown in _names(words, place):
            for dialect in DIALECTS.values():
                if any(re.fullmatch(pattern, shown) for pattern in dialect.starts):
                    return Start(dialect.name, shown, place + 1)
    return None


def elsewhere(words: Sequence[str]) -> str:
    """The name of a trainer that a command starts and that has no dialect here; else ""."""
    shown = [name for place in range(len(words)) for name in _names(words, place)]
    return next(
        (name for pattern, name in ELSEWHERE.items() for it in shown if re.fullmatch(pattern, it)), ""
    )


def program(words: Sequence[str]) -> Start | None:
    """Any program in a command that may hand its arguments on to a trainer, with what follows it."""
    for place in reversed(range(len(words))):
        is_module = place > 0 and MODULE.fullmatch(words[place - 1]) is not None
        is_relay = any(name in HANDING_ON for name in _names(words, place))
        if is_module or is_relay or words[place].endswith((".py", ".sh")):
            return Start("", words[place], place + 1)
    return None


def _names(words: Sequence[str], place: int) -> Iterator[str]:
    """What may be started at this word: the word without its folders, or two words such as `trl grpo`."""
    word = words[place]
    if place:
        before = words[place - 1].rsplit("/", 1)[-1]
        yield f"-m {word}" if MODULE.fullmatch(before) else f"{before} {word}"
    yield word


def of_keys(keys: Mapping[str, Any]) -> tuple[str, int]:
    """The trainer whose keys these most likely are, with how many of them change its objective.

    The name is "" if none or several know as many; a trainer that has taken over another's keys needs one more.
    """
    scores = {dialect.name: _score(dialect, keys) for dialect in DIALECTS.values()}
    best = max(scores.values())
    first = [name for name, score in scores.items() if score == best]
    first = [name for name in first if DIALECTS[name].parent not in first]
    effective = _effective(DIALECTS[first[0]], keys)
    evidence = sum(2 if "." in key or key in DIALECTS[first[0]].tells else 1 for key in effective)
    return (first[0] if len(first) == 1 and evidence >= ENOUGH else "", len(effective))


def only_samples(trainer: str, keys: Mapping[str, Any]) -> bool:
    """Whether keys say how to sample and nothing of training, as a file that sorts out what is too easy.

    >>> only_samples("trl", {"num_generations": 8, "temperature": 1.0, "reward_weights": [1.0]})
    True
    >>> only_samples("trl", {"num_generations": 8, "temperature": 1.0, "learning_rate": 1e-6})
    False
    """
    effective = _effective(DIALECTS[trainer], keys)
    return all(SAMPLED.fullmatch(key) for key in effective) and not any(map(TRAINED.fullmatch, keys))


def of_group(keys: Mapping[str, Any]) -> tuple[str, str]:
    """The trainer whose keys stand in a group of some project's own, and the name of the group; "" if there is none.

    The size of a group has to be there: without it a few names are too little for a program that nobody knows.

    >>> of_group({"seed": 1, "grpo.num_generations": 4, "grpo.beta": 0.1, "grpo.max_completion_length": 9})
    ('trl', 'grpo')
    """
    found: dict[str, tuple[str, int]] = {}
    for group in dict.fromkeys(key.split(".")[0] for key in keys if "." in key):
        inside = inner(keys, group)
        trainer, count = of_keys(inside)
        size = DIALECTS[trainer].concepts.get(COMPLETIONS) if trainer else None
        if size is not None and size in map(DIALECTS[trainer].key, inside):
            found[group] = (trainer, count)
    best = max(found, key=lambda group: found[group][1], default="")
    return (found[best][0], best) if best else ("", "")


def inner(keys: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The keys of a group, without its name."""
    return {
        key.removeprefix(f"{group}."): value for key, value in keys.items() if key.startswith(f"{group}.")
    }


def _score(dialect: Dialect, keys: Iterable[str]) -> float:
    """Keys that change the objective count most, then others that are known; none without one of its signs."""
    if dialect.signs and not set(dialect.signs) & {key.split(".")[-1] for key in keys}:
        return 0.0
    known = [key for key in keys if dialect.key(key) is not None]
    return 3.0 * len(_effective(dialect, known)) + len(known)


def _effective(dialect: Dialect, keys: Iterable[str]) -> list[str]:
    """The keys that matter, each under the name that it was given with; twice the same counts once.

    A loose key tells nothing of a trainer that has it in a group.
    """
    named = {name: key for key in keys if (name := dialect.key(key)) is not None}
    matter = {name: key for name, key in named.items() if name in dialect.defaults or name in dialect.beyond}
    return [key for name, key in matter.items() if "." in key or "." not in dialect.path(name)]


def pinned(text: str, package: str) -> str:
    """The version of a package that a text asks for, as in `pip install trl==0.14.0`; else "".

    >>> pinned("pip install vllm==0.7.2 'trl[vllm]==0.18.1'", "trl")
    '0.18.1'
    """
    found = re.findall(PIN.format(name=re.escape(package)), text)
    return str(found[-1]) if found else ""
