"""Expand braces: {a,b} and {1..3} turn one word into several."""

import re
from collections.abc import Iterator
from dataclasses import replace

from grpo_ref.explain.launch.shell.budget import Budget
from grpo_ref.explain.launch.shell.syntax import Expansion, Literal, Part, Word

ATOMS = 10  # characters whose work is that of an atom
RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?|([A-Za-z])\.\.([A-Za-z])")


def braced(word: Word, budget: Budget) -> list[Word]:
    """Return the words that a word with braces stands for.

    >>> braced((Literal("a{1..2}"),), Budget())
    [(Literal(text='a1', quoted=False),), (Literal(text='a2', quoted=False),)]
    """
    if not any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in word):
        return [word]
    return [_glued(atoms) for atoms in _expanded(tuple(_atoms(word)), budget)]


def _atoms(word: Word) -> Iterator[Part]:
    """Yield the parts of a word, with unquoted characters one by one."""
    for part in word:
        if isinstance(part, Literal) and not part.quoted:
            yield from (Literal(character) for character in part.text)
        else:
            yield part


def _expanded(atoms: Word, budget: Budget) -> list[Word]:
    """Expand the first braces that hold a comma or a range, and return the resulting rows of atoms."""
    for begin in _places(atoms, "{"):
        budget.spend(ATOMS * len(atoms))
        end, commas = _closing(atoms, begin)
        if end is None:
            continue
        choices = _choices(atoms[begin + 1 : end], [comma - begin - 1 for comma in commas], budget)
        if choices:
            rests = _expanded(atoms[end + 1 :], budget)
            budget.spend(ATOMS * len(choices) * len(rests) * len(atoms))
            return [atoms[:begin] + choice + rest for choice in choices for rest in rests]
    return [atoms]


def _closing(atoms: Word, begin: int) -> tuple[int | None, list[int]]:
    """Return the place of the brace that closes the one at `begin`, and of the commas outside inner braces."""
    depth, commas = 0, list[int]()
    for place in range(begin + 1, len(atoms)):
        if atoms[place] == Literal("{"):
            depth += 1
        elif atoms[place] == Literal("}"):
            if not depth:
                return place, commas
            depth -= 1
        elif atoms[place] == Literal(",") and not depth:
            commas.append(place)
    return None, commas


def _choices(inside: Word, commas: list[int], budget: Budget) -> list[Word]:
    """Return the replacements for a pair of braces; an empty list if the braces are literal."""
    if commas:
        begins, ends = [0, *(comma + 1 for comma in commas)], [*commas, len(inside)]
        pieces = [inside[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return [choice for piece in pieces for choice in _expanded(piece, budget)]
    text = "".join(atom.text if isinstance(atom, Literal) and not atom.quoted else "\0" for atom in inside)
    match = RANGE.fullmatch(text)
    return [(Literal(item),) for item in _range(match, budget)] if match else []


def _range(match: re.Match[str], budget: Budget) -> Iterator[str]:
    first, last, step, first_letter, last_letter = match.groups()
    if first_letter:
        for code in _from_to(ord(first_letter), ord(last_letter), 1, budget):
            yield chr(code)
        return
    zeros = any(re.match(r"-?0\d", end) for end in (first, last))
    width = max(len(first), len(last)) if zeros else 0
    for number in _from_to(int(first), int(last), abs(int(step or 1)) or 1, budget):
        yield f"{number:0{width}d}"


def _from_to(first: int, last: int, step: int, budget: Budget) -> range:
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    budget.length(abs(last - first) // step)
    return numbers


def _places(atoms: Word, character: str) -> Iterator[int]:
    return (place for place, atom in enumerate(atoms) if atom == Literal(character))


def _glued(atoms: Word) -> Word:
    """Join neighbouring characters into literals, and letters after $x into its name, as $x{a,b} is $xa $xb."""
    glued: list[Part] = []
    for atom in atoms:
        last = glued[-1] if glued else None
        if not isinstance(atom, Literal) or atom.quoted:
            glued.append(atom)
        elif isinstance(last, Literal) and not last.quoted:
            glued[-1] = Literal(last.text + atom.text)
        elif isinstance(last, Expansion) and _goes_on(last, atom.text):
            glued[-1] = replace(last, source=last.source + atom.text)
        else:
            glued.append(atom)
    return tuple(glued)


def _goes_on(expansion: Expansion, character: str) -> bool:
    """Return true if a character would be read as a part of the variable's name."""
    return expansion.bare and not expansion.quoted and (expansion.source + character).isidentifier()
