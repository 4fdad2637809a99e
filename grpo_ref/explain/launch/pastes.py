"""Clean pasted text: prompts, prefixes that launchers print before each line, and quotes or brackets without an end."""

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

PROMPT = re.compile(r"(?m)^(\([\w.-]+\) )?([\w.@:~/-]+)?\$ (?=\S)")
"""The prompt of a terminal before a command: "$ ", "(env) me@host:~/work$ "."""
PREFIXES = (
    re.compile(r"(\([^()\n]*pid=\d+[^()\n]*\)) ?"),  # Ray: "(main_task pid=277057, ip=10.0.0.2) "
    re.compile(r"(\d+): ?"),  # SLURM, `srun --label`: "0: "
    re.compile(r"([\w.-]+-\d+) +\| ?"),  # docker compose: "trainer-1  | "
)
"""Prefixes of the lines of a process. The group names the process."""
COLOUR = re.compile(r"\x1b?\[[0-9;]*m")
FENCE = re.compile(r"(?ms)^(```|~~~|''')[ \t]*\w*[ \t]*\n(.*?)^\1")
"""A block of code in Markdown. Some people write ''' in place of ```."""
OPEN_FENCE = re.compile(r"(?ms)\A(.*?)^(```|~~~|''')[ \t]*\w*[ \t]*\n(.*)\Z")
FENCE_BEFORE_CODE = re.compile(r"(?m)^(```|~~~)[ \t]*(\S+[ \t=]\S.*)$")
"""A fence with the first line of code behind it."""
CALL = re.compile(r"(?:\b\w+ *= *)?\b(?:\w+\.)*(?:GRPOConfig|GrpoConfig)\(")
OWN_CLASS = re.compile(r"(?m)^\s*class (GRPOConfig|GrpoConfig)\b")
OMITTED = re.compile(r"(?m)^\s*(\.\.\.|…),?\s*$\n?")
"""A line in place of omitted lines."""
MOST_LINES = 200
"""Largest number of lines that are read in a call without an end."""


class Repair(NamedTuple):
    """A pasted text with a correction.

    Attributes:
      text: the corrected text.
      kind: its format, a key of `reading.READERS`; "" if the text decides.
      note: a sentence for the reader on the correction.
    """

    text: str
    kind: str
    note: str


def without_prompts(text: str) -> str:
    r"""Return the text of a terminal without the prompts before its lines.

    >>> without_prompts("$ trl grpo \\\n>   --beta 0.1\nhello")
    'trl grpo \\\n  --beta 0.1\nhello'
    """
    if not PROMPT.search(text):
        return text
    return re.sub(r"(?m)(?<=\\\n)> ", "", PROMPT.sub("", text))


def by_process(text: str) -> list[str]:
    r"""Return the output of each process, without the prefixes of its lines and without repeated outputs.

    The list is empty unless every line has the same kind of prefix.

    >>> by_process("0: beta: 0.1\n1: beta: 0.1\n0: n: 8\n1: n: 8")
    ['beta: 0.1\nn: 8']
    >>> by_process("(main pid=7) a: 1\nhello")
    []
    """
    lines = [COLOUR.sub("", line) for line in text.splitlines() if line.strip()]
    for prefix in PREFIXES:
        matches = [prefix.match(line) for line in lines]
        processes: dict[str, list[str]] = {}
        for line, match in zip(lines, matches, strict=True):
            if match is not None:
                processes.setdefault(match[1], []).append(line[match.end() :])
        if lines and all(matches):
            return [*dict.fromkeys("\n".join(each) for each in processes.values())]
    return []


def blocks(text: str) -> list[str]:
    r"""Return the blocks of code in Markdown. The last block may lack its end.

    >>> blocks("Run\n```bash\nls\n```\nor\n```\nls -l\n")
    ['ls\n', 'ls -l\n']
    """
    closed = [block for _, block in FENCE.findall(text)]
    rest = OPEN_FENCE.match(FENCE.sub("", text))
    return [*closed, rest[3]] if rest else closed


def repairs(text: str) -> Iterator[Repair]:
    r"""Yield corrected versions of a text that could not be read as it is, the smallest correction first.

    >>> [repair.kind for repair in repairs("I use\nargs = GRPOConfig(\n  beta=0.1,\n  ...\nand it fails")]
    ['python']
    """
    if FENCE.search(text) or OPEN_FENCE.match(text):
        yield Repair(text, "markdown", "The text is read as Markdown with blocks of code.")
    if FENCE_BEFORE_CODE.search(text):
        apart = FENCE_BEFORE_CODE.sub(r"\1\n\2", text)
        yield Repair(apart, "markdown", "The text is read as Markdown with blocks of code.")
    if text.count("`") % 2:
        yield Repair(text.replace("`", ""), "", "A backtick without a partner is ignored.")
    for call in () if _is_python(text) or OWN_CLASS.search(text) else CALL.finditer(text):
        closed = _closed(text[call.start() :])
        if closed:
            yield Repair(
                closed,
                "python",
                "The call of the configuration class is read on its own, up to its last argument.",
            )


def _closed(text: str) -> str:
    """Return the call that a text begins with, closed after the last line that can be an argument; "" if there is none."""
    lines = OMITTED.sub("", textwrap.dedent(text)).splitlines()[:MOST_LINES]
    for end in range(len(lines), 0, -1):
        for bracket in ("", ")"):
            source = textwrap.dedent("\n".join(lines[:end])).strip() + bracket
            if _is_python(source):
                return source
    return ""


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
