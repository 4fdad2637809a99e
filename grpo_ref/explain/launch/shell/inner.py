"""Read scripts inside a script: commands in $(...), text for `bash -c` and `eval`, and script files that it runs."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from grpo_ref.explain.launch.shell.parser import Tree, parse
from grpo_ref.explain.launch.shell.script import NOT_FOUND, CannotRead
from grpo_ref.explain.launch.shell.state import Jump, State, Truth
from grpo_ref.explain.launch.shell.syntax import Block
from grpo_ref.explain.launch.text import Hole, Text, joined
from grpo_ref.explain.launch.trees import Beside

SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da)?sh")
TAKES_SCRIPT = re.compile(r"(?:.*/)?(?:(?:ba|z|da)?sh|sbatch)")
SCRIPT = re.compile(r".*\.(sh|bash|slurm|sbatch|zsh)")
PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
FILES_DEEP = 6
ITSELF = r'"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?(?::-\$0)?\})"?'
"""The path of the script that runs, as scripts write it."""
OWN_FOLDER = re.compile(
    rf'\s*(?:pwd(?:\s+-[PL])?|dirname\s+(?:--\s+)?(?:{ITSELF}|"?\$\((?:readlink\s+-f|realpath)\s+(?:--\s+)?{ITSELF}\)"?))\s*'
)
"""Commands that print the folder of the script, or the folder that it is started from: `dirname "$0"`, `pwd`."""
CHANGED_FOLDER = re.compile(
    r"\s*cd\s+(?:--\s+)?(?P<path>.+?)\s*(?:[&12]?>+\s*/dev/null\s*)?(?:2>&1\s*)?(?:&&|;)\s*pwd(?:\s+-[PL])?\s*"
)
"""Commands that print the path of a folder: `cd "$(dirname "$0")/.." && pwd`."""


@dataclass(frozen=True)
class InnerScripts:
    """Reads the scripts inside a script, and the ones that it names.

    Args:
      state: the state of the outer script.
      run: reads statements.
      beside: returns the text of a script by its path as this script gives it; None if there is none.
      open_files: the files that are being read.
    """

    state: State
    run: Callable[[Block], Truth]
    beside: Beside
    open_files: list[str] = field(default_factory=list)

    def output(self, script: str) -> Text:
        """Return the output of a script inside $(...). The folder of the script itself is "."."""
        if OWN_FOLDER.fullmatch(script):
            return Text.of(".")
        if changed := CHANGED_FOLDER.fullmatch(script):
            path = self.output(f"echo {changed['path']}")
            if path.known:
                return Text.of(posixpath.normpath(str(path)))
        state = self.state
        hole = Text.of(Hole(f"$({' '.join(script.split())})", "is what a command writes"))
        if script.lstrip().startswith("<"):
            return hole
        try:
            tree = parse(script, state.budget.line)
        except CannotRead:
            return hole
        written: list[Text | None] = []
        with state.writing(written), self._reading(tree):
            state.apart(lambda: self.run(tree.body))
        pieces = [piece for piece in written if piece is not None]
        if len(pieces) < len(written):
            state.note(f"What {hole} writes is not known.")
            return hole
        text = Text.of(*pieces)
        if text.parts and isinstance(text.parts[-1], str):
            return Text.of(*text.parts[:-1], text.parts[-1].rstrip("\n"))
        return text

    def evaluate(self, texts: Sequence[Text]) -> Truth:
        """Carry out `eval words`: read the words again as commands."""
        text = joined(texts[1:])
        if not any(isinstance(part, str) and part.strip() for part in text.parts):
            self.state.note(f"What `eval` runs in line {self.state.budget.line} is not read.")
            return None
        return self._here(self.state.script_of(text), self.state.budget.line)

    def include(self, texts: Sequence[Text]) -> Truth:
        """Carry out `source FILE`: read the file in place, if it is found."""
        script = None if len(texts) < 2 else self._beside(texts[1])
        if script is None:
            self.state.note(f"What `{texts[0]}` runs in line {self.state.budget.line} is not read.")
            return None
        with self._open(texts[1]):
            return self._here(script, 1)

    def hand_on(
        self, texts: Sequence[Text], lines: Sequence[int], variables: dict[str, Text], given: Text | None
    ) -> None:
        """Read the script that `bash -c`, `bash FILE`, `bash <<EOF`, `python - <<EOF` and the like are given."""
        line = self.state.budget.line
        begin = next((i for i, text in enumerate(texts) if SHELLS.fullmatch(str(text))), None)
        place = None if begin is None else begin + 1 + _options(texts[begin + 1 :])
        if begin is not None and place is not None and place < len(texts):
            if any("c" in str(text) for text in texts[begin + 1 : place]):
                self._program(texts[place], variables, tuple(texts[place + 2 :]), lines[place])
            else:
                self._file(texts[place], variables, tuple(texts[place + 1 :]))
        elif given is not None and TAKES_SCRIPT.fullmatch(str(texts[0])):
            self._program(given, variables, (), line)
        elif PYTHON.fullmatch(str(texts[0])):
            self._keep_python(texts, given)
        elif SCRIPT.fullmatch(str(texts[0])) or str(texts[0]) == "sbatch":
            at = next((i for i, text in enumerate(texts) if SCRIPT.fullmatch(str(text))), None)
            if at is not None:
                self._file(texts[at], variables, tuple(texts[at + 1 :]))

    def note_error(self, tree: Tree) -> None:
        """Add a note about the line of a syntax error."""
        if tree.wrong_line:
            line = self.state.budget.line = tree.wrong_line
            self.state.note(
                f"Line {line} has a syntax error, where bash stops; the rest is read as far as possible."
            )

    def _here(self, script: str, line: int) -> Truth:
        """Read a script that sees and changes the variables of this one."""
        tree = self._parsed(script, line)
        if tree is None:
            return None
        with self._reading(tree):
            try:
                return self.run(tree.body)
            except Jump as jump:
                if jump.kind != "return":
                    raise
                return None

    def _program(
        self, text: Text, variables: dict[str, Text], arguments: tuple[Text, ...], line: int
    ) -> None:
        """Read a script that runs as a program of its own: it sees only the exported variables."""
        state = self.state
        tree = self._parsed(state.script_of(text), line)
        if tree is None:
            return
        scope, functions = state.scope, state.functions
        state.scope = replace(scope.of_program(), arguments=arguments)
        state.scope.variables |= variables
        state.functions = {}
        with self._reading(tree):
            state.apart(lambda: self.run(tree.body))
        state.scope, state.functions = scope, functions

    def _file(self, path: Text, variables: dict[str, Text], arguments: tuple[Text, ...]) -> None:
        """Read a script in a file, as a program of its own."""
        script = self._beside(path)
        if script is None:
            self.state.note(
                f"It runs {path}, which was not found: what that script does is not in this answer.",
                NOT_FOUND,
            )
            return
        self.state.note(f"It runs {path}, which is read too.")
        with self._open(path):
            self._program(Text.of(script), variables, arguments, line=1)

    def _keep_python(self, texts: Sequence[Text], given: Text | None) -> None:
        """Keep a Python program that is written in the script itself."""
        words = [str(text) for text in texts[1:]]
        if words[:1] == ["-c"] and len(words) > 1:
            self.state.python.append(words[1])
        elif given is not None and words[:1] in ([], ["-"]):
            self.state.python.append(str(given))

    def _parsed(self, script: str, line: int) -> Tree | None:
        try:
            return parse(script, line)
        except CannotRead as error:
            self.state.note(f"The script that line {self.state.budget.line} runs cannot be read: {error}.")
            return None

    @contextmanager
    def _reading(self, tree: Tree) -> Iterator[None]:
        """Read another script, then go on with this one."""
        line = self.state.budget.line
        self.state.budget.spend(tree.size)
        self.note_error(tree)
        with self.state.budget.nested():
            try:
                yield
            finally:
                self.state.budget.line = line

    @contextmanager
    def _open(self, path: Text) -> Iterator[None]:
        """Keep a file from being read inside itself."""
        self.open_files.append(str(path))
        try:
            yield
        finally:
            self.open_files.pop()

    def _beside(self, path: Text) -> str | None:
        """Return the text of a script beside this one.

        If the path begins with a hole, its known end is used.
        """
        last = path.parts[-1] if path.parts else ""
        name = str(path) if path.known else last if isinstance(last, str) and last.startswith("/") else ""
        name = name if path.known else name.lstrip("/")
        is_new = str(path) not in self.open_files and len(self.open_files) < FILES_DEEP
        return self.beside(name) if name and is_new else None


def _options(texts: Sequence[Text]) -> int:
    """Return the number of words that are options of a shell, such as -e and -o pipefail."""
    count = 0
    while count < len(texts) and str(texts[count])[:1] in ("-", "+"):
        count += 2 if str(texts[count])[-1:] in "oO" else 1
    return count
