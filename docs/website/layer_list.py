"""The package map as an HTML list, for browsers without a program that draws diagrams."""

import re

from package_map import LAYER, needed, packages_below

MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)


def with_layers(text: str) -> str:
    """Replace the diagram of the page by a list that every browser shows."""
    return MERMAID.sub(lambda match: layers(), text)


def layers() -> str:
    """List the layers from the top down, each with its packages and the packages that they import."""
    arrows = needed(packages_below())
    numbers = sorted(set(LAYER.values()), reverse=True)
    rows = "\n".join(f"<li>{_packages(number, arrows)}</li>" for number in numbers)
    return f'```{{raw}} html\n<ol class="layers">\n{rows}\n</ol>\n```\n'


def _packages(number: int, arrows: dict[str, set[str]]) -> str:
    packages = [package for package, layer in LAYER.items() if layer == number]
    return " ".join(f"<div><span>{package}</span>{_arrows(arrows[package])}</div>" for package in packages)


def _arrows(below: set[str]) -> str:
    return f" → {', '.join(sorted(below))}" if below else ""
