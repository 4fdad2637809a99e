"""The map of the house without a program that draws: the floors as rows of rooms."""

import re

from house import FLOOR, needed, rooms_below

MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)


def with_floors(text: str) -> str:
    """The page of the house with its diagram as a list that every browser shows."""
    return MERMAID.sub(lambda found: floors(), text)


def floors() -> str:
    """The floors from the top down, each with its rooms, and the arrows that lead from them."""
    arrows = needed(rooms_below())
    numbers = sorted(set(FLOOR.values()), reverse=True)
    rows = "\n".join(f"<li>{_rooms(number, arrows)}</li>" for number in numbers)
    return f'```{{raw}} html\n<ol class="floors">\n{rows}\n</ol>\n```\n'


def _rooms(number: int, arrows: dict[str, set[str]]) -> str:
    rooms = [room for room, floor in FLOOR.items() if floor == number]
    return " ".join(f"<div><span>{room}</span>{_arrows(arrows[room])}</div>" for room in rooms)


def _arrows(below: set[str]) -> str:
    return f" → {', '.join(sorted(below))}" if below else ""
