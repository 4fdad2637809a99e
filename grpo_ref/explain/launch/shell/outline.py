"""Find the structure of a script: which command belongs to which branch, loop or function.

tree-sitter parses an outline of the script, in which every word is a row of w's, and quotes, comments,
redirections and here-documents are blanks. So no value can disturb the grammar, and a place in the outline is
the same place in the script, where the words are read.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from grpo_ref.explain.launch.shell.lexer import Lexer
from grpo_ref.explain.launch.shell.parts import Token

EMPTY_ROW = re.compile(r"\bin ;\s")  # the grammar wants a word here, bash does not
SHORT = {";;&": ";; ", ";&": ";;", "|&": "| "}


@dataclass(frozen=True)
class Outline:
    """A script with its structure.

    Args:
      lexer: lexer of the script.
      outline: the text that the grammar parses, as long as the script.
    """

    lexer: Lexer
    outline: str

    @classmethod
    def of(cls, text: str, first_line: int = 1) -> "Outline":
        """Make the outline of a script.

        >>> Outline.of("if [ -z $A ]; then python 'a b' > log; fi  # done").outline
        'if w ww ww w; then wwwwww wwwww      ; fi        '
        """
        lexer = Lexer(text, first_line)
        pieces, place = [], 0
        for token in lexer.tokens():
            pieces += [_blanks(text[place : token.start]), _seen(token, text[token.start : token.end])]
            place = token.end
        outline = "".join([*pieces, _blanks(text[place:])])
        return cls(lexer, EMPTY_ROW.sub("in w\n", outline))

    @cached_property
    def root(self) -> Node:
        """The node of the whole script."""
        language = Language(tree_sitter_bash.language())
        return Parser(language).parse(self.outline.encode()).root_node

    @cached_property
    def _commands(self) -> dict[int, list[Token]]:
        return {}

    def command(self, place: int) -> list[Token]:
        """Return the words and redirections of the simple command that begins at a place."""
        if place not in self._commands:
            self._commands[place] = self._tokens(place)
        return self._commands[place]

    def _tokens(self, place: int) -> list[Token]:
        tokens = []
        for token in self.lexer.tokens(place):
            if token.kind in ("operator", "newline", "comment"):
                break
            tokens.append(token)
        return tokens

    def text(self, node: Node) -> str:
        """Return the text of the script at a node of the outline."""
        return self.lexer.text[node.start_byte : node.end_byte]

    def line(self, node: Node) -> int:
        """Return the line number where a node begins."""
        return self.lexer.line(node.start_byte)


def _blanks(text: str) -> str:
    return " " * len(text)


def _seen(token: Token, text: str) -> str:
    """Return the text that the grammar sees instead of a token."""
    if token.kind == "newline" or token.kind == "reserved":
        return text
    if token.kind == "operator":
        return SHORT.get(text, text)
    if token.kind in ("redirect", "comment") or text == "time":
        return _blanks(text)
    if token.kind == "arithmetic" and text.count(";") == 2:
        return "((" + re.sub("[^;]", "w", text[2:-2]) + "))"
    return "w" * len(text)
