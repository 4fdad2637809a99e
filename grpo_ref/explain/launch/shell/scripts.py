"""Read the scripts that a script runs: texts that it makes itself, and files beside it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from grpo_ref.explain.launch.shell.conditions import Truth
from grpo_ref.explain.launch.shell.outline import Outline
from grpo_ref.explain.launch.shell.programs import Programs, options
from grpo_ref.explain.launch.shell.script import CannotRead
from grpo_ref.explain.launch.shell.state import Jump
from grpo_ref.explain.launch.text import Text, joined

SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da)?sh")
TAKES_SCRIPT = re.compile(r"(?:.*/)?(?:(?:ba|z|da)?sh|sbatch)")
SCRIPT = re.compile(r".*\.(sh|bash|slurm|sbatch|zsh)")
PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
FILES_DEEP = 6


class Scripts(Programs):
    """Reads the scripts that a script passes to a shell or to Python."""

    def evaluate(self, texts: Sequence[Text]) -> Truth:
        """Carry out `eval words`: read the words again as commands."""
        text = joined(texts[1:])
        if not any(isinstance(part, str) and part.strip() for part in text.parts):
            self.note(f"What `eval` runs in line {self.budget.line} is not read.")
            return None
        return self._here(self.script_of(text), self.budget.line)

    def include(self, texts: Sequence[Text]) -> Truth:
        """Carry out `source FILE`: read the file in place, if it is found."""
        found = None if len(texts) < 2 else self._beside(texts[1])
        if found is None:
            self.note(f"What `{texts[0]}` runs in line {self.budget.line} is not read.")
            return None
        with self._following(texts[1]):
            return self._here(found, 1)

    def _here(self, script: str, line: int) -> Truth:
        """Read a script that sees and changes the variables of this one."""
        try:
            outline = Outline.of(script, line)
        except CannotRead as error:
            self.note(f"The script that line {self.budget.line} runs cannot be read: {error}.")
            return None
        with self.reading(outline):
            try:
                return self.statements(outline.root.children)
            except Jump as jump:
                if jump.kind != "return":
                    raise
                return None

    def hand_on(self, texts: Sequence[Text], variables: dict[str, Text], given: Text | None) -> None:
        """Read the script that `bash -c`, `bash FILE`, `bash <<EOF`, `python - <<EOF` and the like are given."""
        begin = next((i for i, text in enumerate(texts) if SHELLS.fullmatch(str(text))), None)
        place = None if begin is None else begin + 1 + options(texts[begin + 1 :])
        if begin is not None and place is not None and place < len(texts):
            if any("c" in str(text) for text in texts[begin + 1 : place]):
                self.inner(texts[place], variables, tuple(texts[place + 2 :]))
            else:
                self._run(texts[place], variables, tuple(texts[place + 1 :]))
        elif given is not None and TAKES_SCRIPT.fullmatch(str(texts[0])):
            self.inner(given, variables, ())
        elif PYTHON.fullmatch(str(texts[0])):
            self._keep_python(texts, given)
        elif SCRIPT.fullmatch(str(texts[0])) or str(texts[0]) == "sbatch":
            at = next((i for i, text in enumerate(texts) if SCRIPT.fullmatch(str(text))), None)
            if at is not None:
                self._run(texts[at], variables, tuple(texts[at + 1 :]))

    def _keep_python(self, texts: Sequence[Text], given: Text | None) -> None:
        """Keep a Python program that is written in the script itself."""
        words = [str(text) for text in texts[1:]]
        if words[:1] == ["-c"] and len(words) > 1:
            self.python.append(words[1])
        elif given is not None and words[:1] in ([], ["-"]):
            self.python.append(str(given))

    def _run(self, path: Text, variables: dict[str, Text], arguments: tuple[Text, ...]) -> None:
        """Read a script in a file. It sees the exported variables."""
        found = self._beside(path)
        if found is None:
            self.note(f"It runs {path}, which was not found: what that script does is not in this answer.")
            return
        self.note(f"It runs {path}, which is read too.")
        with self._following(path):
            self.inner(Text.of(found), variables, arguments, line=1)

    @contextmanager
    def _following(self, path: Text) -> Iterator[None]:
        """Read a file, unless it is already being read."""
        self.followed.append(str(path))
        try:
            yield
        finally:
            self.followed.pop()

    def _beside(self, path: Text) -> str | None:
        """Return the text of a script beside this one.

        If the path begins with a hole, its known end is used.
        """
        last = path.parts[-1] if path.parts else ""
        name = str(path) if path.known else last if isinstance(last, str) and last.startswith("/") else ""
        name = name if path.known else name.lstrip("/")
        is_new = str(path) not in self.followed and len(self.followed) < FILES_DEEP
        return self.beside(name) if name and is_new else None
