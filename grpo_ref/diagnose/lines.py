"""Read the metrics that trainers print, line by line: a record of numbers for each dictionary, console line or table.

| form | example |
|---|---|
| JSON Lines | `{"step": 1, "loss": 0.1}` |
| dictionaries | `{'loss': 0.0, 'reward': 0.5}` of TRL, ms-swift and SkyRL, also with numbers as text, or over several lines |
| console lines | `step:3 - actor/pg_loss:0.01 - ...` of verl, behind the prefixes of Ray |
| numbered dictionaries | `step 1: {...}` of slime and miles, `Global step 1: {...}` of OpenRLHF |
| bars | steps of prime-rl, whose fields (`Reward: 0.5`, or `Reward 0.5`) have bars between them |
| bullets | `• Avg Reward: 0.5` of NeMo-RL, below `== Step 1/50 ==` |
| epochs | `Epoch:[1/1](3/500), Reward: 0.5, ...` of MiniMind |
| frames | the tables of RLinf, AReaL and Open Instruct, drawn with │ |
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = dict[str, float]
NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)"
WRAPPED = re.compile(rf"(?:np|numpy)\.\w+\(\s*({NUMBER})\s*\)|tensor\(\s*({NUMBER})[^)]*\)")
"""A number as NumPy or PyTorch prints it: `np.float64(0.5)`."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m|�\[[0-9;]*m")
RAY = re.compile(r"^\s*\(\w+ pid=\d+[^)]*\)\s?")
CONSOLE = re.compile(rf"(?:^|[\s-])([A-Za-z_][\w/@.+-]{{0,200}}(?:\([^)]{{0,100}}\))?):({NUMBER})(?=\s|$)")
STEP = re.compile(r"\bstep:(\d+) - ")
CONTINUED = re.compile(rf"\s*-?\s*[\w/@.()-]+:{NUMBER}")
NUMBERED = re.compile(r"\b(?:step|rollout|perf|eval) (\d+): (\{.*\})")
BARS = re.compile(r"\bStep (\d+) \| (.*)")
BAR = re.compile(rf"\s*([A-Z][\w. -]*?):? +({NUMBER})(%?)")
HEADING = re.compile(r"=+ Step (\d+)/\d+ =+")
BULLET = re.compile(rf"\s*• (Loss|[A-Z][\w ]+|generation): ({NUMBER})")
EPOCH = re.compile(r"Epoch:(?:\[(\d+)/\d+\]\((\d+)/(\d+)\)| (\d+), Step: (\d+)/(\d+)), (.*)")
ITEM = re.compile(rf"\s*([A-Za-z][\w ]*): ?({NUMBER})")
PAIR = re.compile(rf"""['"]([^'"]+)['"]\s*:\s*['"]?({NUMBER})(?:/\d+)?['"]?\s*(?=[,}}])""")
STEP_OF_STEPS = "global_step/max_steps"
"""A metric of ms-swift, such as "5/3766"."""
KNOWN = (
    "'loss'",
    '"loss"',
    "'reward'",
    '"reward"',
    "train/loss",
    "rollout/",
    "objective/scores",
    "policy_loss",
    "'generate/",
)
"""A dictionary in a text is a record if it has one of these."""
MOST_RECORDS = 20_000
"""Number of records up to which all are read. Of n records, about this many over n are."""
GOLDEN = (1.0 + 5.0**0.5) / 2.0
STEPS = (
    "step",
    "rollout_id",
    "training_step",
    "global_step",
    "training/global_step",
    "trainer/global_step",
    "train/global_step",
    "global_step/max_steps",
    "_step",
    "Step",
    "system/step",
    "system/global_step",
    "progress/batch",
)
"""Names of the step in a record, the first that is present counts."""
STEP_IN_DICTIONARY = re.compile(rf"""['"](?:{"|".join(STEPS)})['"]: ?['"]?(\d{{1,15}})\b""")
LONGEST, LONGEST_FIELD = 20_000, 200
"""Longest line, or dictionary over several lines, and longest field that are read, in characters."""
SECTIONS = {
    "Time": "time/",
    "Environment": "env/",
    "Rollout": "rollout/",
    "Evaluation": "eval/",
    "Replay Buffer": "replay_buffer/",
    "Training/Actor": "train/",
    "Training/Critic": "train/",
    "Training/Other": "train/",
}
"""Sections of RLinf's table, each with the prefix that the names of its metrics have elsewhere."""
SECTION = re.compile(r"├─+ ([A-Z][\w/ ]*) ─+┤")
CELL = re.compile(rf"│\s*([A-Za-z_][\w/.@:-]*)=({NUMBER})\s*(?=│|$)")
STEP_OF_FRAME = re.compile(r"(?:│ Global Step:|\bTrain step) +(\d+)/\d+")


class Sample:
    """Choose the steps of a long log that are read, so that about `MOST_RECORDS` records are.

    All records of a step are read, or none. The chosen steps are spread evenly, and those of a smaller share are among
    those of a larger one: step n is chosen if the fractional part of n φ is below the share, with the golden ratio φ.
    """

    def __init__(self) -> None:
        self._seen = 0

    def takes(self, step: float | None = None) -> bool:
        """Return true if the next record is to be read. Without a step, records are numbered."""
        self._seen += 1
        share = MOST_RECORDS / self._seen
        return share >= 1.0 or place(self._seen if step is None else step) < share


def place(step: float) -> float:
    """Return the fractional part of a step times the golden ratio."""
    return step * GOLDEN % 1.0


def records_of_lines(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records in the lines of a text, in any of the forms above.

    Of more than `MOST_RECORDS` records, a part is read.
    """
    sample = Sample()
    frame = Frame(sample)
    console: list[str] = []  # the lines of a step of verl
    opened: list[str] = []  # the lines of a dictionary that is not closed yet
    step: float | None = None  # the step of the heading above, in a log with bullets
    for line in lines:
        if len(line) > LONGEST:
            line = line[:LONGEST]
        if console or "step:" in line:
            clean = _without_prefix(line)
            begins = STEP.search(clean)
            if begins or (console and not CONTINUED.match(clean)):
                yield from _of_console(console)
                console = []
            if (begins and sample.takes(float(begins[1]))) or console:
                console.append(clean)
                continue
        if "│" in line or "├" in line or "╭" in line or "╰" in line or "Train step " in line:
            yield from frame.records(_without_prefix(line))
            continue
        if "Step " in line or "Epoch:" in line:
            if fields := _of_bars(line) or _of_epoch(line):
                if sample.takes(fields["step"]):
                    yield fields
                continue
            if heading := HEADING.search(line):
                step = float(heading[1])
        elif step is not None and "•" in line and (bullet := BULLET.match(_without_prefix(line))):
            if sample.takes(step):
                yield {"step": step, bullet[1]: float(bullet[2])}
            continue
        if opened:
            opened.append(_without_prefix(line))
            if "}" in line or sum(map(len, opened)) > LONGEST:
                yield from _of_dictionary("".join(opened))
                opened = []
        elif "{" in line:
            if "}" in line:
                match = STEP_IN_DICTIONARY.search(line) if line.startswith("{") else NUMBERED.search(line)
                if not (match or line.startswith("{")) or sample.takes(float(match[1]) if match else None):
                    yield from _of_dictionary(line)
            elif any(name in line for name in KNOWN):
                opened = [_without_prefix(line)]
    yield from _of_console(console)


class Frame:
    """Read the tables that are drawn with │, a line at a time.

    RLinf writes `name=0.5` in the cells of sections. AReaL writes names and numbers in alternating cells. Open Instruct
    writes `name: 0.5 | name: 0.5` beside the first part of the names. The step is a cell of the first, a line above
    the second, and a metric of the third. Without a step, the tables are numbered from 1.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._tables = 0
        self._step: float | None = None
        self._prefix = ""
        self._panel: dict[str, str] | None = None  # the groups of Open Instruct's panel, each with its text
        self._group = ""

    def records(self, line: str) -> Iterator[Record]:
        """Yield the record of a line, or that of a panel at its end."""
        if match := STEP_OF_FRAME.search(line):
            self._step = float(match[1])
        if match := SECTION.search(line):
            self._prefix = SECTIONS.get(match[1], "")
        elif line.lstrip().startswith(("╭", "╒")):
            self._tables += 1
            self._panel = {} if " Metrics " in line else None
        elif line.lstrip().startswith("╰"):
            yield from self._of_panel()
        elif self._panel is not None:
            self._add_to_panel(line)
        else:
            step = float(max(self._tables, 1)) if self._step is None else self._step
            if self._sample.takes(step) and (numbers := self._cells(line)):
                yield {"step": step, **numbers}

    def _cells(self, line: str) -> Record:
        if "=" in line:
            return {self._prefix + name: float(value) for name, value in CELL.findall(line)}
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        pairs = zip(cells[::2], cells[1::2], strict=False)
        return {name: float(value) for name, value in pairs if name and re.fullmatch(NUMBER, value)}

    def _add_to_panel(self, line: str) -> None:
        assert self._panel is not None
        text = line.strip().strip("│")
        if not text.startswith("   "):  # else the line goes on with the group of the line above
            self._group, _, text = text.strip().partition(" ")
        self._panel[self._group] = f"{self._panel.get(self._group, '')} {text.strip()}"

    def _of_panel(self) -> Iterator[Record]:
        record: Record = {}
        for group, text in (self._panel or {}).items():
            for part in text.split(" | "):
                name, _, value = part.strip().rpartition(": ")
                if name and re.fullmatch(NUMBER, value):
                    record[name if group == "other" else f"{group}/{name}"] = float(value)
        self._panel = None
        if record:
            yield record


def numbers(record: Mapping[str, Any]) -> Record:
    """Return the numbers of a record; Transformers 5 prints them as text. Other values are dropped.

    A dictionary named "metrics" inside a record, as in the files of slime, is part of the record.

    >>> numbers({"loss": "1.5e-3", "name": "run", "done": True, "kl": None})
    {'loss': 0.0015}
    """
    kept: Record = {}
    for name, value in record.items():
        if name == "metrics" and isinstance(value, dict):
            kept |= numbers(value)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool) and isinstance(name, str):
            if name == STEP_OF_STEPS and isinstance(value, str):
                value = value.partition("/")[0]
            try:
                kept[name] = float(value)
            except (ValueError, OverflowError):
                continue
    return kept


def _without_prefix(line: str) -> str:
    """Return a line without colours and without the prefix of Ray."""
    return RAY.sub("", COLOUR.sub("", line))


def _of_bars(line: str) -> Record:
    """Return the record of a line of prime-rl; {} if it is none."""
    line_of_step = BARS.search(line)
    if not line_of_step:
        return {}
    matches = filter(None, (BAR.match(part[:LONGEST_FIELD]) for part in line_of_step[2].split("|")))
    fields = {match[1]: float(match[2]) / (100.0 if match[3] else 1.0) for match in matches}
    return {"step": float(line_of_step[1]), **fields} if fields else {}


def _of_epoch(line: str) -> Record:
    """Return the record of a line of MiniMind; {} if it is none. The step is counted over all epochs."""
    match = EPOCH.search(line)
    if not match:
        return {}
    epoch, step, steps = (int(each) for each in match.groups()[:6] if each is not None)
    items = filter(None, map(ITEM.match, match[7].split(",")))
    fields = {item[1]: float(item[2]) for item in items}
    return {"step": float((epoch - 1) * steps + step), **fields} if "Reward" in fields else {}


def _of_console(lines: list[str]) -> Iterator[Record]:
    """Yield the record of the lines that verl prints for one step."""
    if not lines:
        return
    text = WRAPPED.sub(lambda match: match[1] or match[2], " ".join(line.strip() for line in lines))
    begin = STEP.search(text)
    record = {name: float(value) for name, value in CONSOLE.findall(text[begin.start() :] if begin else text)}
    if len(record) > 1:
        yield record


def _of_dictionary(text: str) -> Iterator[Record]:
    """Yield the records of the dictionaries in a text, in Python's or JSON's notation."""
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        try:
            data = json.loads(stripped)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and (kept := numbers(data)):
            yield kept
            return
    if not any(name in text for name in KNOWN):
        return
    numbered = NUMBERED.search(text)
    for body in re.findall(r"\{[^{}]*\}", text):
        record = dict(pairs(body))
        if len(record) > 1:
            yield {"step": float(numbered[1]), **record} if numbered else record


def pairs(body: str) -> Iterator[tuple[str, float]]:
    """Yield the names and numbers of a printed dictionary, also of one that somebody shortened by hand.

    >>> list(pairs("{'loss': nan, 'reward': np.float64(0.5), 'name': 'run', ...}"))
    [('loss', nan), ('reward', 0.5)]
    """
    plain = WRAPPED.sub(lambda match: match[1] or match[2], body.replace("\n", ""))
    for name, value in PAIR.findall(plain):
        yield name, float(value)
