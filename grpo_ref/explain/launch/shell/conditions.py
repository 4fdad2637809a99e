"""Decide conditions: test, [ ] and [[ ]] are true, false or unknown (None)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.arithmetic import NoNumber
from grpo_ref.explain.launch.shell.expansion import MATCHING, Expander, is_outside, outside_name
from grpo_ref.explain.launch.shell.lexer import Lexer
from grpo_ref.explain.launch.shell.patterns import Pattern
from grpo_ref.explain.launch.shell.state import Truth
from grpo_ref.explain.launch.shell.syntax import Word
from grpo_ref.explain.launch.text import Text

NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
STRINGS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


def negated(truth: Truth) -> Truth:
    """Return "not truth"; unknown stays unknown."""
    return None if truth is None else not truth


def both(left: Truth, right: Truth) -> Truth:
    """Return "left and right". One false side is enough to decide.

    >>> both(None, False), both(None, True)
    (False, None)
    """
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def either(left: Truth, right: Truth) -> Truth:
    """Return "left or right". One true side is enough to decide."""
    return negated(both(negated(left), negated(right)))


@dataclass(frozen=True)
class Conditions:
    """Decides conditions with the variables of a shell."""

    expander: Expander

    def test(self, words: Sequence[Text]) -> Truth:
        """Return the result of `test` for its arguments."""
        if not words:
            return False
        if len(words) == 1:
            return self._not_empty(words[0])
        if len(words) == 3 and (str(words[1]) in NUMBERS or str(words[1]) in STRINGS):
            return self._compared(*words)
        if str(words[0]) == "!":
            return negated(self.test(words[1:]))
        if len(words) == 2:
            return self._unary(str(words[0]), words[1])
        return self._joined(words)

    def brackets(self, source: str) -> Truth:
        """Return the result of [[ source ]]."""
        return _Brackets(self, Lexer(source)).whole()

    def _joined(self, words: Sequence[Text]) -> Truth:
        """Decide conditions joined by -o and -a. -a binds more tightly."""
        for operator, combine in (("-o", either), ("-a", both)):
            for i, word in enumerate(words[1:-1], 1):
                if str(word) == operator:
                    return combine(self.test(words[:i]), self.test(words[i + 1 :]))
        return None

    def _not_empty(self, text: Text) -> Truth:
        if any(isinstance(part, str) for part in text.parts):
            return True
        if not text:
            return False
        if not all(is_outside(hole) for hole in text.holes):
            return None
        name = outside_name(text.holes[0])
        self.expander.shell.assume(f"{name} is taken as unset in a condition.")
        return False

    def _unary(self, operator: str, text: Text) -> Truth:
        if operator == "-n":
            return self._not_empty(text)
        if operator == "-z":
            return negated(self._not_empty(text))
        if operator == "-v" and text.known:
            return True if self.expander.shell.scope.may_be_set(str(text)) else None
        return None

    def _compared(self, left: Text, operator: Text, right: Text) -> Truth:
        if not (left.known and right.known):
            return None
        if str(operator) in STRINGS:
            return STRINGS[str(operator)](str(left), str(right))
        try:
            return NUMBERS[str(operator)](self._number(left), self._number(right))
        except NoNumber:
            return None

    def _number(self, text: Text) -> int:
        return self.expander.arithmetic(str(text))


class _Brackets:
    """Reads [[ ]] from left to right."""

    def __init__(self, conditions: Conditions, lexer: Lexer) -> None:
        self.conditions, self.expander, self.lexer = conditions, conditions.expander, lexer
        self.items = list(_items(lexer))
        self.place = 0

    def whole(self) -> Truth:
        truth = self.any()
        return truth if self.place == len(self.items) else None

    def any(self) -> Truth:
        truth = self.all()
        while self.take("||"):
            truth = either(truth, self.all())
        return truth

    def all(self) -> Truth:
        truth = self.one()
        while self.take("&&"):
            truth = both(truth, self.one())
        return truth

    def one(self) -> Truth:
        if self.take("!"):
            return negated(self.one())
        if self.take("("):
            truth = self.any()
            return truth if self.take(")") else None
        first, second, third = (self.source(ahead) for ahead in range(3))
        if second in STRINGS or second in NUMBERS or second == "=~":
            self.place += 3
            return self.compared(second)
        if (first.startswith("-") and len(first) == 2 and third != "") or second not in ("", "&&", "||", ")"):
            self.place += 2
            return self.conditions._unary(first, self.text(-1))
        self.place += 1
        return self.conditions._not_empty(self.text(-1))

    def compared(self, operator: str) -> Truth:
        left = self.text(-3)
        if operator in ("=", "==", "!="):
            pattern = self.expander.pattern(self.word(-1))
            if pattern is None or not left.known:
                return None
            return self.fits(str(left), pattern) == (operator != "!=")
        if operator == "=~":
            return None
        return self.conditions._compared(left, Text.of(operator), self.text(-1))

    def fits(self, string: str, pattern: Pattern) -> bool:
        self.expander.shell.budget.spend(MATCHING * len(string))
        return pattern.matches(string)

    def source(self, ahead: int) -> str:
        place = self.place + ahead
        return self.items[place][0] if place < len(self.items) else ""

    def word(self, ahead: int) -> Word:
        place = self.place + ahead
        return self.items[place][1] if place < len(self.items) else ()

    def text(self, ahead: int) -> Text:
        return self.expander.text(self.word(ahead))

    def take(self, source: str) -> bool:
        taken = self.source(0) == source
        self.place += taken
        return taken


def _items(lexer: Lexer) -> list[tuple[str, Word]]:
    """Return the words and operators between the brackets, each as written and in parts."""
    items: list[tuple[str, Word]] = []
    place, source = 0, lexer.text
    while place < len(source):
        if source[place].isspace():
            place += 1
            continue
        word, end = lexer.word(place)
        if items and items[-1][0] == "=~":
            end = _regular_expression_end(lexer, place)
        elif end == place:
            end = place + (2 if source[place : place + 2] in ("&&", "||") else 1)
        items.append((source[place:end], word))
        place = end
    return items


def _regular_expression_end(lexer: Lexer, place: int) -> int:
    """Return the end of a regular expression, which may hold brackets and bars."""
    depth = 0
    while place < len(lexer.text) and (depth or not lexer.text[place].isspace()):
        end = lexer.word(place)[1]
        if end == place:
            depth += {"(": 1, ")": -1}.get(lexer.text[place], 0)
            end += 1
        place = end
    return place
