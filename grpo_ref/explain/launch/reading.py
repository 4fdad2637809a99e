"""Read what a file or a pasted text launches: the trainer, its version, and the keys with their values."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grpo_ref.explain.dialect import COMPLETIONS
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch.arguments import DELETED, FLAG, OVERRIDE, Arguments, read_arguments
from grpo_ref.explain.launch.detection import (
    Start,
    elsewhere,
    fit,
    inner,
    lower_bound,
    of_group,
    of_keys,
    only_samples,
    pinned,
    program,
    started,
)
from grpo_ref.explain.launch.logs import printed, traced
from grpo_ref.explain.launch.pastes import FENCE, blocks, by_process, repairs, without_prompts
from grpo_ref.explain.launch.python import (
    CONFIG,
    CONFIGS,
    Config,
    PythonScript,
    Subclass,
    read_notebook,
    read_python,
)
from grpo_ref.explain.launch.shell.script import CUT_OFF, NOT_FOUND
from grpo_ref.explain.launch.text import Text
from grpo_ref.explain.launch.trees import (
    ENDINGS,
    Beside,
    in_group,
    nowhere,
    override_list,
    package_of,
    read_tree,
)
from grpo_ref.explain.launch.values import NoLaunch, Unknown, flat
from grpo_ref.explain.launch.wrappers import handed_on, launcher_of, relay_of

if TYPE_CHECKING:
    from grpo_ref.explain.dialect import Dialect
    from grpo_ref.explain.launch.shell.script import Script

KINDS = {
    **dict.fromkeys(ENDINGS, "tree"),
    **dict.fromkeys((".sh", ".bash", ".slurm", ".sbatch", ".zsh"), "shell"),
    ".md": "markdown",
    ".py": "python",
    ".ipynb": "notebook",
}
UNSLOTH = "unsloth"
"""A package that changes TRL when it is imported, and the name of its dialect."""
PLUGINS = {"ms_swift": ("external_plugins",)}
"""Keys of a trainer that name code of the user, which may read keys that the trainer does not have."""
NULL = "it gives no number, so the program that reads it decides"
RUNS = re.compile(r"(?m)^\s*-?\s*(run|command|args|cmd|script|entrypoint)\s*:")
"""Keys whose values are commands, in files for a cluster."""
LOGGED = 60
"""Number of keys from which a file of flat keys is taken for a logged configuration.

People write fewer keys for such a trainer, and a run always logs more.
"""
LONGEST, LONGEST_NOTEBOOK = 1_000_000, 50_000_000
"""Largest number of characters of a file. Notebooks may be longer because they hold pictures."""


@dataclass(frozen=True)
class Launch:
    """One training run that a file launches.

    Attributes:
      trainer: name of the trainer's dialect; "" if the trainer is unknown.
      why: the evidence for the trainer, as a part of a sentence: "`trl grpo` in line 3".
      keys: dotted keys with their values. A value that only the run knows is `Unknown`.
      version: the trainer's version that the file requests, or "".
      notes: remarks for the reader about how the file was read, in whole sentences.
      cautions: assumptions of the answer that the file does not state, in whole sentences.
      missing: files or dictionaries of keys that the launch names and that could not be read, so their keys are unknown.
      added: keys that Hydra was told to add. A trainer that does not read them ignores them.
      program: the unknown program that is started, or "". It may set keys that it is not given.
      is_sure: false if the trainer was guessed from the keys.
      refusal: the reason why it cannot be explained, as the end of a sentence, or "".
      is_whole: true if this is the whole command that starts the trainer, so that absent keys are certainly
        not set.
      at_least: the oldest version of the trainer that the file allows, or "".
      candidates, known_by: as in `grpo_ref.explain.version.Version`, once the release is chosen.
      subclasses: classes of a script that override methods which compute the objective.
    """

    trainer: str
    why: str
    keys: dict[str, Any]
    version: str = ""
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    added: frozenset[str] = frozenset()
    program: str = ""
    is_sure: bool = False
    is_whole: bool = False
    refusal: str = ""
    at_least: str = ""
    candidates: tuple["Dialect", ...] = ()
    known_by: str = ""
    subclasses: tuple[Subclass, ...] = ()


def launches(text: str, name: str = "", beside: Beside = nowhere, trainer: str = "") -> list[Launch]:
    """Return the training runs that a text launches, the one with the most keys first.

    Args:
      text: a shell script, a launch line, YAML, JSON, TOML, a Python script, a notebook, or flags and overrides.
      name: name of the file. Its ending gives the format; without a name the text itself decides.
      beside: returns the text of another file that this one names.
      trainer: name of the dialect; "" to detect it.

    Raises:
      ValueError: if the text cannot be read, or launches no trainer that has a dialect.
    """
    longest = LONGEST_NOTEBOOK if name.endswith(".ipynb") else LONGEST
    if len(text) > longest:
        raise ValueError(f"it is longer than {longest:,} characters")
    text = without_prompts(text.replace("\r\n", "\n"))
    kind = next((kind for ending, kind in KINDS.items() if name.lower().endswith(ending)), "")
    try:
        return _launches(text, kind or _kind(text), name, beside, trainer)
    except ValueError:
        corrected = [] if kind in ("tree", "notebook") else _corrected(text, kind, beside, trainer)
        if not corrected:
            raise
        return corrected


def _corrected(text: str, kind: str, beside: Beside, trainer: str) -> list[Launch]:
    """Return the launches of a pasted text without the prefixes of a log, or else after a small correction."""
    attempts = [(part, "", "The prefixes of its lines are ignored.") for part in by_process(text)]
    attempts = attempts or [(each.text, each.kind, each.note) for each in repairs(text)]
    for part, own, note in attempts:
        try:
            results = _launches(part, own or kind or _kind(part), "", beside, trainer)
        except ValueError:
            continue
        return [replace(launch, notes=[note, *launch.notes]) for launch in results]
    return []


def _launches(text: str, kind: str, name: str, beside: Beside, trainer: str) -> list[Launch]:
    """Return the launches of a text in a known format, the one with the most keys first."""
    asked = _installed(text) if kind == "notebook" else text
    results = [_with_trainer(launch, trainer, asked) for launch in READERS[kind](text, name, beside)]
    known = [launch for launch in results if launch.trainer]
    if not known:
        reasons = dict.fromkeys(launch.refusal for launch in results if launch.refusal)
        reason = " and ".join(reasons) or _nothing(kind, [launch for launch in results if launch.keys])
        notes = " ".join(
            dict.fromkeys(note for launch in results for note in [*launch.cautions, *launch.notes])
        )
        raise (ValueError if reasons else NoLaunch)(f"{notes} So {reason}." if notes else reason)
    versioned = [
        replace(
            launch,
            version=launch.version or pinned(asked, DIALECTS[launch.trainer].program.package),
            at_least=lower_bound(asked, DIALECTS[launch.trainer].program.package),
        )
        for launch in map(_patched, map(_completed if kind == "tree" else _same, known))
    ]
    fits = [fit(launch.trainer, launch.keys) for launch in versioned]
    if trainer and any(fits):  # other programs of the file were not asked for
        versioned = [launch for launch, count in zip(versioned, fits, strict=True) if count]
    return sorted(versioned, key=lambda launch: -len(launch.keys))


def launch_of(words: Sequence[str], beside: Beside = nowhere, trainer: str = "") -> Launch:
    """Return the launch of one command line: a trainer's program with arguments, or only flags and overrides.

    Args:
      words: the words of the command line, as a shell passes them.
      beside: returns the text of a file that the words name.
      trainer: name of the dialect; "" to detect it.

    Raises:
      ValueError: if a word is neither a flag nor an override, or if the trainer is unknown.
    """
    texts = [Text.of(word) for word in words]
    start = None if all(map(OVERRIDE.fullmatch, words)) else started(words)
    if start is not None:
        launch = _launched(texts[start.behind :], start.trainer, start.shown, {}, beside)
        return _with_trainer(replace(launch, why=f"`{start.shown}`", is_sure=True, is_whole=True), trainer)
    rest = read_arguments(texts).rest
    if rest:
        raise ValueError(f"{rest[0]} is neither a file nor KEY=VALUE")
    launch = _with_trainer(_launched(texts, "", "", {}, beside), trainer)
    if not launch.trainer:
        raise ValueError(launch.refusal or _nothing("keys", [launch]))
    return launch


def _nothing(kind: str, results: list[Launch]) -> str:
    if results:
        nearest = max(results, key=lambda launch: max(fit(trainer, launch.keys) for trainer in DIALECTS))
        keys = ", ".join([*nearest.keys][:5])
        return f"no trainer is known by these keys ({keys}, ...); name it with --trainer"
    told = {
        "shell": "no command in it starts a trainer that is known here",
        "python": "no configuration was found in it: expected GRPOConfig(...) or a dictionary of keys",
    }
    return told.get(kind, "it holds no keys")


def _with_trainer(launch: Launch, trainer: str, text: str = "") -> Launch:
    """Return the launch with the requested trainer; otherwise detect the trainer from the keys.

    Args:
      launch: the launch as it was read.
      trainer: name of the requested dialect, or "".
      text: the text that may request a release of a program that passes its keys on.
    """
    if trainer and (launch.trainer or launch.keys):
        why = launch.why if launch.trainer == trainer else ""
        return _of_own_code(replace(launch, trainer=trainer, why=why, is_sure=True))
    if launch.trainer or not launch.keys:
        return _of_own_code(launch)
    relay = relay_of(launch.keys)
    if relay is not None:
        keys, why = handed_on(relay, launch.keys), f"{relay.title} hands its keys on"
        version = relay.version(text)
        is_stated = version or pinned(text, DIALECTS[relay.trainer].program.package)
        cautions = launch.cautions if is_stated else [relay.caution, *launch.cautions]
        launch = replace(launch, keys=keys, cautions=cautions, version=version)
        return replace(launch, trainer=relay.trainer, why=why, is_sure=True)
    return _of_own_code(_guessed(launch))


def _of_own_code(launch: Launch) -> Launch:
    """Return a launch with cautions on code beside the trainer that reads its keys: a fork's class, or a plugin.

    A group size of null becomes unknown: a fork may take the whole batch as one group.
    """
    if not launch.trainer:
        return launch
    dialect = DIALECTS[launch.trainer]
    size = dialect.keys.concepts.get(COMPLETIONS, "")
    keys = _with_nested(launch)
    launch = replace(launch, keys=keys)
    keys = dict(keys)
    cautions = list(launch.cautions)
    for key, value in launch.keys.items():
        if value is None and size and dialect.key(key) == size and dialect.keys.defaults[size] is not None:
            keys[key] = Unknown("null", NULL)
        is_class = key.rpartition(".")[2] == "_target_" and str(value).endswith((*CONFIGS, "GRPOTrainer"))
        if is_class and str(value).partition(".")[0] != (dialect.program.module or dialect.program.package):
            cautions.append(
                f"{value} is a class of a fork, not of {dialect.title}. Its objective may differ."
            )
    added = launch.added
    if any(key in PLUGINS.get(launch.trainer, ()) for key in keys):
        added |= {key for key in keys if dialect.key(key) is None}
    return replace(launch, keys=keys, cautions=cautions, added=added)


def _of_unsloth(launch: Launch) -> str:
    """Return "unsloth" if a TRL launch uses that word as a value, as in use_gradient_checkpointing="unsloth"."""
    return UNSLOTH if launch.trainer == "trl" and UNSLOTH in launch.keys.values() else ""


def _patched(launch: Launch) -> Launch:
    """Return a launch of a trainer as one of its fork if a value names the fork.

    Examples are use_gradient_checkpointing="unsloth" for TRL, and a function in the package miles for slime.
    """
    is_unsloth = launch.trainer == "trl" and UNSLOTH in launch.keys.values()
    is_miles = launch.trainer == "slime" and any(
        isinstance(value, str) and value.startswith("miles.") for value in launch.keys.values()
    )
    return replace(launch, trainer=UNSLOTH if is_unsloth else "miles") if is_unsloth or is_miles else launch


def _same(launch: Launch) -> Launch:
    return launch


def _completed(launch: Launch) -> Launch:
    """Return a launch read from a run's log without the keys that the trainer derived from other keys."""
    dialect = DIALECTS[launch.trainer]
    named = {dialect.key(key): key for key, value in launch.keys.items() if value is not None}
    added = [named[key] for key, source in dialect.keys.derived.items() if key in named and source in named]
    if not added or len(launch.keys) < LOGGED:
        return launch
    note = (
        f"It is what a run logged, as it holds {', '.join(added)}, which {dialect.name} works out itself from keys that"
        " are there too."
    )
    keys = {key: value for key, value in launch.keys.items() if key not in added}
    return replace(launch, keys=keys, notes=[note, *launch.notes])


def _with_nested(launch: Launch) -> dict[str, Any]:
    """Return the keys, with a dictionary as dotted keys if the trainer has these: loss_fn_config='{"beta": 0.1}'."""
    has = DIALECTS[launch.trainer].key
    keys: dict[str, Any] = {}
    for key, value in launch.keys.items():
        inside = flat({key: value}) if isinstance(value, dict) and has(key) is None else {}
        keys |= inside if any(map(has, inside)) else {key: value}
    return keys


def _guessed(launch: Launch) -> Launch:
    """Return the launch with the trainer that its keys indicate, or that the keys of one of its groups indicate."""
    name, known = of_keys(launch.keys, launch.program)
    if name and only_samples(name, launch.keys):
        reason = "its keys configure only sampling and rewards, and no training; if it does train, name its trainer with"
        return replace(launch, refusal=f"{reason} --trainer")
    if name:
        guessed = replace(launch, trainer=name, why=f"{known} keys that change its objective")
        launcher = launcher_of(launch.program, name)
        if launcher is not None:
            guessed = replace(guessed, cautions=[launcher.caution, *launch.cautions])
        return _started_by_own_script(guessed)
    name, group = of_group(launch.keys)
    if not name:
        return launch
    caution = (
        f"Its group {group} has this trainer's keys. A custom program passes them on, and may override settings that"
        " are not listed here."
    )
    why = f"its keys are in the group {group}"
    cautions = [caution, *launch.cautions]
    return replace(launch, trainer=name, why=why, keys=inner(launch.keys, group), cautions=cautions)


def _started_by_own_script(launch: Launch) -> Launch:
    """Return a launch whose keys identify the trainer. If its program is one of the trainer's scripts, it is known."""
    if launch.program.rsplit("/", 1)[-1] not in DIALECTS[launch.trainer].program.scripts:
        return launch
    keys = {**_defaults_of(launch.trainer, launch.program), **launch.keys}
    return replace(launch, program="", keys=keys, is_sure=True, is_whole=True)


def _kind(text: str) -> str:
    """Return the format of a text without a file name."""
    stripped = text.lstrip()
    if stripped.startswith("#!"):
        return "shell"
    if stripped.startswith("{") and '"cells"' in text:
        return "notebook"
    if _is_line_of_keys(text):
        return "keys"
    if any(word in text for word in ("GRPOConfig(", "import ")) and _reads(read_python, text):
        return "python"
    if _starts_something("\n".join(traced(text))):
        return "log"
    if FENCE.search(text):
        return "markdown"
    if override_list(text):
        return "tree"
    if _reads(read_tree, text) and (RUNS.search(text) or not _starts_something(text)):
        return "tree"
    return "log" if not _starts_something(text) and next(printed(text), None) else "shell"


def _reads(reader: Callable[[str], Any], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _starts_something(text: str) -> bool:
    """Return true if a line of a text is a command that starts a trainer."""
    return any(started(line.split()) for line in text.splitlines())


def _has_keys_of_a_trainer(text: str) -> bool:
    """Return true if a text has the keys of a trainer as overrides: a script that starts a custom program."""
    overrides = filter(OVERRIDE.fullmatch, text.split())
    return bool(of_keys({each.lstrip("+").partition("=")[0]: "" for each in overrides})[0])


def _words(text: str) -> list[str]:
    """Return the words of a command line; an empty list if the text is not a command line."""
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError:
        return []


def _is_line_of_keys(text: str) -> bool:
    """Return true if a text has only flags and overrides."""
    words = _words(text)
    is_key = [bool(FLAG.fullmatch(word) or OVERRIDE.fullmatch(word)) for word in words]
    return bool(words) and is_key[0] and (all(is_key) or words[0].startswith("--"))


def _of_keys(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield _launched([Text.of(word) for word in _words(text)], "", "", {}, beside)


def _of_tree(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """Yield the launch of a file of keys; or that of a shell script inside the file, as in files for a cluster."""
    overrides = override_list(text, name)
    if overrides:
        yield _launched([Text.of(word) for word in overrides], "", "", {}, beside)
        return
    own = {file for dialect in DIALECTS.values() for file in dialect.program.files}
    tree = read_tree(text, name, beside, own=own)
    plain = [str(value) for value in tree.keys.values() if isinstance(value, (str, Unknown))]
    inside = [] if of_keys(tree.keys)[0] else _scripts(tree.keys)
    texts = [*dict.fromkeys([*plain, *inside])]
    scripts = [script for script in texts if _starts_something(script)]
    if not scripts and inside:
        scripts = [script for script in texts if _has_keys_of_a_trainer(script)]
    if scripts:
        given = [line for key, value in tree.keys.items() if (line := _exported(key, value))]
        yield from _of_shell("\n".join([*given, *scripts]), "", beside)
    else:
        yield Launch("", "", tree.keys, cautions=tree.notes, missing=tuple(tree.missing))


def _scripts(data: Any) -> Iterator[str]:
    """Yield the possible commands in a file for a cluster or an editor: texts and lists of words, at any depth."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list) and all(isinstance(item, (str, int, float)) for item in data):
        yield shlex.join(map(str, data))
    elif isinstance(data, list):
        for item in data:
            yield from _scripts(item)
    elif isinstance(data, dict):
        words = [*_program(data), *_row(data.get("args"))]
        rest = {key: value for key, value in data.items() if key not in ("command", "args")}
        yield from _scripts([shlex.join(map(str, words)), [*rest.values()]])


def _program(data: dict[str, Any]) -> list[Any]:
    """Return the program that a container or an editor starts, without its arguments."""
    if "module" in data:
        return ["python", "-m", data["module"]]
    return ["python", data["program"]] if "program" in data else _row(data.get("command"))


def _row(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else str(value).split()


def _exported(key: str, value: Any) -> str:
    """Return an environment variable that a file for a cluster sets, as a line of a script; "" for other keys."""
    group, _, name = key.rpartition(".")
    is_one = group in ("env", "envs", "environment", "env_vars") and name.isidentifier() and value is not None
    return f"export {name}={shlex.quote(str(value))}" if is_one else ""


def _of_markdown(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """Yield the launches in the blocks of code, one after the other. A block that cannot be read may be corrected."""
    for block in blocks(text):
        attempts = [(block, "", ""), *((each.text, each.kind, each.note) for each in repairs(block))]
        for part, kind, note in attempts:
            try:
                results = [*READERS[kind or _kind(part)](part, "", beside)]
            except ValueError:
                continue
            if any(launch.trainer or launch.keys for launch in results):
                yield from (
                    replace(launch, notes=[*([note] if note else []), *launch.notes]) for launch in results
                )
                break


def _of_log(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """Yield the launches of the commands that a log shows; without commands, the configurations in the log."""
    commands = [*dict.fromkeys(line for line in traced(text) if _starts_something(line))]
    if commands:
        yield from _of_shell("\n".join(commands), "", beside)
    else:
        yield from (Launch("", "", flat(results)) for results in printed(text))


def _of_shell(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    """Yield the launch of each command.

    If a known trainer is started, unknown programs count only if their keys identify a trainer: a server beside the
    trainer does not count, a second training run does.
    """
    from grpo_ref.explain.launch.shell import (
        read_shell,
    )  # only for scripts, so that other files are read sooner

    script = read_shell(text, beside)
    notes = [f"Line {note.line}: {note.text}" for note in script.notes if note.kind != CUT_OFF]
    cut = [f"Line {note.line}: {note.text}" for note in script.notes if note.kind == CUT_OFF]
    strangers = []
    is_found = False
    for command in script.commands:
        spelled, start = _started(command.words)
        words = [str(word) for word in spelled]
        launch = None
        if start is not None:
            launch = _launched(spelled[start.behind :], start.trainer, start.shown, script.files, beside)
        if start is not None and launch is not None and not _is_namesake(start, launch):
            is_found = True
            cautions = [*launch.cautions, *cut]
            cut = []  # said once, for the first launch
            why = f"`{start.shown}` in line {command.line}"
            launch = replace(launch, why=why, notes=[*launch.notes, *notes], cautions=cautions)
            yield replace(launch, is_sure=True, is_whole=True)
        elif other := elsewhere(words):
            strangers.append(Launch("", "", {}, refusal=f"{other} is started, which has no dialect here"))
        elif (start := program(words)) is not None:
            launch = _launched(command.words[start.behind :], "", "", script.files, beside)
            strangers.append(replace(launch, program=start.shown))
    if is_found:
        yield from (each for each in strangers if each.keys and _guessed(each).trainer)
    else:
        strangers += _of_inner(script, beside)
        absent = [note.text for note in script.notes if note.kind == NOT_FOUND]
        yield from (replace(each, cautions=[*each.cautions, *absent]) for each in strangers)
        yield Launch("", "", {}, cautions=absent)


def _is_namesake(start: Start, launch: Launch) -> bool:
    """Return true if a script only shares its name with a trainer's: its keys are its own, and none matters there."""
    dialect = DIALECTS[start.trainer]
    names = {dialect.key(key) for key in launch.keys}
    return (
        start.shown.endswith(".py")
        and None in names
        and not names & {*dialect.keys.defaults, *dialect.keys.inexpressible}
    )


def _of_inner(script: "Script", beside: Beside) -> Iterator[Launch]:
    """Yield the launches inside a command's arguments or variables, and in programs that it starts.

    Examples are `ssh node "..."` and `COMMAND="..." sbatch ray.sub`.
    """
    for command in script.commands:
        texts = map(str, [*command.words, *command.variables.values()])
        lines = [text for text in texts if " " in text]
        for line in lines:
            line = line.partition("=")[2] if line.startswith("--") else line
            if _starts_something(line) or _has_keys_of_a_trainer(line):
                yield from _of_shell(line, "", beside)
        own = [path for path in map(str, command.words) if path in script.files]
        for path in own:
            source = script.files[path]
            if path.endswith(".sh"):
                yield from _of_shell(source, "", beside)
            elif _reads(read_python, source):
                yield from _of_script(read_python(source), beside)
        for path in (word for word in map(str, command.words) if word.endswith(".py")):
            yield from _of_program(path, command.words, beside)
    for source in script.python:
        if _reads(read_python, source):
            yield from _of_script(read_python(source), beside)


def _of_program(path: str, words: Sequence[Text], beside: Beside) -> Iterator[Launch]:
    """Yield the launches of a Python file beside, unless the command may change a default that was used."""
    source = beside(path)
    if source is None or not _reads(read_python, source):
        return
    start = next(place for place, word in enumerate(words) if str(word) == path)
    given = read_arguments(words[start + 1 :]).keys
    for launch in _of_script(read_python(source, given), beside):
        told = f"{path}, which it starts, is read with the arguments of the command."
        yield replace(launch, notes=[told, *launch.notes])


def _started(words: Sequence[Text]) -> tuple[Sequence[Text], Start | None]:
    """Return the words of a command and the trainer that it starts.

    If an unknown word may be one of several programs, it counts if all of them start the same trainer.
    """
    start = started([str(word) for word in words])
    holes = [(i, word.holes[0]) for i, word in enumerate(words) if len(word.parts) == len(word.holes) == 1]
    for place, hole in [] if start else holes:
        ways = [
            [*words[:place], *map(Text.of, way.split()), *words[place + 1 :]] for way in hole.alternatives
        ]
        results = [started([str(word) for word in way]) for way in ways]
        first = results[0] if results else None
        if first and all(each and each.trainer == first.trainer for each in results):
            return ways[0], first
    return words, start


def _launched(
    words: Sequence[Text], trainer: str, shown: str, files: dict[str, str], beside: Beside
) -> Launch:
    """Return the launch that a program's arguments give.

    They override the keys of the files that they name.
    """
    arguments = read_arguments(words)
    cautions: list[str] = []
    missing: list[str] = []
    named = [*(word for word in arguments.rest if word.endswith(ENDINGS)), *arguments.files]
    groups = {group: text for group in arguments.keys if (text := _group(arguments, group, beside))}
    chosen = {group: str(arguments.keys[group]) for group in groups}
    own = DIALECTS[trainer].program.files if trainer else {}
    keys: dict[str, Any] = dict(_defaults_of(trainer, shown)) if trainer else {}
    for path in named:
        text = files.get(path) or beside(path) or beside(_near_program(path, shown))
        name = path.rsplit("/", 1)[-1].removesuffix(".yaml")
        if text is not None:
            tree = read_tree(text, path, beside, chosen=chosen, own=frozenset(own))
            keys |= tree.keys
            cautions += tree.notes
            missing += tree.missing
            groups = {group: text for group, text in groups.items() if group not in tree.used}
        elif name in own:
            keys |= own[name]
        else:
            missing.append(path)
            cautions.append(
                f"It reads {path}, which was not found: what that file says is not in this answer."
            )
    for group, text in groups.items():
        keys |= flat(in_group(read_tree(text).keys, package_of(text, group)))
    keys = _without_deleted(keys, arguments.keys)
    keys |= {key: value for key, value in arguments.keys.items() if key not in chosen}
    for flag, path in arguments.last.items():
        text = files.get(path) or beside(path)
        if text is not None:
            keys |= read_tree(text, path, beside).keys
        elif trainer:
            missing.append(path)
            cautions.append(
                f"{flag} names {path}, which was not found. Its keys override those of this report."
            )
        else:
            keys |= {flag: path}
    return Launch(
        trainer,
        shown,
        keys,
        notes=arguments.notes,
        cautions=cautions,
        missing=tuple(missing),
        added=arguments.added,
    )


def _near_program(path: str, shown: str) -> str:
    """Return a path in the folder of the program that is started, as Hydra's config_path is read."""
    folder = shown.rpartition(" ")[2].rpartition("/")[0]
    return f"{folder}/{path}" if folder else path


def _defaults_of(trainer: str, shown: str) -> Mapping[str, Any]:
    """Return the keys that a command sets which starts a trainer, by its words or by the name of its script."""
    names = (shown, shown.rsplit("/", 1)[-1])
    for pattern, keys in DIALECTS[trainer].program.defaults_by_command.items():
        if any(re.fullmatch(pattern, name) for name in names):
            return keys
    return {}


def _group(arguments: Arguments, name: str, beside: Beside) -> str | None:
    """Return the text of the file chosen for a group of Hydra, as in `algorithm=grpo`; None for a plain value."""
    value = arguments.keys[name]
    if "." in name or not isinstance(value, str):
        return None
    results = (beside(f"{folder}/{name}/{value}.yaml") for folder in arguments.folders)
    return next((text for text in results if text is not None), None)


def _without_deleted(keys: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of files. Keys inside a group that a word such as `~loss` deletes become unknown."""
    deleted = [name for name, value in said.items() if isinstance(value, Unknown) and value.why == DELETED]
    return {
        key: next((said[name] for name in deleted if key.startswith(f"{name}.")), value)
        for key, value in keys.items()
    }


def _of_python(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield from _of_script(read_python(text), beside)


def _of_notebook(text: str, name: str, beside: Beside) -> Iterator[Launch]:
    yield from _of_script(read_notebook(text), beside)


def _of_script(script: PythonScript, beside: Beside) -> Iterator[Launch]:
    """Yield the configurations that a script makes; else its dictionaries, or the launches in its shell lines."""
    made = [config for config in script.configs if "." in config.made_by]
    own = [config for config in script.configs if config.made_by and "." not in config.made_by]
    snippets = [each for each in own if each.made_by == CONFIG and CONFIG not in script.classes]
    if snippets and not made:
        caution = f"{CONFIG} is not imported in this text. It is taken to be TRL's class."
        for config in snippets:
            launch = _configured(config._replace(made_by=f"trl.{CONFIG}"), script)
            yield replace(
                launch, why=f"`{CONFIG}` in line {config.line}", cautions=[caution, *launch.cautions]
            )
        return
    if own and not made:
        reason = f"{own[0].made_by} in line {own[0].line} is a class of its own, not of a trainer"
        yield Launch("", "", {}, refusal=reason)
        return
    known = [config for config in made if _is_known_class(config.made_by)]
    for config in made:
        if config not in known:
            package, _, name = config.made_by.rpartition(".")
            reason = f"{name} of {package} configures another trainer, which is not described here"
            yield Launch("", "", {}, refusal=reason)
    imported = {name.partition(".")[0] for name in script.imports}
    is_launch = not imported or bool(imported & _modules())
    if not made and script.configs and not is_launch:
        reason = "it has a dictionary of settings, but imports no trainer that is known here"
        yield Launch("", "", {}, refusal=reason)
    for config in known if made else script.configs if is_launch else ():
        yield _configured(config, script)
    if not made and script.shell:
        yield from _of_shell(script.shell, "", beside)
    if not script.configs:
        yield Launch("", "", {}, notes=script.notes)


def _installed(notebook: str) -> str:
    """Return the lines that a notebook passes to a shell.

    Its outputs are excluded, as they name other versions.
    """
    return read_notebook(notebook).shell


def _configured(config: Config, script: PythonScript) -> Launch:
    module = config.made_by.split(".")[0]
    trainer = next(
        (d.name for d in DIALECTS.values() if module and (d.program.module or d.program.package) == module),
        "",
    )
    if trainer == "trl" and any(name.split(".")[0] == UNSLOTH for name in script.imports):
        trainer = UNSLOTH
    why = (
        f"`{config.made_by}` in line {config.line}"
        if config.made_by
        else f"the dictionary in line {config.line}"
    )
    keys = {**_set_by(trainer, config.made_by), **_without_objects(trainer, config.keys)}
    own = ", ".join(script.own_trainers)
    cautions = [f"The script calls {own}, which is a class of its own. Its loss may differ."] if own else []
    return Launch(
        trainer,
        why,
        keys,
        notes=script.notes,
        cautions=cautions,
        missing=config.unread,
        subclasses=script.subclasses,
        is_sure=bool(trainer),
    )


def _modules() -> set[str]:
    """Return the modules that scripts of trainers import."""
    return {name for d in DIALECTS.values() for name in (d.program.module, d.program.package) if name}


def _is_known_class(made_by: str) -> bool:
    """Return true if a class is the configuration of a trainer here, or one that a user's module defines.

    TRL's experimental trainers have classes such as AsyncGRPOConfig, with another loss.
    """
    module, name = made_by.partition(".")[0], made_by.rpartition(".")[2]
    dialect = next((d for d in DIALECTS.values() if (d.program.module or d.program.package) == module), None)
    return (
        dialect is None
        or name in CONFIGS
        or any(re.fullmatch(pattern, made_by) for pattern in dialect.program.classes)
    )


def _without_objects(trainer: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a configuration class.

    A key such as `async_config.groups_per_batch` is that of an object among the values. It is kept if the trainer knows
    the group `async_config`, and then without the name of the group.
    """
    if not trainer:
        return dict(keys)
    known, groups = DIALECTS[trainer].keys.names, DIALECTS[trainer].keys.groups
    plain = {key: value for key, value in keys.items() if "." not in key and key not in groups}
    inner = {key.partition(".")[2]: value for key, value in keys.items() if key.partition(".")[0] in groups}
    return plain | {key: value for key, value in inner.items() if key in known}


def _set_by(trainer: str, made_by: str) -> Mapping[str, Any]:
    """Return the keys that the choice of a trainer's configuration class sets.

    A value of `{unknown = "reason"}` marks a key that the class does not have, but other code of the launch sets.
    """
    made = DIALECTS[trainer].program.classes if trainer else {}
    keys = next((keys for pattern, keys in made.items() if re.fullmatch(pattern, made_by)), {})
    return {
        key: Unknown(key, value["unknown"]) if isinstance(value, dict) else value
        for key, value in keys.items()
    }


READERS = {
    "keys": _of_keys,
    "tree": _of_tree,
    "shell": _of_shell,
    "log": _of_log,
    "markdown": _of_markdown,
    "python": _of_python,
    "notebook": _of_notebook,
}
