"""Check the English of the project against the rules of `plain_english.toml`.

The check reads docstrings, comments, text in string literals, names in code and Markdown. It skips code
blocks, inline code, formulas, links and generated text. Text that is not rewritten yet is listed in
`plain_english_allowed.json` (path -> rule -> count). The list may only shrink.
"""

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES_FILE = Path(__file__).with_suffix(".toml")
ALLOWED_FILE = Path(__file__).with_name("plain_english_allowed.json")
SOURCES = ("*.md", "conformance/**/*.md", "conformance/**/*.py",
           "docs/**/*.md", "docs/**/*.py", "examples/**/*.md", "examples/**/*.py",
           "notebooks/*.py", "grpo_ref/**/*.md", "grpo_ref/**/*.py", "tests/**/*.py")  # fmt: skip
TRANSLATED = ".zh.md"
GENERATED = ("docs/experiments/README.md", "docs/experiments/*/README.md")
UPDATE = "python docs/plain_english.py --update"
EPILOG = f"""example:
  python docs/plain_english.py --all docs/tutorials     everything to rewrite in one folder
  python docs/plain_english.py                          the check: only what the list does not allow
  {UPDATE}                 shrink the list after a rewrite
"""

SPACE = r"(?:[ \t]+|[ \t]*\n[ \t]*)"  # between two words: spaces or one line break
HIDDEN = "\0"  # replaces code and formulas, so that no pattern matches across them
LITERAL = re.compile(
    r"#[^\n]*"  # comment
    r"|(?:\b[rbfu]{1,2})?"  # prefix of a string literal
    r"""(?:"{3}(?:[^\\]|\\.)*?"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL | re.IGNORECASE,
)
NOT_PROSE = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+).*?^[ \t]*(?P=fence)"  # code block
    r"|<!-- (?P<block>\w+): made by .*?<!-- end of (?P=block) -->"  # table that `make docs` writes
    r"|``[^\n]+?``|`[^`\n]*(?:\n[^`\n]*)?`"  # inline code
    r"|\$\$.*?\$\$|\$[^$\n]+\$"  # formula
    r"|https?://\S+|\]\([^)\n]*\)|<[/!a-z][^>\n]*>"  # link, tag
    r"|\{[^{}\n]*\}|^[ \t]*(?:>>>|\.\.\.)[^\n]*",  # expression in an f-string, doctest
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Rule:
    """Entry of `plain_english.toml`; the comments at the top of that file describe its fields."""

    id: str
    where: str
    pattern: str
    use: str
    example: str
    not_in: str | None = None

    def applies_to(self, path: str) -> bool:
        """Return True unless the word is the right one in this file."""
        return self.not_in is None or self.not_in not in path


@dataclass(frozen=True)
class Finding:
    """Phrase that a rule rejects, with its file and line."""

    path: str
    line: int
    phrase: str
    rule: Rule

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.phrase}" -> use {self.rule.use} [{self.rule.id}]'


class Rules:
    """All rules, with one compiled pattern for each kind of text."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = list(rules)
        self._compiled = {where: self._compile(where) for where in ("opening", "prose", "function", "name")}

    def _compile(self, where: str) -> re.Pattern[str]:
        # The empty group behind each alternative names its rule. With no group in front and no flag to
        # ignore case, `re` skips an alternative by its first letter, which is three times faster.
        patterns = (
            f"(?:{rule.pattern.replace(' ', SPACE)})(?P<r{number}>)"
            for number, rule in enumerate(self.rules)
            if rule.where == where
        )
        return re.compile(rf"\b(?:{'|'.join(patterns)})")

    def _rule(self, match: re.Match[str]) -> Rule:
        return self.rules[int(str(match.lastgroup)[1:])]

    def in_prose(self, text: str) -> Iterator[tuple[int, str, Rule]]:
        """Yield line (from 0), phrase and rule of each rejected phrase."""
        text = text.lower()
        for match in self._compiled["prose"].finditer(text):
            yield text.count("\n", 0, match.start()), " ".join(match[0].split()), self._rule(match)

    def of_opening(self, docstring: str) -> tuple[str, Rule] | None:
        """Return the first words of a summary and the rule that rejects them."""
        summary = docstring.strip().partition("\n")[0]
        match = self._compiled["opening"].match(summary.lower())
        is_question = summary.rstrip().endswith("?")
        return (summary[: match.end()], self._rule(match)) if match and not is_question else None

    def of_name(self, name: str, is_function: bool = False) -> Rule | None:
        """Return the rule that rejects a name, or None."""
        match = self._compiled["function"].fullmatch(name.lower()) if is_function else None
        snake_case = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).strip("_")
        match = match or self._compiled["name"].fullmatch(snake_case.lower())
        return self._rule(match) if match else None


def read_rules(path: Path = RULES_FILE) -> Rules:
    """Read the rules from a TOML file."""
    return Rules(Rule(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["rule"])


def markdown_prose(text: str) -> str:
    """Replace everything in Markdown that is not prose, and keep the line breaks."""
    return NOT_PROSE.sub(lambda match: HIDDEN + "\n" * match[0].count("\n"), text)


def python_prose(source: str) -> str:
    """Keep the comments and the text of string literals, and keep the line breaks."""
    pieces, end = [], 0
    for match in LITERAL.finditer(source):
        code, literal, end = source[end : match.start()], match[0], match.end()
        pieces.append(code if code.isspace() else HIDDEN + "\n" * code.count("\n"))
        if literal.startswith("#"):
            literal = " " + literal[1:]
        elif " " not in literal:  # a key or a name
            literal = HIDDEN
        else:
            literal = re.sub(r"""^\w*["']+|["']+$|\\[nt]""", " ", literal)
        pieces.append(literal)
    return markdown_prose("".join(pieces))


def docstrings(
    owner: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, and of each string literal under an assignment."""
    for above, below in pairwise([owner, *owner.body]):
        if isinstance(below, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from docstrings(below)
        elif above is owner or isinstance(above, ast.Assign | ast.AnnAssign):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield below.lineno, text


def names(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Yield line and name of each definition, argument and assignment, and True for functions."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name, True
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name, False
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name, False


def check_text(path: str, text: str, rules: Rules) -> list[Finding]:
    """Check one file. Of tests, only the docstrings are read."""
    findings = []
    if path.endswith(".md"):
        passages = [(1, markdown_prose(text))]
    else:
        tree = ast.parse(text, path)
        documentation = list(docstrings(tree))
        for line, docstring in documentation:
            if rejected := rules.of_opening(docstring):
                findings.append(Finding(path, line, *rejected))
        if path.startswith("tests/"):
            passages = [(line, markdown_prose(docstring)) for line, docstring in documentation]
        else:
            passages = [(1, python_prose(text))]
            stem = Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem
            for line, name, is_function in [(1, stem, False), *names(tree)]:
                if rule := rules.of_name(name, is_function):
                    findings.append(Finding(path, line, name, rule))
    for first_line, passage in passages:
        findings += [Finding(path, first_line + line, *rest) for line, *rest in rules.in_prose(passage)]
    return sorted((f for f in findings if f.rule.applies_to(path)), key=lambda f: f.line)


def check_project(rules: Rules, root: Path = ROOT) -> list[Finding]:
    """Check all files of the project."""
    paths = {path.relative_to(root).as_posix() for source in SOURCES for path in root.glob(source)}
    generated = {path.relative_to(root).as_posix() for pattern in GENERATED for path in root.glob(pattern)}
    paths -= {*generated, *(path for path in paths if path.endswith(TRANSLATED))}
    texts = ((path, (root / path).read_text(encoding="utf-8")) for path in sorted(paths))
    return [finding for path, text in texts for finding in check_text(path, text, rules)]


Counts = dict[str, dict[str, int]]


def count(findings: Iterable[Finding]) -> Counts:
    """Count the findings by path and rule id."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for finding in findings:
        counts[finding.path][finding.rule.id] += 1
    return {path: dict(rules) for path, rules in counts.items()}


def exceeding(counts: Counts, limits: Counts) -> set[tuple[str, str]]:
    """Return path and rule id of each count above its limit; a missing limit is 0."""
    numbers = [(path, rule, number) for path, rules in counts.items() for rule, number in rules.items()]
    return {(path, rule) for path, rule, number in numbers if number > limits.get(path, {}).get(rule, 0)}


def print_statistics(findings: list[Finding]) -> None:
    """Print the number of findings per rule and per top folder, largest first."""
    by_rule = Counter(finding.rule.id for finding in findings)
    by_folder = Counter(top_folder(finding.path) for finding in findings)
    for title, counts in (("rule", by_rule), ("folder", by_folder)):
        print(f"Findings per {title} ({counts.total()} in total):")
        for name, number in counts.most_common():
            print(f"{number:7}  {name}")


def top_folder(path: str) -> str:
    """Return the first folder of a path, and for the package the first two; a dot for the root."""
    parent = Path(path).parent
    return "/".join(parent.parts[: 2 if parent.parts[:1] == ("grpo_ref",) else 1]) or "."


def plural(number: int, noun: str) -> str:
    """Write a number with its noun, as in "1 finding" and "2 findings"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def arguments_of(command_line: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", help="check only these files and folders")
    parser.add_argument("--all", action="store_true", help="also print the findings that the list allows")
    parser.add_argument("--stats", action="store_true", help="print the counts per rule and per top folder")
    parser.add_argument("--update", action="store_true", help="shrink the list; no count may rise")
    parser.add_argument(
        "--new-baseline",
        action="store_true",
        help="let --update write the current counts even if some are new: only for moving files",
    )
    given = parser.parse_args(command_line)
    if given.paths and (given.update or given.new_baseline):
        parser.error("--update needs all files: remove the paths")
    return given


def main(command_line: list[str] | None = None, root: Path = ROOT, allowed_file: Path = ALLOWED_FILE) -> int:
    """Run the command line, and return 1 if the findings and the list differ, else 0."""
    given = arguments_of(command_line)
    chosen = [Path(path).resolve().relative_to(root) for path in given.paths] or [Path()]

    def is_chosen(path: str) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in chosen)

    findings = [finding for finding in check_project(read_rules(), root) if is_chosen(finding.path)]
    counts = count(findings)
    if given.stats:
        print_statistics(findings)
        return 0
    listed: Counts = json.loads(allowed_file.read_text(encoding="utf-8")) if allowed_file.exists() else {}
    allowed = {path: rules for path, rules in listed.items() if is_chosen(path)}
    if given.new_baseline or (given.update and not exceeding(counts, allowed)):
        allowed_file.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        allowed = counts

    too_many, too_few = exceeding(counts, allowed), exceeding(allowed, counts)
    reported = [finding for finding in findings if given.all or (finding.path, finding.rule.id) in too_many]
    for finding in reported:
        print(finding)
    if too_many and given.update:
        print(f"{allowed_file.name} is unchanged: it may only shrink, and the findings above are new")
    for path, rule in sorted(too_few):
        number = counts.get(path, {}).get(rule, 0)
        print(f"{path}: the list allows {allowed[path][rule]} of {rule}, but the file has {number}")
    if too_few:
        print(f"shrink the list: {UPDATE}")
    total = sum(sum(rules.values()) for rules in allowed.values())
    files = plural(len({finding.path for finding in reported}), "file")
    print(f"{plural(len(reported), 'finding')} in {files}; the list allows {total}")
    return 1 if too_many or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
