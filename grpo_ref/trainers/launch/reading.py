"""What a file or a pasted text launches: the trainer, its version, and the keys with their values."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.launch.arguments import FLAG, OVERRIDE, REMOVAL, read_arguments
from grpo_ref.trainers.launch.detection import elsewhere, of_keys, pinned, program, started
from grpo_ref.trainers.launch.python import Config, PythonScript, read_notebook, read_python
from grpo_ref.trainers.launch.relays import handed_on, relay_of
from grpo_ref.trainers.launch.text import Text
from grpo_ref.trainers.launch.trees import Beside, nowhere, read_tree

ENDINGS = {
    **dict.fromkeys((".yaml", ".yml", ".json", ".toml"), "tree"),
    **dict.fromkeys((".sh", ".bash", ".slurm", ".sbatch", ".zsh"), "shell"),
    ".py": "python",
    ".ipynb": "notebook",
}
UNSLOTH = "unsloth"
"""A package that, once imported, changes the defaults of TRL."""
LONGEST, LONGEST_NOTEBOOK = 1_000_000, 50_000_000
"""Characters of a file; a notebook may hold pictures."""


@dataclass(frozen=True)
class Launch:
    """One training that somebody launches.

    Attributes:
      trainer: name of its dialect; "" if it is not known.
      why: how that was found, as a part of a sentence: "`trl grpo` in line 3".
      keys: dotted, with their values; one that only the run knows is `Unknown`.
      version: that the file asks for, or "".
      notes: what a reader has to know of the reading, in whole sentences.
      cautions: what the answer rests on that the file does not say, in whole sentences.
      is_sure: whether the trainer was not guessed from its keys.
      is_whole: whether it is the command that starts the trainer, so that a key that is not there is not given.
    """

    trainer: str
    why: str
    keys: dict[str, Any]
    version: str = ""
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    is_sure: bool = False
    is_whole: bool = False


def launches(text: str, name: str = "", beside: Beside = nowhere, trainer: str = "") -> list[Launch]:
    """The trainings that a text launches, those with the most keys first.

    Args:
      text: a shell script, a launch line, YAML, JSON, TOML, a Python script, a notebook, or flags and overrides.
      name: of the file; its ending says what it is. Without one the text itself does.
      beside: finds other files that it names.
      trainer: name of the dialect, if it is known; else it is found.

    Raises:
      ValueError: if the text cannot be read, or launches nothing that has a dialect.
    """
    longest = LONGEST_NOTEBOOK if name.endswith(".ipynb") else LONGEST
    if len(text) > longest:
        raise ValueError(f"it is longer than {longest:,} characters")
    text = text.replace("\r\n", "\n")
    kind = next((kind for ending, kind in ENDINGS.items() if name.lower().endswith(ending)), "") or _kind(
        text
    )
    found = [_with_trainer(launch, trainer) for launch in READERS[kind](text, name, beside)]
    known = [launch for launch in found if launch.trainer]
    if not known:
        notes = " ".join(dict.fromkeys(note for launch in found for note in launch.notes))
        raise ValueError(notes or _nothing(kind, [launch for launch in found if launch.keys]))
    asked = _installed(text) if kind == "notebook" else text
    versioned = [
        replace(launch, version=launch.version or pinned(asked, DIALECTS[launch.trainer].package))
        for launch in known
    ]
    return sorted(versioned, key=lambda launch: -len(launch.keys))


def launch_of(words: Sequence[str], beside: Beside = nowhere, trainer: str = "") -> Launch:
    """What the words of a command line launch: with what starts a trainer in front, or flags and overrides alone.

    Args:
      words: one by one, as a shell hands them over.
      beside: finds files that they name.
      trainer: name of the dialect, if it is known; else it is found.

    Raises:
      ValueError: if a word is neither a flag nor an override, or no trainer is known.
    """
    texts = [Text.of(word) for word in words]
    start = started(words)
    if start is not None:
        launch = _launched(texts[start.behind :], start.trainer, start.shown, {}, beside)
        return _with_trainer(replace(launch, why=f"`{start.shown}`", is_sure=True, is_whole=True), trainer)
    rest = read_arguments(texts).rest
    if rest:
        raise ValueError(f"{rest[0]} is neither a file nor KEY=VALUE")
    launch = _with_trainer(_launched(texts, "", "", {}, beside), trainer)
    if not launch.trainer:
        raise ValueError(_nothing("keys", [launch]))
    return launch


def _nothing(kind: str, found: list[Launch]) -> str:
    if found:
        keys = ", ".join([*found[0].keys][:5])
        return f"no trainer is known by these keys ({keys}, ...); name it with --trainer"
    told = {
        "shell": "no command in it starts a trainer that is known here",
        "python": "no configuration was found in it: expected GRPOConfig(...) or a dictionary of keys",
    }
    return told.get(kind, "it holds no keys")


def _with_trainer(launch: Launch, trainer: str) -> Launch:
    """The launch with the trainer that was named; or the one that its keys are of."""
    if trainer:
        why = launch.why if launch.trainer == trainer else ""
        return replace(launch, trainer=trainer, why=why, is_sure=True)
    if launch.trainer or not launch.keys:
        return launch
    relay = relay_of(launch.keys)
    if relay is not None:
        keys, why = handed_on(relay, launch.keys), f"{relay.title} hands its keys on"
        return replace(launch, trainer=relay.trainer, keys=keys, why=why, version=relay.version, is_sure=True)
    name, known = of_keys(launch.keys)
    return replace(launch, trainer=name, why=f"{known} keys that change its objective")


def _kind(text: str) -> str:
    """What a text without a name is."""
    stripped = text.lstrip()
    if stripped.startswith("#!"):
        return "shell"
    if stripped.startswith("{") and '"cells"' in text:
        return "notebook"
    if _is_line_of_keys(text):
        return "keys"
    if any(word in text for word in ("GRPOConfig(", "import ")) and _reads(read_python, text):
        return "python"
    return "tree" if _reads(read_tree, text) and not _starts_something(text) else "shell"


def _reads(reader: Callable[[str], Any], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _starts_something(text: str) -> bool:
    """Whether a line of a text is a command that starts a trainer."""
    return any(started(line.split()) for line in text.splitlines())


def _words(text: str) -> list[str]:
    """The words of a command line; none of a text that cannot be one."""
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError:
        return []


def _is_line_of_keys(text: str) -> bool:
    """Whether a text is nothing but flags and overrides."""
    words = _words(text)
    is_key = [bool(FLAG.fullmatch(word) or OVERRIDE.fullmatch(word)) for word in words]
    return bool(words) and is_key[0] and (all(is_key) or words[0].startswith("--"))


def _of_keys(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield _launched([Text.of(word) for word in _words(text)], "", "", {}, beside)


def _of_tree(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """The keys of a file; or the shell script that stands in it, as in files for a cluster."""
    tree = read_tree(text, name, beside)
    scripts = [value for value in tree.keys.values() if isinstance(value, str) and _starts_something(value)]
    if scripts:
        yield from _of_shell("\n".join(scripts), "", beside)
    else:
        yield Launch("", "", tree.keys, notes=tree.notes)


def _of_shell(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """What each command starts; programs that nobody knows count only where no known one is started."""
    try:
        from grpo_ref.trainers.launch.shell import read_shell
    except ImportError as error:
        raise ValueError("it is a shell script, which cannot be read here: paste the keys alone") from error
    script = read_shell(text)
    notes = [f"Line {note.line}: {note.text}" for note in script.notes]
    strangers = []
    is_found = False
    for command in script.commands:
        words = [str(word) for word in command.words]
        start = started(words)
        if start is not None:
            is_found = True
            launch = _launched(
                command.words[start.behind :], start.trainer, start.shown, script.files, beside
            )
            why = f"`{start.shown}` in line {command.line}"
            yield replace(launch, why=why, notes=[*launch.notes, *notes], is_sure=True, is_whole=True)
        elif other := elsewhere(words):
            strangers.append(Launch("", "", {}, notes=[f"{other} is started, and has no dialect here."]))
        elif (start := program(words)) is not None:
            strangers.append(_launched(command.words[start.behind :], "", "", script.files, beside))
    if not is_found:
        yield from strangers


def _launched(
    words: Sequence[Text], trainer: str, shown: str, files: dict[str, str], beside: Beside
) -> Launch:
    """What the words behind a program say, over what the files say that they name."""
    arguments = read_arguments(words)
    loose = [word for word in arguments.rest if word.endswith((".yaml", ".yml", ".json", ".toml"))]
    keys: dict[str, Any] = {}
    notes = list(arguments.notes)
    for path in [*loose, *arguments.files]:
        text = files.get(path) or beside(path)
        if text is not None:
            tree = read_tree(text, path, beside)
            keys |= tree.keys
            notes += tree.notes
        elif (own := _own(trainer, path)) is not None:
            keys |= own
        else:
            notes.append(f"It reads {path}, which was not found: what that file says is not in this answer.")
    return Launch(trainer, shown, _left(keys, arguments.rest) | arguments.keys, notes=notes)


def _left(keys: dict[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """The keys of files without those that a word such as `~loss.epsilon` takes out, groups as a whole."""
    out = [word[1:].partition("=")[0] for word in words if REMOVAL.fullmatch(word)]
    return {
        key: value for key, value in keys.items() if not any(f"{key}.".startswith(f"{name}.") for name in out)
    }


def _own(trainer: str, path: str) -> Mapping[str, Any] | None:
    """What a file says that is one of the trainer's own, over its defaults; None of any other file."""
    name = path.rsplit("/", 1)[-1].removesuffix(".yaml")
    return DIALECTS[trainer].files.get(name) if trainer else None


def _of_python(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield from _of_script(read_python(text), beside)


def _of_notebook(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield from _of_script(read_notebook(text), beside)


def _of_script(script: PythonScript, beside: Beside) -> Iterator[Launch]:
    """The configurations that a script makes; else its dictionaries, or what its shell starts."""
    made = [config for config in script.configs if "." in config.made_by]
    own = [config for config in script.configs if config.made_by and "." not in config.made_by]
    if own and not made:
        note = f"{own[0].made_by} in line {own[0].line} is a class of its own, not of a trainer."
        yield Launch("", "", {}, notes=[note])
        return
    for config in made or script.configs:
        yield _configured(config, script)
    if not made and script.shell:
        yield from _of_shell(script.shell, "", beside)
    if not script.configs and not script.shell:
        yield Launch("", "", {}, notes=script.notes)


def _installed(notebook: str) -> str:
    """What a notebook hands to a shell; its outputs name other versions."""
    return read_notebook(notebook).shell


def _configured(config: Config, script: PythonScript) -> Launch:
    module = config.made_by.split(".")[0]
    trainer = next((d.name for d in DIALECTS.values() if module and (d.module or d.package) == module), "")
    version = (
        UNSLOTH if trainer == "trl" and any(name.split(".")[0] == UNSLOTH for name in script.imports) else ""
    )
    why = (
        f"`{config.made_by}` in line {config.line}"
        if config.made_by
        else f"the dictionary in line {config.line}"
    )
    keys = {**_set_by(trainer, config.made_by), **config.keys}
    return Launch(trainer, why, keys, version, script.notes, is_sure=bool(trainer))


def _set_by(trainer: str, made_by: str) -> Mapping[str, Any]:
    """What a trainer's configuration class sets by being chosen."""
    made = DIALECTS[trainer].made if trainer else {}
    return next((keys for pattern, keys in made.items() if re.fullmatch(pattern, made_by)), {})


READERS = {
    "keys": _of_keys,
    "tree": _of_tree,
    "shell": _of_shell,
    "python": _of_python,
    "notebook": _of_notebook,
}
