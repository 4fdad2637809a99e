"""Find the trainer: by the program that is started, otherwise by the keys, never by a file's name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import COMPLETIONS, Dialect
from grpo_ref.explain.dialects import DIALECTS, PROGRAMS

MODULE = re.compile(r"-[a-zA-Z]?m|--module")
"""The word before the name of a module: `python -m`, `python -um`, `deepspeed --module`."""
ENOUGH = 3
"""Evidence that a set of keys needs before it is taken for a trainer's keys.

Each key that matters to the trainer counts 1; a key inside a group, or a telling key, counts 2.
"""
PIN = r"(?<![\w-]){name}(?:\[[\w,-]*\])?(?:\.git)?\s*(?:===?|~=|@v?)\s*[\"']?v?(\d+\.\d+(?:\.\d+)?)"
"""A request for a release: `trl==0.14.0`, `trl~=0.14`, or a tag of its repository, `trl.git@v0.14.0`."""
ELSEWHERE = {
    r"-m tunix\.cli\.(?!grpo)\w+": "Tunix without GRPO",
    r"\S*(finetune|dpo|distillation|qat)_(single_device|distributed)(\.py)?": "torchtune without GRPO",
    r"llamafactory-cli train": "LLaMA-Factory",
    r"-m realhf\.\S+": "ReaLHF",
    r"(\S*/)?examples/scripts/(async_grpo|sdpo|sdft|ssd|gkd|gold|distillation|online_dpo|xpo|nash_md|tpo|rloo)\w*\.py": (
        "a trainer of TRL other than GRPOTrainer"
    ),
}
"""Commands that start trainers without a dialect here, with the names of these trainers."""


SAMPLED = re.compile(
    r"(.*\.)?(num_generations|n|n_samples\w*|group_size|max_\w*|\w*length|temperature|top_[pk]|min_p|reward\w*|vllm\w*)"
)
"""Keys about sampling and rewards, which say nothing about training."""
TRAINED = re.compile(
    r"(.*[._])?(lr|learning_rate|optim\w*|epochs?|max_steps|train\w*|gradient\w*|output_dir)([._].*)?"
)
"""Keys that only a training run has, whatever its objective."""


STARTERS = {
    *(
        "torch.distributed.run",
        "torch.distributed.launch",
        "accelerate.commands.launch",
        "deepspeed.launcher.runner",
    ),
    *("torchrun", "launch"),
}
"""Modules that start the program named behind their own flags."""
HANDING_ON = ("axolotl train", "oumi train")
"""Commands that start programs which pass their keys on to a trainer, see `wrappers`."""


class Start(NamedTuple):
    """A command that starts a trainer.

    Attributes:
      trainer: name of the trainer's dialect; "" if the program is unknown.
      shown: the words by which the program was recognized.
      behind: number of words up to the program's name, inclusive. The arguments follow.
    """

    trainer: str
    shown: str
    behind: int


def started(words: Sequence[str]) -> Start | None:
    """Return the trainer that a command starts: the last word that a dialect recognizes.

    >>> started(["torchrun", "-m", "verl.trainer.main_ppo", "trainer.nnodes=1"])
    Start(trainer='verl', shown='-m verl.trainer.main_ppo', behind=3)
    """
    for place in reversed(range(len(words))):
        for shown in _names(words, place):
            for trainer, program_of in PROGRAMS.items():
                if any(re.fullmatch(pattern, shown) for pattern in program_of.starts):
                    return Start(trainer, shown, place + 1)
    return None


def elsewhere(words: Sequence[str]) -> str:
    """Return the name of a trainer without a dialect here that the command starts; otherwise ""."""
    shown = [name for place in range(len(words)) for name in _names(words, place)]
    return next(
        (name for pattern, name in ELSEWHERE.items() for it in shown if re.fullmatch(pattern, it)), ""
    )


def program(words: Sequence[str]) -> Start | None:
    """Return any program in a command that may pass its arguments on to a trainer.

    This is the last program before the first flag of a program: `python wrapper.py train.py --agent agent.py` starts
    train.py with a path as the value of a flag.

    >>> program("python wrapper.py train.py --agent agent.py".split()).shown
    'train.py'
    """
    last: Start | None = None
    for place, word in enumerate(words):
        if last is not None and word.startswith("-") and not MODULE.fullmatch(word):
            break
        is_module = place > 0 and MODULE.fullmatch(words[place - 1]) is not None
        is_relay = any(name in HANDING_ON for name in _names(words, place))
        is_script = word.endswith((".py", ".sh")) and "=" not in word
        if (is_module or is_relay or is_script) and word not in STARTERS:
            last = Start("", word, place + 1)
    return last


def _names(words: Sequence[str], place: int) -> Iterator[str]:
    """Yield the names under which a program may be known: the word itself, and the word with the word before it."""
    word = words[place]
    if place:
        before = words[place - 1].rsplit("/", 1)[-1]
        yield f"-m {word}" if MODULE.fullmatch(before) else f"{before} {word}"
    yield word


def of_keys(keys: Mapping[str, Any], program: str = "") -> tuple[str, int]:
    """Return the trainer whose keys these most likely are, and the number of keys that change its objective.

    The name is "" if no trainer or several trainers fit best. A trainer that adopted the keys of another
    trainer must fit better than that one.

    Args:
      keys: the keys of a launch.
      program: the program that reads them, if it is known. A module of a trainer's package reads the trainer's keys.
    """
    package = program.partition(".")[0]
    for dialect in DIALECTS.values() if package else ():
        matter = _effective(dialect, keys)
        if package == (dialect.program.module or dialect.program.package) and len(matter) >= ENOUGH:
            return dialect.name, len(matter)
    scores = {dialect.name: _score(dialect, keys) for dialect in DIALECTS.values()}
    best = max(scores.values())
    first = [name for name, score in scores.items() if score == best]
    first = [name for name in first if DIALECTS[name].program.parent not in first]
    effective = _effective(DIALECTS[first[0]], keys)
    evidence = sum(2 if "." in key or key in DIALECTS[first[0]].program.tells else 1 for key in effective)
    return (first[0] if len(first) == 1 and evidence >= ENOUGH else "", len(effective))


def only_samples(trainer: str, keys: Mapping[str, Any]) -> bool:
    """Return true if keys configure only sampling and no training, as in a file that filters out easy prompts.

    >>> only_samples("trl", {"num_generations": 8, "temperature": 1.0, "reward_weights": [1.0]})
    True
    >>> only_samples("trl", {"num_generations": 8, "temperature": 1.0, "learning_rate": 1e-6})
    False
    """
    effective = _effective(DIALECTS[trainer], keys)
    return all(SAMPLED.fullmatch(key) for key in effective) and not any(map(TRAINED.fullmatch, keys))


def of_group(keys: Mapping[str, Any]) -> tuple[str, str]:
    """Return the trainer whose keys are inside one group of a project's own file, and the group; "" and "" if none.

    The group must set the group size. Without that key, a few names are too little evidence for an unknown
    program.

    >>> of_group({"seed": 1, "grpo.num_generations": 4, "grpo.beta": 0.1, "grpo.max_completion_length": 9})
    ('trl', 'grpo')
    """
    found: dict[str, tuple[str, int]] = {}
    for group in dict.fromkeys(key.split(".")[0] for key in keys if "." in key):
        inside = inner(keys, group)
        trainer, count = of_keys(inside)
        size = DIALECTS[trainer].keys.concepts.get(COMPLETIONS) if trainer else None
        if size is not None and size in map(DIALECTS[trainer].key, inside):
            found[group] = (trainer, count)
    best = max(found, key=lambda group: found[group][1], default="")
    return (found[best][0], best) if best else ("", "")


def inner(keys: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Return the keys of a group, without the group's name."""
    return {
        key.removeprefix(f"{group}."): value for key, value in keys.items() if key.startswith(f"{group}.")
    }


def _score(dialect: Dialect, keys: Iterable[str]) -> float:
    """Return how well keys fit a trainer.

    Each known key counts 1, and 3 more if it changes the objective. A flat name of a key that is in a group now
    counts a little less, so that a trainer whose keys still have these names is preferred. The score is 0 if the trainer has
    telltale keys (`signs`) and none of them is present.
    """
    if dialect.program.signs and not set(dialect.program.signs) & {key.split(".")[-1] for key in keys}:
        return 0.0
    known = [key for key in keys if dialect.key(key) is not None]
    obsolete = [key for key in known if "." not in key and "." in dialect.path(str(dialect.key(key)))]
    return 3.0 * len(_effective(dialect, known)) + len(known) - 0.1 * len(obsolete)


def _effective(dialect: Dialect, keys: Iterable[str]) -> list[str]:
    """Return the keys that matter to a trainer, under the names that were used.

    Two names of one key count once. A key without a group is not evidence for a trainer that has this key inside a
    group, unless the trainer once had a flat name for it.
    """
    named = {name: key for key in keys if (name := dialect.key(key)) is not None}
    matter = {
        name: key
        for name, key in named.items()
        if name in dialect.keys.defaults or name in dialect.keys.inexpressible
    }
    aliases = {alias for entry in dialect.keys.table.values() for alias in entry.aliases}
    return [
        key for name, key in matter.items() if "." in key or key in aliases or "." not in dialect.path(name)
    ]


def fit(trainer: str, keys: Iterable[str]) -> int:
    """Return the number of keys that change the objective of a trainer."""
    return len(_effective(DIALECTS[trainer], keys))


def lower_bound(text: str, package: str) -> str:
    """Return the oldest version of a package that a text allows, as in `pip install "trl>=1.0"`; "" if none.

    >>> lower_bound("pip install vllm 'trl[vllm]>=1.0,<2'", "trl")
    '1.0'
    """
    bounds = re.findall(PIN.format(name=re.escape(package)).replace("(?:===?|~=|@v?)", ">="), text)
    return str(bounds[-1]) if bounds else ""


def pinned(text: str, package: str) -> str:
    """Return the version of a package that a text requests, as in `pip install trl==0.14.0`; "" if none.

    >>> pinned("pip install vllm==0.7.2 'trl[vllm]==0.18.1'", "trl")
    '0.18.1'
    """
    found = re.findall(PIN.format(name=re.escape(package)), text)
    return str(found[-1]) if found else ""
