"""Compute the shell's arithmetic on 64-bit whole numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

TOKEN = re.compile(
    r"\s*(?:(\d+#[\w@]+|0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)"
    r"|(<<=|>>=|\*\*|\+\+|--|[-+*/%&^|]=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>=!~&^|?:,()]))"
)
LEVELS: list[set[str]] = [
    {"||"},
    {"&&"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", "<=", ">", ">="},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "%"},
]
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b % 64),
    ">>": lambda a, b: a >> (b % 64),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: _toward_zero(a, b),
    "%": lambda a, b: a - b * _toward_zero(a, b),
}


class NoNumber(Exception):
    """Raised for an expression whose value is unknown or that has none."""


class Names(Protocol):
    """The variables of an expression."""

    def number(self, name: str) -> int:
        """Return the value of a variable."""

    def set_number(self, name: str, value: int) -> None:
        """Give a variable a value."""


def evaluate(expression: str, names: Names) -> int:
    """Return the value of an expression.

    Raises:
      NoNumber: if the expression has no value, such as 1/0, or its syntax is wrong.
    """
    return _Reader(_tokens(expression), names).whole()


def _tokens(expression: str) -> list[str]:
    tokens, place = [], 0
    expression = expression.rstrip()
    while place < len(expression):
        match = TOKEN.match(expression, place)
        if not match:
            raise NoNumber(expression)
        tokens.append(match[0].strip())
        place = match.end()
    return tokens


@dataclass
class _Reader:
    """Reads an expression from left to right. `live` is false inside a branch that is skipped."""

    tokens: list[str]
    names: Names
    place: int = 0
    live: bool = field(default=True)

    def whole(self) -> int:
        value = self.comma() if self.tokens else 0
        if self.place < len(self.tokens):
            raise NoNumber(self.tokens[self.place])
        return value

    def comma(self) -> int:
        value = self.assignment()
        while self.take({","}):
            value = self.assignment()
        return value

    def assignment(self) -> int:
        name, operator = self.peek(0), self.peek(1)
        if operator not in ASSIGN or not name.isidentifier():
            return self.choice()
        self.place += 2
        value = self.assignment()
        if operator != "=":
            value = self.apply(operator[:-1], self.value_of(name), value)
        return self.store(name, value)

    def choice(self) -> int:
        condition = self.binary(0)
        if not self.take({"?"}):
            return condition
        yes = self.skipping(not condition, self.assignment)
        if not self.take({":"}):
            raise NoNumber(":")
        no = self.skipping(bool(condition), self.choice)
        return yes if condition else no

    def binary(self, level: int) -> int:
        if level == len(LEVELS):
            return self.power()
        value = self.binary(level + 1)
        while operator := self.take(LEVELS[level]):
            value = self.step(operator, value, level)
        return value

    def step(self, operator: str, value: int, level: int) -> int:
        if operator in ("&&", "||"):
            decided = bool(value) == (operator == "||")
            right = self.skipping(decided, lambda: self.binary(level + 1))
            return int(bool(value)) if decided else int(bool(right))
        return self.apply(operator, value, self.binary(level + 1))

    def power(self) -> int:
        value = self.unary()
        if not self.take({"**"}):
            return value
        exponent = self.power()
        if exponent < 0 and self.live:
            raise NoNumber("a negative power")
        return _wrapped(pow(value, max(exponent, 0), 1 << 64))

    def unary(self) -> int:
        operator = self.take({"+", "-", "!", "~", "++", "--"})
        if operator in ("++", "--"):
            name = self.peek(0)
            self.place += 1
            return self.store(name, self.value_of(name) + (1 if operator == "++" else -1))
        if not operator:
            return self.atom()
        value = self.unary()
        return _wrapped({"+": value, "-": -value, "!": int(not value), "~": ~value}[operator])

    def atom(self) -> int:
        if self.take({"("}):
            value = self.comma()
            if not self.take({")"}):
                raise NoNumber(")")
            return value
        token = self.peek(0)
        self.place += 1
        if not token or not (token[0].isalnum() or token[0] == "_"):
            raise NoNumber(token)
        if token[0].isdigit():
            return _number(token)
        value = self.value_of(token)
        if change := self.take({"++", "--"}):
            self.store(token, value + (1 if change == "++" else -1))
        return value

    def value_of(self, name: str) -> int:
        if not name.isidentifier():
            raise NoNumber(name)
        return self.names.number(name) if self.live else 0

    def store(self, name: str, value: int) -> int:
        if self.live:
            self.names.set_number(name, _wrapped(value))
        return _wrapped(value)

    def apply(self, operator: str, left: int, right: int) -> int:
        if operator in "/%" and right == 0:
            if self.live:
                raise NoNumber("division by zero")
            return 0
        return _wrapped(OPERATIONS[operator](left, right))

    def skipping(self, skip: bool, read: Callable[[], int]) -> int:
        """Read a branch. If it is skipped, its assignments and errors are ignored."""
        live, self.live = self.live, self.live and not skip
        value = read()
        self.live = live
        return value

    def peek(self, ahead: int) -> str:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def take(self, wanted: set[str]) -> str:
        """Take the next token if it is one of the wanted ones and return it; otherwise return ""."""
        token = self.peek(0)
        if token not in wanted:
            return ""
        self.place += 1
        return token


def _number(token: str) -> int:
    """Parse a number written as 10, 0x10, 010 or 2#10."""
    base, digits = 10, token
    if "#" in token:
        written, digits = token.split("#", 1)
        base = int(written)
    elif token[:2].lower() == "0x":
        base, digits = 16, token[2:]
    elif token.startswith("0") and len(token) > 1:
        base = 8
    try:
        return _wrapped(int(digits, base))
    except ValueError as error:
        raise NoNumber(token) from error


def _wrapped(value: int) -> int:
    """Wrap a number to 64 bits, with sign."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _toward_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient
