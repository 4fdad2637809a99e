"""Parse the tokens of a shell script into a syntax tree, by recursive descent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.lexer import Lexer
from grpo_ref.explain.launch.shell.script import CannotRead, Note
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
    Elements,
    Expansion,
    For,
    Function,
    Group,
    If,
    Literal,
    Pipeline,
    Redirection,
    Simple,
    Statement,
    Subshell,
    Test,
    Token,
    While,
    Word,
)

ENDS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}", ")", ";;", ";&", ";;&"})
"""Tokens that end a list of statements."""
ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\+?)=")
INDEXED = re.compile(r"([A-Za-z_]\w*)\[")
INDEX_END = re.compile(r"([^\]]*)\](\+?)=")
DESCRIPTOR = re.compile(r"\d*")
DEEPEST = 150


@dataclass(frozen=True)
class Tree:
    """The syntax tree of a script.

    Args:
      body: the statements.
      size: number of characters of the script.
      notes: remarks for the reader.
      wrong_line: line of the first syntax error; 0 if there is none.
    """

    body: Block
    size: int
    notes: tuple[Note, ...] = ()
    wrong_line: int = 0


def parse(text: str, first_line: int = 1, *, is_partial: bool = False) -> Tree:
    """Return the syntax tree of a script.

    A wrong or missing word of the grammar, such as `fi`, is skipped or assumed.

    Args:
      text: the script.
      first_line: line number of its beginning.
      is_partial: true if the script may be read up to a quote or bracket that is not closed.

    Raises:
      CannotRead: if a quote or bracket is not closed, or the script is nested too deep.

    >>> parse("if x; then y; fi").body[0].condition[0].arguments[0]
    Argument(word=(Literal(text='x', quoted=False),), line=1)
    """
    lexer = Lexer(text, first_line)
    tokens: list[Token] = []
    cut: CannotRead | None = None
    try:
        for token in lexer.tokens():
            tokens.append(token)
    except CannotRead as error:
        tokens = _certain(tokens) if is_partial else []
        if not any(token.kind not in ("newline", "comment") for token in tokens):
            raise
        cut = error
    parser = _Parser(lexer, [token for token in tokens if token.kind != "comment"])
    body = parser.script()
    if cut is None:
        return Tree(body, len(text), tuple(lexer.notes), parser.wrong_line)
    end = lexer.line(tokens[-1].start)
    why = f"The script is read only up to line {end}, because line {cut.line} {cut.why}."
    return Tree(body, len(text), (*lexer.notes, Note(cut.line, why)))


def assignment_of(word: Word) -> Assignment | None:
    """Return the assignment that a word is written as; None if the word is not an assignment.

    >>> assignment_of((Literal("A=1"),))
    Assignment(name='A', index=None, appends=False, value=(Literal(text='1', quoted=False),))
    """
    first = word[0] if word else None
    if not isinstance(first, Literal) or first.quoted:
        return None
    if match := ASSIGNED.match(first.text):
        return Assignment(match[1], None, bool(match[2]), (Literal(first.text[match.end() :]), *word[1:]))
    if not (match := INDEXED.match(first.text)):
        return None
    rest = (Literal(first.text[match.end() :]), *word[1:])
    for i, part in enumerate(rest):
        end = INDEX_END.match(part.text) if isinstance(part, Literal) and not part.quoted else None
        if end and isinstance(part, Literal):
            index = (*rest[:i], Literal(end[1]))
            value = (Literal(part.text[end.end() :]), *rest[i + 1 :])
            return Assignment(match[1], index, bool(end[2]), value)
    return None


def _certain(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens before the first line that an unclosed quote may change.

    A quote that is missing in one line turns the next ones inside out, and the error shows only at the end. So the
    tokens end before the first quoted text of several lines.
    """
    end = next((i for i, token in enumerate(tokens) if _has_long_quote(token.word)), len(tokens))
    while end and tokens[end - 1].kind != "newline":
        end -= 1
    return list(tokens[:end])


def _has_long_quote(word: Word) -> bool:
    return any("\n" in text for text in _quoted(word))


def _quoted(word: Word) -> Iterator[str]:
    for part in word:
        if isinstance(part, Elements):
            for element in part.words:
                yield from _quoted(element)
        elif isinstance(part, Literal) and part.quoted:
            yield part.text
        elif isinstance(part, Expansion):
            yield part.source


class _Parser:
    """Reads the tokens from left to right.

    Each method reads one rule of the grammar. A method that meets a wrong token records the line and goes on
    without that token.
    """

    def __init__(self, lexer: Lexer, tokens: Sequence[Token]) -> None:
        self.lexer, self.tokens = lexer, tokens
        self.place = self.depth = self.wrong_line = 0

    def script(self) -> Block:
        """Parse the whole script. A word such as `done` without its beginning is skipped."""
        statements = list(self.block())
        while self.place < len(self.tokens):
            self.fail(self.line())
            self.place += 1
            statements += self.block()
        return tuple(statements)

    def block(self) -> Block:
        """Parse statements up to a word or operator that ends them."""
        statements: list[Statement] = []
        while self.place < len(self.tokens) and not self.at(*ENDS):
            if self.take("\n", ";", "&"):
                continue
            begin = self.place
            statement = self.and_or()
            if self.place == begin:
                self.place += 1
                continue
            if self.take("&"):
                statement = Background(statement.line, statement)
            elif not self.at("\n", ";", *ENDS, ""):
                self.fail(self.line())
            statements.append(statement)
        return tuple(statements)

    def and_or(self) -> Statement:
        left = self.pipeline()
        while operator := self.take("&&", "||"):
            self.skip_newlines()
            left = AndOr(left.line, left, operator, self.pipeline())
        return left

    def pipeline(self) -> Statement:
        line, is_negated = self.line(), False
        while word := self.take("!", "time"):
            is_negated ^= word == "!"
            if word == "time":
                self.take("-p")
        commands = [self.command()]
        while self.take("|", "|&"):
            self.skip_newlines()
            commands.append(self.command())
        if len(commands) == 1 and not is_negated:
            return commands[0]
        return Pipeline(line, tuple(commands), is_negated)

    def command(self) -> Statement:
        line = self.line()
        self.depth += 1
        if self.depth > DEEPEST:
            raise CannotRead(line, f"is nested more than {DEEPEST} levels deep")
        statement = self.compound(line)
        self.depth -= 1
        if statement is None:
            return self.simple(line)
        redirections = list(self.redirections())
        return Group(line, (statement,), tuple(redirections)) if redirections else statement

    def compound(self, line: int) -> Statement | None:
        """Parse a compound command; None if a simple command begins here."""
        token = self.token()
        if token is None:
            return None
        source = self.source()
        if token.kind in ("arithmetic", "test"):
            self.place += 1
            return (Arithmetic if token.kind == "arithmetic" else Test)(line, source[2:-2])
        if token.kind == "word" and self.source(1) == "(" and self.source(2) == ")":
            self.place += 3
            return self.function(line, source)
        if token.kind not in ("reserved", "operator") or source not in COMPOUND:
            return None
        self.place += 1
        return COMPOUND[source](self, line)

    def simple(self, line: int) -> Simple:
        assignments: list[Assignment] = []
        arguments: list[Argument] = []
        redirections: list[Redirection] = []
        begin = self.place
        while (token := self.token()) and token.kind not in ("operator", "newline"):
            if token.kind == "redirect":
                redirections += self.redirections()
                continue
            assignment = None if arguments else assignment_of(token.word)
            if assignment:
                assignments.append(assignment)
            else:
                arguments.append(Argument(token.word, self.line()))
            self.place += 1
        if self.place == begin:
            self.fail(line)
        return Simple(line, tuple(assignments), tuple(arguments), tuple(redirections))

    def redirections(self) -> Iterator[Redirection]:
        while (token := self.token()) and token.kind == "redirect":
            match = DESCRIPTOR.match(self.lexer.text, token.start)
            document = self.lexer.documents.get(token.start)
            yield Redirection(token.operator, match[0] if match else "", token.word, document)
            self.place += 1

    def subshell(self, line: int) -> Statement:
        body = self.block()
        self.expect(")", line)
        return Subshell(line, body)

    def group(self, line: int) -> Statement:
        body = self.block()
        self.expect("}", line)
        return Group(line, body)

    def choice(self, line: int) -> Statement:
        """Parse the rest of `if`, or of `elif`, which is an `if` in the place of `else`."""
        condition = self.block()
        self.expect("then", line)
        body = self.block()
        if self.at("elif"):
            begin = self.line()
            self.place += 1
            return If(line, condition, body, (self.choice(begin),))
        otherwise = self.block() if self.take("else") else ()
        self.expect("fi", line)
        return If(line, condition, body, otherwise)

    def case(self, line: int) -> Statement:
        subject = self.word()
        self.skip_newlines()
        self.expect("in", line)
        items: list[CaseItem] = []
        self.skip_newlines()
        while self.place < len(self.tokens) and not self.at("esac"):
            self.take("(")
            patterns = [self.word()]
            while self.take("|"):
                patterns.append(self.word())
            if not self.take(")"):
                break
            body = self.block()
            end = self.take(";;", ";&", ";;&")
            items.append(CaseItem(tuple(patterns), body, goes_on=end in (";&", ";;&")))
            self.skip_newlines()
            if not end:
                break
        self.expect("esac", line)
        return Case(line, subject, tuple(items))

    def for_each(self, line: int) -> Statement:
        is_chosen = self.source(-1) == "select"
        token = self.token()
        if token is not None and token.kind == "arithmetic" and not is_chosen:
            first, condition, step = [*self.source()[2:-2].split(";"), "", ""][:3]
            self.place += 1
            return CountedFor(line, first, condition, step, self.loop_body(line))
        name = self.source()
        if not name.isidentifier():
            self.fail(line)
        self.word()
        self.skip_newlines()
        words: list[Word] | None = None
        if self.take("in"):
            words = []
            while (token := self.token()) and token.kind in ("word", "reserved"):
                words.append(self.word())
        body = self.loop_body(line)
        return For(line, name, None if words is None else tuple(words), body, is_chosen)

    def while_loop(self, line: int) -> Statement:
        wanted = self.source(-1) == "while"
        condition = self.block()
        return While(line, condition, self.loop_body(line), wanted)

    def loop_body(self, line: int) -> Block:
        while self.take(";", "\n"):
            pass
        self.expect("do", line)
        body = self.block()
        self.expect("done", line)
        return body

    def named_function(self, line: int) -> Statement:
        name = self.source()
        self.word()
        if self.take("("):
            self.expect(")", line)
        return self.function(line, name)

    def function(self, line: int, name: str) -> Statement:
        self.skip_newlines()
        return Function(line, name, self.command())

    def word(self) -> Word:
        """Return the next token's word. If the next token is not a word, record the error."""
        token = self.token()
        if token is None or token.kind not in ("word", "reserved"):
            self.fail(self.line())
            return ()
        self.place += 1
        return token.word

    def token(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def source(self, ahead: int = 0) -> str:
        """Return the text of the next token, or of another one; "" after the last."""
        place = self.place + ahead
        if not 0 <= place < len(self.tokens):
            return ""
        return self.lexer.text[self.tokens[place].start : self.tokens[place].end]

    def line(self) -> int:
        """Return the line number of the next token, or of the last one at the end."""
        token = self.token() or (self.tokens[-1] if self.tokens else None)
        return self.lexer.first_line if token is None else self.lexer.line(token.start)

    def at(self, *sources: str) -> bool:
        """Return true if the next token is one of these. "" stands for the end."""
        return self.source() in sources

    def take(self, *sources: str) -> str:
        """Take the next token if it is one of these and return it; otherwise return ""."""
        source = self.source()
        if not source or source not in sources:
            return ""
        self.place += 1
        return source

    def skip_newlines(self) -> None:
        while self.take("\n"):
            pass

    def expect(self, source: str, line: int) -> None:
        """Take a token. If it is missing, record the line where its statement begins."""
        if not self.take(source):
            self.fail(line)

    def fail(self, line: int) -> None:
        """Record the line of the first syntax error."""
        self.wrong_line = self.wrong_line or line


COMPOUND = {
    "(": _Parser.subshell,
    "{": _Parser.group,
    "if": _Parser.choice,
    "case": _Parser.case,
    "for": _Parser.for_each,
    "select": _Parser.for_each,
    "while": _Parser.while_loop,
    "until": _Parser.while_loop,
    "function": _Parser.named_function,
}
