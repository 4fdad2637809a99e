"""The syntax tree of a shell script: the parts of words, and the statements that the parser makes of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """Characters that stand for themselves. If quoted, they are never a pattern, a brace or a blank."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Expansion:
    """An expression that begins with `$`, or with `<(`.

    Args:
      kind: "parameter" for $x and ${x}, "output" for $(x), "arithmetic" for $((x)), "file" for <(x).
      source: the text between the braces or brackets.
      quoted: true if it is between double quotes.
      bare: true for a name without braces, such as $x.
    """

    kind: str
    source: str
    quoted: bool
    bare: bool = False


@dataclass(frozen=True)
class Placeholder:
    """A value that the user must fill in, such as <your_model>."""

    name: str


@dataclass(frozen=True)
class Elements:
    """The words between the brackets of NAME=(...)."""

    words: "tuple[Word, ...]"


Part = Literal | Expansion | Placeholder | Elements
Word = tuple[Part, ...]


@dataclass(frozen=True)
class Document:
    """The lines of a here-document. If quoted, they are not expanded."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Token:
    """A token from start to end.

    Args:
      kind: "word", "reserved", "operator", "redirect", "newline", "comment", "test" for [[ ]] and
        "arithmetic" for (( )).
      start, end: place of the token in the text.
      word: the parts of a word, or of the target of a redirection.
      operator: the operator of a redirection, such as >>.
    """

    kind: str
    start: int
    end: int
    word: Word = ()
    operator: str = ""


@dataclass(frozen=True)
class Assignment:
    """An assignment before its expansion: NAME=value, NAME[index]=value, NAME+=value or NAME=(...)."""

    name: str
    index: Word | None
    appends: bool
    value: Word


@dataclass(frozen=True)
class Argument:
    """A word of a command, with its line number."""

    word: Word
    line: int


@dataclass(frozen=True)
class Redirection:
    """A redirection.

    Args:
      operator: an operator such as > or <<<.
      descriptor: the number before the operator, such as 2 in `2>`; "" if there is none.
      target: the word after the operator.
      document: the lines of a here-document.
    """

    operator: str
    descriptor: str
    target: Word
    document: Document | None = None


@dataclass(frozen=True)
class Simple:
    """A command with its arguments, or assignments alone."""

    line: int
    assignments: tuple[Assignment, ...] = ()
    arguments: tuple[Argument, ...] = ()
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class Test:
    """The condition [[ source ]]."""

    line: int
    source: str


@dataclass(frozen=True)
class Arithmetic:
    """The command (( source ))."""

    line: int
    source: str


@dataclass(frozen=True)
class Pipeline:
    """Commands joined by |. A single command is a pipeline only if `!` negates it."""

    line: int
    commands: "tuple[Statement, ...]"
    is_negated: bool = False


@dataclass(frozen=True)
class AndOr:
    """Two commands joined by && or ||."""

    line: int
    left: "Statement"
    operator: str
    right: "Statement"


@dataclass(frozen=True)
class Background:
    """A command with & after it."""

    line: int
    body: "Statement"


@dataclass(frozen=True)
class Group:
    """Commands in braces, { ...; }, or any compound command with redirections."""

    line: int
    body: "Block"
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class Subshell:
    """Commands in brackets, ( ... ), whose variables are lost afterwards."""

    line: int
    body: "Block"


@dataclass(frozen=True)
class If:
    """if condition; then body; else otherwise; fi. An `elif` is an If inside `otherwise`."""

    line: int
    condition: "Block"
    body: "Block"
    otherwise: "Block"


@dataclass(frozen=True)
class CaseItem:
    """One `pattern | pattern) body ;;` of a case. `goes_on` is true for ;& and ;;&."""

    patterns: tuple[Word, ...]
    body: "Block"
    goes_on: bool


@dataclass(frozen=True)
class Case:
    """case subject in items esac."""

    line: int
    subject: Word
    items: tuple[CaseItem, ...]


@dataclass(frozen=True)
class For:
    """for name in words; do body; done.

    Args:
      words: the words after `in`; None for the arguments of the script or function.
      is_chosen: true for `select`, where the user chooses one of the words.
    """

    line: int
    name: str
    words: tuple[Word, ...] | None
    body: "Block"
    is_chosen: bool = False


@dataclass(frozen=True)
class CountedFor:
    """for ((first; condition; step)); do body; done."""

    line: int
    first: str
    condition: str
    step: str
    body: "Block"


@dataclass(frozen=True)
class While:
    """while condition; do body; done. `wanted` is false for `until`."""

    line: int
    condition: "Block"
    body: "Block"
    wanted: bool


@dataclass(frozen=True)
class Function:
    """name() body."""

    line: int
    name: str
    body: "Statement"


Statement = (
    Simple | Test | Arithmetic | Pipeline | AndOr | Background | Group | Subshell
    | If | Case | For | CountedFor | While | Function
)  # fmt: skip
Block = tuple[Statement, ...]
