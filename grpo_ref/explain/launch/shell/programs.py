"""Read simple commands: shell commands are carried out, functions are read, programs are recorded."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tree_sitter import Node

from grpo_ref.explain.launch.shell.braces import braced
from grpo_ref.explain.launch.shell.branches import Branches
from grpo_ref.explain.launch.shell.builtins import (
    DECLARATIONS,
    Assignment,
    Builtins,
    assignment_of,
    named_part,
)
from grpo_ref.explain.launch.shell.conditions import Conditions, Truth
from grpo_ref.explain.launch.shell.expansion import Expander
from grpo_ref.explain.launch.shell.lexer import Lexer
from grpo_ref.explain.launch.shell.outline import Outline
from grpo_ref.explain.launch.shell.parts import Token
from grpo_ref.explain.launch.shell.scope import Scope
from grpo_ref.explain.launch.shell.script import CannotRead, Command
from grpo_ref.explain.launch.shell.state import Function, Jump, Landing
from grpo_ref.explain.launch.text import Hole, Text

SILENT = frozenset({"sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod"})


class Programs(Branches):
    """Reads simple commands."""

    def __init__(self, outline: Outline) -> None:
        super().__init__()
        self.outline = outline
        self.expander = Expander(self)
        self.builtins = Builtins(self, self.expander)

    @abstractmethod
    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Read statements, and return the truth of the last one."""

    @abstractmethod
    def statement(self, node: Node) -> Truth:
        """Read one statement."""

    @abstractmethod
    def evaluate(self, texts: Sequence[Text]) -> Truth:
        """Carry out `eval words`."""

    @abstractmethod
    def include(self, texts: Sequence[Text]) -> Truth:
        """Carry out `source FILE`."""

    @abstractmethod
    def hand_on(self, texts: Sequence[Text], variables: dict[str, Text], given: Text | None) -> None:
        """Read the script that a program is given."""

    def simple(self, node: Node) -> Truth:
        """Read a command, an assignment, or a condition."""
        tokens = self.outline.command(node.start_byte)
        source = self.outline.lexer.text
        if tokens and tokens[0].kind in ("test", "arithmetic"):
            self.ran = False
            inside = source[tokens[0].start + 2 : tokens[0].end - 2]
            brackets = tokens[0].kind == "test"
            return Conditions(self.expander).brackets(inside) if brackets else self.builtins.computed(inside)
        words = [token for token in tokens if token.kind in ("word", "reserved")]
        assignments = [self._assignment(token) for token in words]
        count = next((i for i, assignment in enumerate(assignments) if assignment is None), len(words))
        return self._simple(assignments[:count], words[count:], tokens)

    def _assignment(self, token: Token) -> Assignment | None:
        return assignment_of(self.outline.lexer.text[token.start : token.end], token.word)

    def _simple(
        self, assignments: Sequence[Assignment | None], rest: Sequence[Token], tokens: Sequence[Token]
    ) -> Truth:
        """Read a command after its assignments."""
        line = self.budget.line
        kind = str(self.expander.text(rest[0].word)) if rest else ""
        if kind in DECLARATIONS:
            self.ran = False
            arguments = [item for token in rest[1:] for item in self._declared(token)]
            return self.builtins.declare(kind, arguments)
        texts = [text for token in rest for text in self.expander.words(token.word)]
        self.budget.line = line
        if texts:
            return self._command(assignments, texts, Redirects(self, tokens))
        self.ran = False
        for assignment in assignments:
            if assignment:
                self.builtins.assign(assignment)
        return True

    def _declared(self, token: Token) -> Sequence[Text | Assignment]:
        if not self._assignment(token):
            return self.expander.words(token.word)
        source = self.outline.lexer.text[token.start : token.end]
        assignments = [assignment_of(source, word) for word in braced(token.word, self.budget)]
        return [assignment for assignment in assignments if assignment]

    def _command(
        self, assignments: Sequence[Assignment | None], texts: list[Text], redirects: "Redirects"
    ) -> Truth:
        """Read a command with the variables before it, which hold only for this command."""
        before = self.scope.copy() if assignments else self.scope
        for assignment in assignments:
            if assignment:
                self.builtins.assign(assignment)
        given = {item.name: self.scope.text(item.name) for item in assignments if item}
        name = str(texts[0])
        carried_out = self.builtins.find(name)
        self.ran = False
        if name in self.functions:
            truth = self._call_or_not(self.functions[name], tuple(texts[1:]))
        elif carried_out:
            truth = self._carry_out(carried_out, texts, redirects)
        elif name == "eval":
            truth = self.evaluate(texts)
        elif name in ("source", "."):
            truth = self.include(texts)
        else:
            truth = self._program(texts, given, redirects)
        for name in given:
            self._restore(name, before)
        return truth

    def _restore(self, name: str, before: Scope) -> None:
        if name in before.variables:
            self.scope.variables[name] = before.variables[name]
        else:
            self.scope.variables.pop(name, None)

    def _carry_out(
        self,
        run: Callable[[Sequence[Text], Text | None], Truth],
        texts: Sequence[Text],
        redirects: "Redirects",
    ) -> Truth:
        """Carry out a shell command. Output that is redirected to a file is dropped."""
        written = self.written
        if redirects.target is not None:
            self.written = None
        try:
            return run(texts, redirects.given)
        finally:
            self.written = written

    def _program(self, texts: list[Text], variables: dict[str, Text], redirects: "Redirects") -> Truth:
        """Record a command that is not part of the shell."""
        name = str(texts[0])
        self._keep_file(texts, redirects)
        written = self._output_of(texts, redirects.given)
        if self.written is None or written is None:
            self.commands.append(Command(tuple(texts), variables, self.budget.line, self.maybe))
        if redirects.target is None and name not in SILENT:
            self.write(written)
        self.hand_on(texts, variables, redirects.given)
        self.ran = True
        if name == "exec" and len(texts) > 1:
            raise Jump("exit")
        return None

    def _output_of(self, texts: Sequence[Text], given: Text | None) -> Text | None:
        """Return the output of a program, if it is certain."""
        name = str(texts[0])
        if name in ("basename", "dirname") and 2 <= len(texts) <= 3:
            part = named_part(texts[1], name, *map(str, texts[2:]))
            return None if part is None else part + "\n"
        return given if name == "cat" and len(texts) == 1 else None

    def _keep_file(self, texts: Sequence[Text], redirects: "Redirects") -> None:
        """Keep the file that `cat > file <<EOF` or `tee file <<EOF` writes."""
        if redirects.given is None:
            return
        target, append = redirects.target, redirects.appends
        if str(texts[0]) == "tee":
            target, append = texts[-1], "-a" in map(str, texts)
        elif [str(text) for text in texts] not in (["cat"], ["cat", "-"]):
            return
        if target is not None:
            name = str(target)
            self.files[name] = (self.files.get(name, "") if append else "") + str(redirects.given)

    def inner(
        self, text: Text, variables: dict[str, Text], arguments: tuple[Text, ...], line: int | None = None
    ) -> None:
        """Read a script inside the script.

        It sees the exported variables, and its first line counts as this one.
        """
        try:
            outline = Outline.of(self.script_of(text), line or self.budget.line)
        except CannotRead as error:
            self.note(f"The script that line {self.budget.line} runs cannot be read: {error}.")
            return
        scope, functions = self.scope, self.functions
        self.scope = replace(scope.of_program(), arguments=arguments)
        self.scope.variables |= variables
        self.functions = {}
        with self.reading(outline):
            self.apart(lambda: self.statements(outline.root.children))
        self.scope, self.functions = scope, functions

    def document(self, token: Token) -> Text:
        """Return the here-document of a redirection."""
        document = self.outline.lexer.documents.get(token.start)
        if document is None:
            return Text()
        if document.quoted:
            return self.literal(document.text)
        return self.expander.text(Lexer(document.text, self.budget.line).quoted(0, stop="")[0])

    def _call_or_not(self, function: Function, arguments: tuple[Text, ...]) -> Truth:
        """Call a function. If it was defined in a branch that may not have run, the call may not happen."""
        if function.maybe and not self.maybe:
            return self.possibly(lambda: self._call(function, arguments))
        return self._call(function, arguments)

    def _call(self, function: Function, arguments: tuple[Text, ...]) -> Truth:
        """Call a function of the script."""
        outer = self.scope.arguments
        if outer is not None or [str(text) for text in arguments] != ["$@"]:
            self.scope.arguments = arguments
        landing, line = Landing(("return",)), self.budget.line
        self.landings.append(landing)
        self.hidden.append({})
        try:
            with self.reading(function.outline):
                truth = self.statement(function.body)
        except Jump as jump:
            if jump.kind != "return":
                raise
            truth = None if jump.number < 0 else jump.number == 0
        finally:
            self.landings.pop()
            hidden = self.hidden.pop()
        self.land(landing, "return", line)
        self.scope.arguments = outer
        for name, value in hidden.items():
            self.scope.variables.pop(name, None)
            self.scope.variables |= {} if value is None else {name: value}
        return truth

    def output(self, script: str) -> Text:
        """Return the output of a script inside $(...)."""
        hole = Text.of(Hole(f"$({' '.join(script.split())})", "is what a command writes"))
        if script.lstrip().startswith("<"):
            return hole
        try:
            outline = Outline.of(script, self.budget.line)
        except CannotRead:
            return hole
        outer, self.written = self.written, []
        with self.reading(outline):
            self.apart(lambda: self.statements(outline.root.children))
        written, self.written = self.written, outer
        pieces = [piece for piece in written if piece is not None]
        if len(pieces) == len(written):
            return _without_last_lines(Text.of(*pieces))
        self.note(f"What {hole} writes is not known.")
        return hole

    @contextmanager
    def reading(self, outline: Outline) -> Iterator[None]:
        """Read another script, then go on with this one."""
        outer, line = self.outline, self.budget.line
        self.budget.spend(len(outline.outline))
        self.outline = outline
        self.note_error(outline)
        with self.budget.nested():
            try:
                yield
            finally:
                self.outline, self.budget.line = outer, line

    def note_error(self, outline: Outline) -> None:
        """Add a note about the line that the grammar could not parse."""
        node = outline.root
        if not node.has_error:
            return
        while inner := next((child for child in node.children if child.has_error or child.is_missing), None):
            node = inner
        line = self.budget.line = outline.line(node)
        self.note(f"Line {line} has a syntax error, where bash stops; the rest is read as far as possible.")


class Redirects:
    """The redirections of a command.

    Args:
      shell: the shell in which the command runs.
      tokens: tokens of the command.
    """

    def __init__(self, shell: Programs, tokens: Sequence[Token]) -> None:
        self.given: Text | None = None
        self.target: Text | None = None
        self.appends = False
        for token in tokens:
            if token.kind == "redirect":
                self._take(shell, token)

    def _take(self, shell: Programs, token: Token) -> None:
        lexer = shell.outline.lexer
        if token.operator in ("<<", "<<-"):
            self.given = shell.document(token)
        elif token.operator == "<<<":
            self.given = shell.expander.text(token.word) + "\n"
        elif ">" in token.operator and not lexer.text.startswith("2", token.start):
            self.target = shell.expander.text(token.word)
            self.appends = ">>" in token.operator


def options(texts: Sequence[Text]) -> int:
    """Return the number of words that are options of a shell, such as -e and -o pipefail."""
    count = 0
    while count < len(texts) and str(texts[count])[:1] in ("-", "+"):
        count += 2 if str(texts[count])[-1:] in "oO" else 1
    return count


def _without_last_lines(text: Text) -> Text:
    """Return the text without the line breaks at its end."""
    if text.parts and isinstance(text.parts[-1], str):
        return Text.of(*text.parts[:-1], text.parts[-1].rstrip("\n"))
    return text
