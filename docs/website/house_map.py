"""The map of the house without a program that draws: the floors as rows of rooms."""

import re

from house import FLOOR, about

MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)


def with_floors(text: str) -> str:
    """The page of the house with its diagram as a list that every browser shows."""
    return MERMAID.sub(lambda found: floors(), text)


def floors() -> str:
    """The floors from the top down, each with its rooms."""
    numbers = sorted(set(FLOOR.values()), reverse=True)
    rows = "\n".join(f"<li>{_rooms(number)}</li>" for number in numbers)
    return f'```{{raw}} html\n<ol class="floors">\n{rows}\n</ol>\n```\n'


def _rooms(number: int) -> str:
    rooms = [room for room, floor in FLOOR.items() if floor == number]
    return " ".join(f'<span title="{about(room)}">{room}</span>' for room in rooms)
