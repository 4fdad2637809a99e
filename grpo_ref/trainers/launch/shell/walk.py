"""Goes through a script in the order in which it would run."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

from tree_sitter import Node

from grpo_ref.trainers.launch.shell.braces import braced
from grpo_ref.trainers.launch.shell.budget import TURNS
from grpo_ref.trainers.launch.shell.builtins import (
    DECLARATIONS,
    Assignment,
    Builtins,
    assignment_of,
    named_part,
)
from grpo_ref.trainers.launch.shell.conditions import Conditions, Truth, negated
from grpo_ref.trainers.launch.shell.expansion import MATCHING, Expander
from grpo_ref.trainers.launch.shell.lexer import Lexer, Token
from grpo_ref.trainers.launch.shell.outline import Outline
from grpo_ref.trainers.launch.shell.scope import Scope, Value, join
from grpo_ref.trainers.launch.shell.script import CannotRead, Command
from grpo_ref.trainers.launch.shell.state import Function, Jump, Landing, State
from grpo_ref.trainers.launch.text import Hole, Text

T = TypeVar("T")
Run = Callable[[], Truth]
SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da)?sh")
TAKES_SCRIPT = re.compile(r"(?:.*/)?(?:(?:ba|z|da)?sh|sbatch)")
JOINING = 100  # characters whose work is that of a variable in a join
SILENT = frozenset({"sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod", "source", "."})


class Shell(State):
    """Reads the nodes of an outline one after the other, and runs nothing."""

    def __init__(self, outline: Outline) -> None:
        super().__init__()
        self.outline = outline
        self.expander = Expander(self)
        self.builtins = Builtins(self, self.expander)

    def whole(self) -> Truth:
        """Read the whole script."""
        try:
            return self.statements(self.outline.root.children)
        except Jump:
            return None

    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Read statements; the truth of the last."""
        truth: Truth = True
        for node, following in zip_longest(nodes, nodes[1:]):
            if node.type not in STATEMENTS:
                continue
            if following is not None and following.type == "&":
                self.apart(lambda node=node: self.statement(node))  # type: ignore[misc]
                truth = True
            else:
                truth = self.statement(node)
        return truth

    def statement(self, node: Node) -> Truth:
        """Read one statement."""
        self.budget.line = self.outline.line(node)
        self.budget.spend()
        with self.budget.nested():
            return STATEMENTS[node.type](self, node)

    def group(self, node: Node) -> Truth:
        """{ ...; } and what the grammar could not make out."""
        return self.statements(node.children)

    def subshell(self, node: Node) -> Truth:
        """( ... ), whose variables are lost."""
        return self.apart(lambda: self.statements(node.children))

    def chain(self, node: Node) -> Truth:
        """Left && right, left || right."""
        sides = [child for child in node.children if child.type in STATEMENTS]
        operators = [child for child in node.children if child.type in ("&&", "||")]
        if len(sides) != 2 or len(operators) != 1:
            return self.statements(node.children)
        (left, right), (operator,) = sides, operators
        truth, assumed = self.noticing(lambda: self.statement(left))
        wanted = operator.type == "&&"
        if truth is None and wanted and self.ran:
            return self.statement(right)
        if truth is None:
            return self.possibly(lambda: self.statement(right))
        if truth != wanted:
            return truth
        return self.unless_it_leaves(lambda: self.statement(right), assumed)

    def negation(self, node: Node) -> Truth:
        """! statement."""
        truth = negated(self.statements(node.children))
        self.ran = False
        return truth

    def pipeline(self, node: Node) -> Truth:
        """A | b, each of which loses its variables."""
        written, self.written = self.written, None
        truth: Truth = None
        for child in node.children:
            if child.type in STATEMENTS:
                truth = self.apart(lambda child=child: self.statement(child))  # type: ignore[misc]
        self.written = written
        self.write(None)
        return truth

    def choice(self, node: Node) -> Truth:
        """If ...; then ...; elif ...; else ...; fi."""
        clauses = [node, *(child for child in node.children if child.type == "elif_clause")]
        otherwise = [child for child in node.children if child.type == "else_clause"]
        return self._clauses(clauses, otherwise)

    def _clauses(self, clauses: Sequence[Node], otherwise: Sequence[Node]) -> Truth:
        if not clauses:
            return self.statements([child for node in otherwise for child in node.children])
        condition, body = _parted(clauses[0].children, "then")
        body = [child for child in body if child.type not in ("elif_clause", "else_clause")]
        truth, assumed = self.noticing(lambda: self.statements(condition))

        def yes() -> Truth:
            return self.statements(body)

        def no() -> Truth:
            return self._clauses(clauses[1:], otherwise)

        with self.budget.nested():
            if truth is None:
                return self.either(yes, no)
            first, second = (yes, no) if truth else (no, yes)
            return self.unless_it_leaves(first, assumed, second)

    def cases(self, node: Node) -> Truth:
        """Case value in pattern) ...;; esac."""
        value = node.child_by_field_name("value")
        if value is None:
            return None
        text = self.expander.text(self.outline.lexer.word(value.start_byte)[0])
        items = [child for child in node.children if child.type == "case_item"]
        fits = [self._fits(text, item) for item in items]
        first = next((i for i, fit in enumerate(fits) if fit is not False), None)
        if first is None:
            return True
        if fits[first]:
            return self.statements(_after(items[first].children, ")"))
        possible = [item for item, fit in zip(items, fits, strict=True) if fit is not False]
        bodies = [lambda item=item: self.statements(_after(item.children, ")")) for item in possible]
        certain = any(fits)
        return self.either(*bodies, *([] if certain else [lambda: True]))

    def _fits(self, text: Text, item: Node) -> Truth:
        """Whether a text fits one of the patterns of an item."""
        place, fits = item.start_byte, list[Truth]()
        lexer = self.outline.lexer
        for token in lexer.tokens(place):
            if token.kind == "operator" and lexer.text[token.start] == ")":
                break
            if token.kind in ("word", "reserved"):
                pattern = self.expander.pattern(token.word)
                anything = pattern is not None and set(pattern.items) == {None}
                known = pattern is not None and text.known
                self.budget.spend(MATCHING * len(str(text)))
                fits.append(True if anything else pattern.matches(str(text)) if known and pattern else None)
        return True if True in fits else None if None in fits else False

    def for_each(self, node: Node) -> Truth:
        """For name in words; do ...; done."""
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return self.statements(node.children)
        values = self._values(node)
        found = len(self.commands)
        variable = self.outline.text(name)

        def turns() -> Iterator[bool]:
            for text in values:
                self.assign(variable, text)
                yield not text.open

        self._loop(turns(), lambda: self.statements(body.children))
        self._note_launches(node, variable, values, len(self.commands) - found)
        return True

    def _values(self, node: Node) -> list[Text]:
        """The words after `in`; without it, the arguments."""
        places = [child.end_byte for child in node.children if child.type == "in"]
        if not places:
            return list(self.scope.arguments or [])
        tokens = self.outline.command(places[0])
        texts = [text for token in tokens for text in self.expander.words(token.word)]
        return [text for text in texts if str(text) != "$@"]

    def _note_launches(self, node: Node, variable: str, values: Sequence[Text], found: int) -> None:
        self.budget.line = self.outline.line(node)
        if found > 1 and len(values) > 1:
            listed = ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")
            self.note(
                f"The loop of line {self.budget.line} runs its commands for each {variable} of {listed}."
            )

    def for_counted(self, node: Node) -> Truth:
        """For ((a; b; c)); do ...; done."""
        body = node.child_by_field_name("body")
        head = self.outline.text(node)[: (body.start_byte if body else node.end_byte) - node.start_byte]
        inside = re.search(r"\(\((.*)\)\)", head, re.DOTALL)
        if body is None or inside is None:
            return self.statements(node.children)
        first, condition, step = [*inside[1].split(";"), "", ""][:3]
        self.builtins.computed(first)

        def turns() -> Iterator[bool]:
            while (truth := self.builtins.computed(condition) if condition.strip() else True) is not False:
                yield truth is True
                if truth is None or self.landings[-1].left:
                    return
                self.builtins.computed(step)

        return self._loop(turns(), lambda: self.statements(body.children))

    def while_true(self, node: Node) -> Truth:
        """While ...; do ...; done, and until."""
        body = node.child_by_field_name("body")
        if body is None:
            return self.statements(node.children)
        conditions = [child for child in node.children if child != body]
        wanted = node.children[0].type == "while"

        def turns() -> Iterator[bool]:
            while (truth := self.noticing(lambda: self.statements(conditions))[0]) in (wanted, None):
                yield truth is wanted
                if truth is None or self.landings[-1].left:
                    return

        return self._loop(turns(), lambda: self.statements(body.children))

    def _loop(self, turns: Iterator[bool], body: Run) -> Truth:
        """Read the body for each turn.

        Args:
          turns: for each, whether it is certain.
          body: reads the body.
        """
        before, line = dict(self.scope.variables), self.budget.line
        landing = Landing(("break", "continue"))
        self.landings.append(landing)
        for number, certain in enumerate(turns):
            if number == TURNS:
                self._not_to_the_end(before, line)
                break
            if not self._turn(body, certain, landing):
                break
        self.landings.pop()
        self._land(landing, "break", line)
        return True

    def _turn(self, body: Run, certain: bool, landing: Landing) -> bool:
        """Read one turn of a loop; whether the loop goes on."""
        line = self.budget.line
        try:
            body() if certain else self.possibly(body)
        except Jump as jump:
            if jump.kind not in ("break", "continue"):
                raise
            if jump.number > 1:
                raise Jump(jump.kind, jump.number - 1) from None
            if jump.kind == "break":
                return False
        self._land(landing, "continue", line)
        return True

    def _not_to_the_end(self, before: dict[str, Value], line: int) -> None:
        self.budget.line = line
        self.note(f"Only the first {TURNS} turns of the loop of line {line} are read.")
        for name, value in self.scope.variables.items():
            if before.get(name) != value:
                hole = Hole(f"${name}", f"changes in the loop of line {line}, which is not read to its end")
                self.scope.variables[name] = Text.of(hole)

    def _land(self, landing: Landing, kind: str, line: int) -> None:
        """Join the scopes that jumps out of unknown branches left."""
        if scopes := landing.scopes.pop(kind, []):
            self.scope = join([self.scope, *scopes], f"depends on a condition after line {line}")

    def define(self, node: Node) -> Truth:
        """name() { ...; }."""
        name = node.child_by_field_name("name")
        if name is not None:
            self.functions[self.outline.text(name)] = Function(self.outline, node.children[-1])
        return True

    def simple(self, node: Node) -> Truth:
        """A command, an assignment, or a condition."""
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
        """A command after its assignments."""
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
        """A command with the variables before it, which hold for it alone."""
        before = self.scope.copy() if assignments else self.scope
        for assignment in assignments:
            if assignment:
                self.builtins.assign(assignment)
        given = {item.name: self.scope.text(item.name) for item in assignments if item}
        name = str(texts[0])
        carried_out = self.builtins.find(name)
        self.ran = False
        if name in self.functions:
            truth = self._call(self.functions[name], tuple(texts[1:]))
        elif carried_out:
            truth = self._carry_out(carried_out, texts, redirects)
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
        """A command of the shell; what it writes to a file is not written here."""
        written = self.written
        if redirects.target is not None:
            self.written = None
        try:
            return run(texts, redirects.given)
        finally:
            self.written = written

    def _program(self, texts: list[Text], variables: dict[str, Text], redirects: "Redirects") -> Truth:
        """A command that is no part of the shell."""
        name = str(texts[0])
        self._keep_file(texts, redirects)
        written = self._output_of(texts, redirects.given)
        if self.written is None or written is None:
            self.commands.append(Command(tuple(texts), variables, self.budget.line, self.maybe))
        if redirects.target is None and name not in SILENT:
            self.write(written)
        if name in ("eval", "source", "."):
            self.note(f"What `{name}` runs in line {self.budget.line} is not read.")
        self._inner_script(texts, variables, redirects.given)
        self.ran = True
        if name == "exec" and len(texts) > 1:
            raise Jump("exit")
        return None

    def _output_of(self, texts: Sequence[Text], given: Text | None) -> Text | None:
        """What a program writes, where that is certain."""
        name = str(texts[0])
        if name in ("basename", "dirname") and 2 <= len(texts) <= 3:
            part = named_part(texts[1], name, *map(str, texts[2:]))
            return None if part is None else part + "\n"
        return given if name == "cat" and len(texts) == 1 else None

    def _keep_file(self, texts: Sequence[Text], redirects: "Redirects") -> None:
        """Keep what `cat > file <<EOF` or `tee file <<EOF` writes."""
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

    def _inner_script(self, texts: Sequence[Text], variables: dict[str, Text], given: Text | None) -> None:
        """Read what `bash -c` or `bash <<EOF` is given."""
        begin = next((i for i, text in enumerate(texts) if SHELLS.fullmatch(str(text))), None)
        options = 0 if begin is None else _options(texts[begin + 1 :])
        place = None if begin is None else begin + 1 + options
        runs_text = begin is not None and any(
            "c" in str(text) for text in texts[begin + 1 : begin + 1 + options]
        )
        if place is not None and runs_text and place < len(texts):
            self._inner(texts[place], variables, tuple(texts[place + 2 :]))
        elif given is not None and TAKES_SCRIPT.fullmatch(str(texts[0])):
            self._inner(given, variables, ())

    def _inner(self, text: Text, variables: dict[str, Text], arguments: tuple[Text, ...]) -> None:
        """A script inside the script, which sees what is exported."""
        try:
            outline = Outline.of(self.script_of(text), self.budget.line)
        except CannotRead as error:
            self.note(f"The script that line {self.budget.line} runs cannot be read: {error}.")
            return
        scope, functions = self.scope, self.functions
        self.scope = replace(scope.of_program(), arguments=arguments)
        self.scope.variables |= variables
        self.functions = {}
        with self._reading(outline):
            self.apart(lambda: self.statements(outline.root.children))
        self.scope, self.functions = scope, functions

    def document(self, token: Token) -> Text:
        """The here-document of a redirection."""
        document = self.outline.lexer.documents.get(token.start)
        if document is None:
            return Text()
        if document.quoted:
            return self.literal(document.text)
        return self.expander.text(Lexer(document.text, self.budget.line).quoted(0, stop="")[0])

    def _call(self, function: Function, arguments: tuple[Text, ...]) -> Truth:
        """A function of the script."""
        outer, self.scope.arguments = self.scope.arguments, arguments
        landing, line = Landing(("return",)), self.budget.line
        self.landings.append(landing)
        self.hidden.append({})
        try:
            with self._reading(function.outline):
                truth = self.statement(function.body)
        except Jump as jump:
            if jump.kind != "return":
                raise
            truth = None if jump.number < 0 else jump.number == 0
        finally:
            self.landings.pop()
            hidden = self.hidden.pop()
        self._land(landing, "return", line)
        self.scope.arguments = outer
        for name, value in hidden.items():
            self.scope.variables.pop(name, None)
            self.scope.variables |= {} if value is None else {name: value}
        return truth

    def output(self, script: str) -> Text:
        """What a script inside $(...) writes."""
        hole = Text.of(Hole(f"$({' '.join(script.split())})", "is what a command writes"))
        if script.lstrip().startswith("<"):
            return hole
        try:
            outline = Outline.of(script, self.budget.line)
        except CannotRead:
            return hole
        outer, self.written = self.written, []
        with self._reading(outline):
            self.apart(lambda: self.statements(outline.root.children))
        written, self.written = self.written, outer
        pieces = [piece for piece in written if piece is not None]
        return _without_last_lines(Text.of(*pieces)) if len(pieces) == len(written) else hole

    @contextmanager
    def _reading(self, outline: Outline) -> Iterator[None]:
        """Read another script, then go on with this one."""
        outer, line = self.outline, self.budget.line
        self.budget.spend(len(outline.outline))
        self.outline = outline
        self._note_error(outline)
        with self.budget.nested():
            try:
                yield
            finally:
                self.outline, self.budget.line = outer, line

    def _note_error(self, outline: Outline) -> None:
        """Where the grammar could not follow."""
        node = outline.root
        if not node.has_error:
            return
        while inner := next((child for child in node.children if child.has_error or child.is_missing), None):
            node = inner
        line = outline.line(node)
        self.note(f"Line {line} has a syntax error, where bash stops; the rest is read as far as possible.")

    def noticing(self, run: Callable[[], T]) -> tuple[T, bool]:
        """What a function returns, and whether it took something as unset."""
        before, self.assumed = self.assumed, False
        result = run()
        assumed, self.assumed = self.assumed, self.assumed or before
        return result, assumed

    def apart(self, run: Run) -> Truth:
        """Read what cannot change the variables outside."""
        before, landings = self.scope, self.landings
        self.scope, self.landings = before.copy(), []
        self.budget.spend(len(before.variables))
        try:
            return run()
        except Jump:
            return None
        finally:
            self.scope, self.landings = before, landings

    def unless_it_leaves(self, run: Run, assumed: bool, other: Run = lambda: None) -> Truth:
        """Read a branch; if it rests on something assumed and ends the script, read the other instead."""
        if not assumed:
            return run()
        before = self.scope.copy()
        try:
            return run()
        except Jump as jump:
            if jump.kind not in ("exit", "return"):
                raise
            self.scope = before
            return other()

    def possibly(self, run: Run) -> Truth:
        """Read what may run or not."""
        self.either(run, lambda: True)
        return None

    def either(self, *runs: Run) -> Truth:
        """Read several branches of which one runs; what they leave is joined."""
        line, maybe, written = self.budget.line, self.maybe, len(self.written or ())
        before, ends, truths, jumps = self.scope, list[Scope](), list[Truth](), list[Jump]()
        self.maybe = True
        for run in runs:
            self.scope = before.copy()
            self.budget.spend(JOINING * len(before.variables))
            try:
                truths.append(run())
                ends.append(self.scope)
            except Jump as jump:
                jumps.append(jump)
                self._keep_scope(jump)
        self.maybe, self.ran = maybe, False
        if self.written is not None and len(self.written) > written:
            self.written[written:] = [None]
        if not ends:
            raise jumps[0]
        self.scope = join(ends, f"depends on a condition in line {line}")
        return truths[0] if all(truth == truths[0] for truth in truths) and not jumps else None

    def _keep_scope(self, jump: Jump) -> None:
        """Keep the scope of a branch for the loop or function that its jump leads to."""
        if self.landings and jump.kind != "continue":
            self.landings[-1].left = True
        for landing in reversed(self.landings):
            if jump.kind in landing.kinds:
                landing.scopes.setdefault(jump.kind, []).append(self.scope)
                return


class Redirects:
    """The redirections of a command.

    Args:
      shell: in which the command runs.
      tokens: of the command.
    """

    def __init__(self, shell: Shell, tokens: Sequence[Token]) -> None:
        self.given: Text | None = None
        self.target: Text | None = None
        self.appends = False
        for token in tokens:
            if token.kind == "redirect":
                self._take(shell, token)

    def _take(self, shell: Shell, token: Token) -> None:
        lexer = shell.outline.lexer
        if token.operator in ("<<", "<<-"):
            self.given = shell.document(token)
        elif token.operator == "<<<":
            self.given = shell.expander.text(token.word) + "\n"
        elif ">" in token.operator and not lexer.text.startswith("2", token.start):
            self.target = shell.expander.text(token.word)
            self.appends = ">>" in token.operator


def _options(texts: Sequence[Text]) -> int:
    """How many words are options of a shell, as -e and -o pipefail."""
    count = 0
    while count < len(texts) and str(texts[count])[:1] in ("-", "+"):
        count += 2 if str(texts[count])[-1:] in "oO" else 1
    return count


def _parted(nodes: Sequence[Node], kind: str) -> tuple[Sequence[Node], Sequence[Node]]:
    """The nodes before and after the first of a kind."""
    place = next((i for i, node in enumerate(nodes) if node.type == kind), len(nodes))
    return nodes[:place], nodes[place + 1 :]


def _after(nodes: Sequence[Node], kind: str) -> Sequence[Node]:
    return _parted(nodes, kind)[1]


def _without_last_lines(text: Text) -> Text:
    """The text without the line ends at its end."""
    if text.parts and isinstance(text.parts[-1], str):
        return Text.of(*text.parts[:-1], text.parts[-1].rstrip("\n"))
    return text


STATEMENTS: dict[str, Callable[[Shell, Node], Truth]] = {
    "command": Shell.simple,
    "list": Shell.chain,
    "pipeline": Shell.pipeline,
    "negated_command": Shell.negation,
    "if_statement": Shell.choice,
    "case_statement": Shell.cases,
    "for_statement": Shell.for_each,
    "c_style_for_statement": Shell.for_counted,
    "while_statement": Shell.while_true,
    "function_definition": Shell.define,
    "subshell": Shell.subshell,
    "compound_statement": Shell.group,
    "redirected_statement": Shell.group,
    "do_group": Shell.group,
    "ERROR": Shell.group,
}
