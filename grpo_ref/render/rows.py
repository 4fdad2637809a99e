"""Rows of a formula: join functions with their brackets, space words, and turn slashes into fractions."""

import re
from typing import NamedTuple


class Item(NamedTuple):
    """A finished part of a row: its kind, its MathML, the content of its brackets, and whether a space comes
    before it.
    """

    kind: str
    xml: str
    inside: str
    apart: bool = False


def joined(items: list[Item]) -> list[Item]:
    """Join each function with its bracket into one item, and insert the spaces between words."""
    row: list[Item] = []
    for item in items:
        before = row[-1] if row else None
        if before and _applies(before, item):
            xml = f"<mrow>{before.xml}<mo>&#x2061;</mo>{item.xml}</mrow>"
            row[-1] = Item("applied", xml, xml, before.apart)
        elif before and item.apart and _juxtaposed(before, item):
            row.append(item._replace(xml=_space(before, item) + item.xml))
        else:
            row.append(item)
    return row


def _applies(before: Item, item: Item) -> bool:
    return item.kind == "group" and not item.apart and before.kind in ("function", "word", "atom")


def _juxtaposed(before: Item, item: Item) -> bool:
    return not {before.kind, item.kind} & {"operator", "slash"}


def _space(before: Item, item: Item) -> str:
    width = "0.28em" if "word" in (before.kind, item.kind) else "0.17em"
    return f'<mspace width="{width}"></mspace>'


def fractions(row: list[Item]) -> list[Item]:
    """Turn `a / b` into a fraction if both sides are single items and neither could extend further."""
    place = 1
    while place < len(row) - 1:
        if row[place].kind == "slash" and _stands_alone(row, place):
            top, bottom = row[place - 1], row[place + 1]
            gap, xml = _leading_space(top), f"<mfrac>{top.inside}{bottom.inside}</mfrac>"
            row[place - 1 : place + 2] = [Item("atom", gap + xml, xml, top.apart)]
        else:
            place += 1
    return row


def _leading_space(item: Item) -> str:
    found = re.match(r"<mspace[^>]*></mspace>", item.xml)
    return found[0] if found else ""


def _stands_alone(row: list[Item], place: int) -> bool:
    top, bottom = row[place - 1], row[place + 1]
    plain = {"atom", "group", "applied"}
    if top.kind not in plain or bottom.kind not in plain:
        return False
    behind = row[place + 2] if place + 2 < len(row) else None
    follows = behind is not None and behind.kind not in ("operator", "slash")
    return not (row[place].apart and (follows or _in_a_sum(row[: place - 1])))


def _in_a_sum(before: list[Item]) -> bool:
    """Return whether a sum, a product or a function without brackets begins just before and may go on."""
    product = []
    for item in reversed(before):
        if item.kind == "operator":
            break
        product.append(item)
    return any(item.kind in ("large", "function", "word") for item in product)
