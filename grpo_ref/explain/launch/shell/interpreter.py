"""Walk through the syntax tree in the order in which the script would run. Nothing is run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.braces import braced
from grpo_ref.explain.launch.shell.budget import TURNS
from grpo_ref.explain.launch.shell.builtins import DECLARATIONS, Builtins, named_part
from grpo_ref.explain.launch.shell.conditions import Conditions, negated
from grpo_ref.explain.launch.shell.expansion import MATCHING, RUN, Expander
from grpo_ref.explain.launch.shell.inner import InnerScripts
from grpo_ref.explain.launch.shell.lexer import Lexer
from grpo_ref.explain.launch.shell.parser import Tree, assignment_of
from grpo_ref.explain.launch.shell.scope import Scope, Value
from grpo_ref.explain.launch.shell.script import Command
from grpo_ref.explain.launch.shell.state import Callee, Jump, Landing, Run, State, Truth
from grpo_ref.explain.launch.shell.syntax import (
    AndOr,
    Argument,
    Arithmetic,
    Assignment,
    Background,
    Block,
    Case,
    CaseItem,
    CountedFor,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirection,
    Simple,
    Statement,
    Subshell,
    Test,
    While,
)
from grpo_ref.explain.launch.text import Hole, Text
from grpo_ref.explain.launch.trees import Beside

SILENT = frozenset({"sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod"})


@dataclass(frozen=True)
class Redirected:
    """The input and output of a command after its redirections.

    Args:
      given: the text of its input, if the script holds it.
      target: the file of its output; None if the output is not redirected.
      appends: true if the output is added to the file.
    """

    given: Text | None = None
    target: Text | None = None
    appends: bool = False


class Interpreter:
    """Reads the statements of a tree one after the other, and records their results in `state`."""

    def __init__(self, beside: Beside) -> None:
        self.state = State()
        self.inner = InnerScripts(self.state, self.block, beside)
        self.expander = Expander(self.state, self.inner.output)
        self.builtins = Builtins(self.state, self.expander)

    def script(self, tree: Tree) -> None:
        """Read a whole script."""
        self.inner.note_error(tree)
        try:
            self.block(tree.body)
        except Jump:
            pass

    def block(self, statements: Block) -> Truth:
        """Read statements, and return the truth of the last one."""
        truth: Truth = True
        for statement in statements:
            truth = self.statement(statement)
        return truth

    def statement(self, node: Statement) -> Truth:
        """Read one statement."""
        budget = self.state.budget
        budget.line = node.line
        budget.spend()
        with budget.nested():
            match node:
                case Simple():
                    return self.simple(node)
                case Test() | Arithmetic():
                    self.state.ran = False
                    if isinstance(node, Arithmetic):
                        return self.builtins.computed(node.source)
                    return Conditions(self.expander).brackets(node.source)
                case AndOr():
                    return self.and_or(node)
                case Pipeline():
                    return self.pipeline(node)
                case Background(body=body):
                    self.state.apart(lambda: self.statement(body))
                    return True
                case Group():
                    return self.group(node)
                case Subshell():
                    return self.state.apart(lambda: self.block(node.body))
                case If():
                    return self.choice(node)
                case Case():
                    return self.case(node)
                case For():
                    return self.for_each(node)
                case CountedFor():
                    return self.counted_for(node)
                case While():
                    return self.while_loop(node)
                case Function():
                    self.state.functions[node.name] = Callee(node.body, self.state.maybe)
                    return True

    # compound commands

    def and_or(self, node: AndOr) -> Truth:
        """Read left && right, and left || right."""

        def right() -> Truth:
            return self.statement(node.right)

        truth, assumed = self.state.noticing(lambda: self.statement(node.left))
        wanted = node.operator == "&&"
        if truth is None:
            # The command after a program is read as if the program succeeds.
            return right() if wanted and self.state.ran else self.state.possibly(right)
        return self.state.unless_it_leaves(right, assumed) if truth == wanted else truth

    def pipeline(self, node: Pipeline) -> Truth:
        """Read a | b, whose variables are lost afterwards, and ! a."""
        if len(node.commands) == 1:
            truth = self.statement(node.commands[0])
        else:
            with self.state.writing(None):
                for command in node.commands:
                    truth = self.state.apart(lambda command=command: self.statement(command))  # type: ignore[misc]
            self.state.write(None)
        if not node.is_negated:
            return truth
        self.state.ran = False
        return negated(truth)

    def group(self, node: Group) -> Truth:
        """Read { ...; }. Output that is redirected to a file is dropped."""
        if self.redirected(node.redirections).target is None:
            return self.block(node.body)
        with self.state.writing(None):
            return self.block(node.body)

    def choice(self, node: If) -> Truth:
        """Read if ...; then ...; else ...; fi."""
        truth, assumed = self.state.noticing(lambda: self.block(node.condition))

        def yes() -> Truth:
            return self.block(node.body)

        def no() -> Truth:
            return self.block(node.otherwise)

        if truth is None:
            return self.state.either(yes, no)
        first, second = (yes, no) if truth else (no, yes)
        return self.state.unless_it_leaves(first, assumed, second)

    def case(self, node: Case) -> Truth:
        """Read case value in pattern) ...;; esac."""
        text = self.expander.text(node.subject)
        fits = [(item, fit) for item in node.items if (fit := self._fits(text, item)) is not False]
        if any(item.goes_on for item, _ in fits):
            for item, _ in fits:  # the next items may run too
                self.state.possibly(lambda item=item: self.block(item.body))  # type: ignore[misc]
            return None
        if not fits:
            return True
        if fits[0][1]:
            return self.block(fits[0][0].body)
        bodies: list[Run] = [lambda item=item: self.block(item.body) for item, _ in fits]  # type: ignore[misc]
        is_complete = any(fit for _, fit in fits)
        return self.state.either(*bodies, *([] if is_complete else [lambda: True]))

    def _fits(self, text: Text, item: CaseItem) -> Truth:
        """Return true if a text matches one of the patterns of a case item."""
        fits: list[Truth] = []
        for word in item.patterns:
            pattern = self.expander.pattern(word)
            self.state.budget.spend(MATCHING * len(str(text)))
            if pattern is not None and set(pattern.items) == {None}:
                fits.append(True)
            else:
                fits.append(pattern.matches(str(text)) if pattern is not None and text.known else None)
        return True if True in fits else None if None in fits else False

    # loops

    def for_each(self, node: For) -> Truth:
        """Read `for name in words; do ...; done`, and `select`."""
        if node.words is None:
            values = list(self.state.scope.arguments or [])
        else:
            values = [text for word in node.words for text in self.expander.words(word)]
        values = [text for text in values if str(text) != "$@"]
        if node.is_chosen:
            values = [Text.of(Hole(f"${node.name}", RUN, splits=True))]
        before = len(self.state.commands)

        def turns() -> Iterator[bool]:
            for text in values:
                self.state.assign(node.name, text)
                yield not text.open

        self._loop(turns(), node.body)
        self.state.budget.line = node.line
        if len(self.state.commands) > before + 1 and len(values) > 1:
            listed = ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")
            self.state.note(
                f"The loop of line {node.line} runs its commands for each {node.name} of {listed}."
            )
        return True

    def counted_for(self, node: CountedFor) -> Truth:
        """Read `for ((first; condition; step)); do ...; done`."""
        self.builtins.computed(node.first)
        condition = node.condition
        return self._conditional(
            lambda: self.builtins.computed(condition) if condition.strip() else True,
            True,
            node.body,
            lambda: self.builtins.computed(node.step),
        )

    def while_loop(self, node: While) -> Truth:
        """Read `while ...; do ...; done`, and `until`."""
        return self._conditional(
            lambda: self.state.noticing(lambda: self.block(node.condition))[0], node.wanted, node.body
        )

    def _conditional(self, condition: Run, wanted: bool, body: Block, step: Run = lambda: True) -> Truth:
        """Read a loop that goes on while its condition is as requested, or unknown."""

        def turns() -> Iterator[bool]:
            while (truth := condition()) in (wanted, None):
                yield truth is wanted
                if truth is None or self.state.landings[-1].left:
                    return
                step()

        return self._loop(turns(), body)

    def _loop(self, turns: Iterator[bool], body: Block) -> Truth:
        """Read the body once for each turn. A turn is true if it certainly runs."""
        state = self.state
        before, line = dict(state.scope.variables), state.budget.line
        landing = Landing(("break", "continue"))
        state.landings.append(landing)
        for number, is_certain in enumerate(turns):
            if number == TURNS:
                self._note_unread_turns(before, line)
                break
            if not self._turn(body, is_certain, landing):
                break
        state.landings.pop()
        state.land(landing, "break", line)
        return True

    def _turn(self, body: Block, is_certain: bool, landing: Landing) -> bool:
        """Read one turn of a loop, and return true if the loop goes on."""
        line = self.state.budget.line
        try:
            if is_certain:
                self.block(body)
            else:
                self.state.possibly(lambda: self.block(body))
        except Jump as jump:
            if jump.kind not in ("break", "continue"):
                raise
            if jump.number > 1:
                raise Jump(jump.kind, jump.number - 1) from None
            if jump.kind == "break":
                return False
        self.state.land(landing, "continue", line)
        return True

    def _note_unread_turns(self, before: dict[str, Value], line: int) -> None:
        self.state.budget.line = line
        self.state.note(f"Only the first {TURNS} turns of the loop of line {line} are read.")
        variables = self.state.scope.variables
        for name, value in variables.items():
            if before.get(name) != value:
                why = f"changes in the loop of line {line}, which is not read to its end"
                variables[name] = Text.of(Hole(f"${name}", why))

    # simple commands

    def simple(self, node: Simple) -> Truth:
        """Read a command, or assignments alone."""
        first = node.arguments[0] if node.arguments else None
        kind = str(self.expander.text(first.word)) if first else ""
        if kind in DECLARATIONS:
            self.state.ran = False
            arguments = [item for argument in node.arguments[1:] for item in self._declared(argument)]
            return self.builtins.declare(kind, arguments)
        texts: list[Text] = []
        lines: list[int] = []
        for argument in node.arguments:
            self.state.budget.line = argument.line
            words = self.expander.words(argument.word)
            texts += words
            lines += [argument.line] * len(words)
        self.state.budget.line = node.line
        if texts:
            return self._command(node, texts, lines)
        self.state.ran = False
        for assignment in node.assignments:
            self.builtins.assign(assignment)
        return True

    def _declared(self, argument: Argument) -> Sequence[Text | Assignment]:
        if not assignment_of(argument.word):
            return self.expander.words(argument.word)
        words = braced(argument.word, self.state.budget)
        return [assignment for word in words if (assignment := assignment_of(word))]

    def _command(self, node: Simple, texts: list[Text], lines: list[int]) -> Truth:
        """Read a command with the variables before it, which hold only for this command."""
        state = self.state
        redirected = self.redirected(node.redirections)
        before = state.scope.copy() if node.assignments else state.scope
        for assignment in node.assignments:
            self.builtins.assign(assignment)
        given = {item.name: state.scope.text(item.name) for item in node.assignments}
        name = str(texts[0])
        carry_out = self.builtins.find(name)
        state.ran = False
        if name in state.functions:
            truth = self._call_or_not(state.functions[name], tuple(texts[1:]))
        elif carry_out:
            with state.writing(state.written if redirected.target is None else None):
                truth = carry_out(texts, redirected.given)
        elif name == "eval":
            truth = self.inner.evaluate(texts)
        elif name in ("source", "."):
            truth = self.inner.include(texts)
        else:
            truth = self._program(texts, lines, given, redirected)
        for name in given:
            _restore(name, state.scope, before)
        return truth

    def _program(
        self, texts: list[Text], lines: list[int], variables: dict[str, Text], redirected: Redirected
    ) -> Truth:
        """Record a command that is not part of the shell."""
        state, name = self.state, str(texts[0])
        self._keep_file(texts, redirected)
        written = _output_of(texts, redirected.given)
        if state.written is None or written is None:
            state.commands.append(
                Command(tuple(texts), variables, state.budget.line, state.maybe, tuple(lines))
            )
        if redirected.target is None and name not in SILENT:
            state.write(written)
        self.inner.hand_on(texts, lines, variables, redirected.given)
        state.ran = True
        if name == "exec" and len(texts) > 1:
            raise Jump("exit")
        return None

    def _keep_file(self, texts: Sequence[Text], redirected: Redirected) -> None:
        """Keep the file that `cat > file <<EOF` or `tee file <<EOF` writes."""
        target, appends = redirected.target, redirected.appends
        if str(texts[0]) == "tee":
            target, appends = texts[-1], "-a" in map(str, texts)
        elif [str(text) for text in texts] not in (["cat"], ["cat", "-"]):
            return
        if redirected.given is not None and target is not None:
            before = self.state.files.get(str(target), "") if appends else ""
            self.state.files[str(target)] = before + str(redirected.given)

    def redirected(self, redirections: Sequence[Redirection]) -> Redirected:
        """Return where the redirections of a command lead."""
        given: Text | None = None
        target: Text | None = None
        appends = False
        for each in redirections:
            if each.operator in ("<<", "<<-"):
                given = self._document(each)
            elif each.operator == "<<<":
                given = self.expander.text(each.target) + "\n"
            elif ">" in each.operator and each.descriptor != "2":
                target, appends = self.expander.text(each.target), ">>" in each.operator
        return Redirected(given, target, appends)

    def _document(self, redirection: Redirection) -> Text:
        document = redirection.document
        if document is None:
            return Text()
        if document.quoted:
            return self.state.literal(document.text)
        return self.expander.text(Lexer(document.text, self.state.budget.line).quoted(0, stop="")[0])

    def _call_or_not(self, function: Callee, arguments: tuple[Text, ...]) -> Truth:
        """Call a function. If it was defined in a branch that may not have run, the call may not happen."""
        if function.maybe and not self.state.maybe:
            return self.state.possibly(lambda: self._call(function, arguments))
        return self._call(function, arguments)

    def _call(self, function: Callee, arguments: tuple[Text, ...]) -> Truth:
        """Call a function of the script."""
        state = self.state
        outer = state.scope.arguments
        if outer is not None or [str(text) for text in arguments] != ["$@"]:
            state.scope.arguments = arguments
        landing, line = Landing(("return",)), state.budget.line
        state.landings.append(landing)
        state.hidden.append({})
        try:
            with state.budget.nested():
                truth = self.statement(function.body)
        except Jump as jump:
            if jump.kind != "return":
                raise
            truth = None if jump.number < 0 else jump.number == 0
        finally:
            state.landings.pop()
            hidden = state.hidden.pop()
            state.budget.line = line
        state.land(landing, "return", line)
        state.scope.arguments = outer
        for name, value in hidden.items():
            state.scope.variables.pop(name, None)
            state.scope.variables |= {} if value is None else {name: value}
        return truth


def _restore(name: str, scope: Scope, before: Scope) -> None:
    if name in before.variables:
        scope.variables[name] = before.variables[name]
    else:
        scope.variables.pop(name, None)


def _output_of(texts: Sequence[Text], given: Text | None) -> Text | None:
    """Return the output of a program, if it is certain."""
    name = str(texts[0])
    if name in ("basename", "dirname") and 2 <= len(texts) <= 3:
        part = named_part(texts[1], name, *map(str, texts[2:]))
        return None if part is None else part + "\n"
    return given if name == "cat" and len(texts) == 1 else None
