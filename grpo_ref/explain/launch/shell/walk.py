"""Walk through a script in the order in which it would run."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from tree_sitter import Node

from grpo_ref.explain.launch.shell.conditions import Truth, negated
from grpo_ref.explain.launch.shell.expansion import MATCHING
from grpo_ref.explain.launch.shell.loops import Loops
from grpo_ref.explain.launch.shell.state import Function, Jump
from grpo_ref.explain.launch.text import Text


class Shell(Loops):
    """Reads the nodes of an outline one after the other. Nothing is run."""

    def whole(self) -> Truth:
        """Read the whole script."""
        self.note_error(self.outline)
        try:
            return self.statements(self.outline.root.children)
        except Jump:
            return None

    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Read statements, and return the truth of the last one."""
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
        """Read { ...; }, or a part that the grammar could not parse."""
        return self.statements(node.children)

    def subshell(self, node: Node) -> Truth:
        """Read ( ... ), whose variables are lost afterwards."""
        return self.apart(lambda: self.statements(node.children))

    def chain(self, node: Node) -> Truth:
        """Read left && right, and left || right."""
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
        """Read ! statement."""
        truth = negated(self.statements(node.children))
        self.ran = False
        return truth

    def pipeline(self, node: Node) -> Truth:
        """Read a | b. The variables of each side are lost afterwards."""
        written, self.written = self.written, None
        truth: Truth = None
        for child in node.children:
            if child.type in STATEMENTS:
                truth = self.apart(lambda child=child: self.statement(child))  # type: ignore[misc]
        self.written = written
        self.write(None)
        return truth

    def choice(self, node: Node) -> Truth:
        """Read if ...; then ...; elif ...; else ...; fi."""
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
        """Read case value in pattern) ...;; esac."""
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
        """Return true if a text matches one of the patterns of a case item."""
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

    def define(self, node: Node) -> Truth:
        """Define a function: name() { ...; }."""
        name = node.child_by_field_name("name")
        if name is not None:
            self.functions[self.outline.text(name)] = Function(self.outline, node.children[-1], self.maybe)
        return True


def _parted(nodes: Sequence[Node], kind: str) -> tuple[Sequence[Node], Sequence[Node]]:
    """Split nodes at the first node of a kind."""
    place = next((i for i, node in enumerate(nodes) if node.type == kind), len(nodes))
    return nodes[:place], nodes[place + 1 :]


def _after(nodes: Sequence[Node], kind: str) -> Sequence[Node]:
    return _parted(nodes, kind)[1]


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
