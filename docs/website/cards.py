"""Draw the pictures that previews of links show: one for each recipe and one for each kind of page."""

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.recipes import CATALOG
from grpo_ref.recipes.titles import title_of
from website.line_plot import Plot
from website.recipe_pages import written
from website.recipe_pictures import plots_of

WIDTH, HEIGHT = 1200, 630
"""Size in pixels that networks and messengers expect."""
DPI = 100
COLOURS = {"good": "#0068a8", "bad": "#c44a00", "grpo": "#767676", "only": "#1f2933"}
INK, MUTED = "#1f2933", "#52606d"
FOLDER = "_static/cards"
KINDS = {
    "recipe/": (
        "GRPO and its variants",
        "The loss of each recipe, its gradient, and its keys in each trainer",
    ),
    "derivation/": ("GRPO, derived step by step", "Each step is proved, computed and drawn"),
    "experiments/": ("Claims about GRPO, tested", "What holds, what does not, and where"),
    "trainers/": ("GRPO in each trainer", "Keys, defaults and traps of TRL, verl, OpenRLHF and others"),
    "course/": ("Learn GRPO in your browser", "Exercises in NumPy, graded while you write"),
    "chapters/": ("Learn GRPO in your browser", "Exercises in NumPy, graded while you write"),
    "notebooks/": ("GRPO in notebooks", "Code, numbers and pictures, from a bandit to a transformer"),
    "howto/": ("Is my GRPO run healthy?", "What the curves mean, and what to do"),
    "": ("GRPO in readable NumPy", "Losses, gradients, exercises and trainers' keys"),
}
"""Beginning of an address -> title and subtitle of its picture. The first that fits counts."""
DRAWN = "dapo"
"""The recipe whose surrogate is drawn where a page is not about one recipe."""


def write_cards(site: Path) -> Callable[[str], str]:
    """Draw all pictures, and return a function from the address of a page to the path of its picture."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for begin, (title, text) in KINDS.items():
        draw(folder / f"{_file(begin)}.png", title, text, plots_of(DRAWN)[0])
    for name in CATALOG:
        head, _ = written(name)
        draw(folder / f"recipe-{name}.png", title_of(name), head["summary"], _plot(name, head))
    return path_of


def _plot(name: str, head: Mapping[str, str]) -> Plot:
    return plots_of(name, head.get("picture", ""))[0]


def path_of(address: str) -> str:
    """Return the path of the picture for a page.

    >>> path_of("recipe/dapo.html"), path_of("derivation/04_clip.html"), path_of("glossary.html")
    ('_static/cards/recipe-dapo.png', '_static/cards/derivation.png', '_static/cards/page.png')
    """
    name = Path(address).stem
    if address == f"recipe/{name}.html" and name in CATALOG:
        return f"{FOLDER}/recipe-{name}.png"
    return f"{FOLDER}/{_file(next(begin for begin in KINDS if address.startswith(begin)))}.png"


def _file(begin: str) -> str:
    return begin.strip("/") or "page"


def draw(file: Path, title: str, text: str, plot: Plot) -> None:
    """Draw one picture.

    Args:
      file: the file that is written, a PNG.
      title: the words at the top.
      text: the words below the title.
      plot: drawn in the right half.
    """
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor="white")
    figure.text(0.05, 0.86, title, fontsize=44 if len(title) < 20 else 34, weight="bold", color=INK, va="top")
    figure.text(0.05, 0.62, textwrap.fill(text, 30), fontsize=22, color=MUTED, va="top", linespacing=1.4)
    figure.text(0.05, 0.08, "grpo_ref", fontsize=20, color=COLOURS["good"], weight="bold")
    figure.text(0.56, 0.03, "dashed: GRPO", fontsize=14, color=MUTED)
    _fill(figure.add_axes((0.56, 0.16, 0.4, 0.52)), plot)
    figure.savefig(file)


def _fill(axes: Axes, plot: Plot) -> None:
    for line in plot.lines:
        style = "--" if line.look == "grpo" else "-"
        axes.plot(
            line.x, line.y, style, color=COLOURS[line.look], linewidth=3, marker="o" if line.dots else ""
        )
    axes.set_title(plot.title, fontsize=16, loc="left", color=INK)
    axes.set_xlabel(plot.x_label, fontsize=14)
    axes.set_ylabel(plot.y_label, fontsize=14)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.15)
