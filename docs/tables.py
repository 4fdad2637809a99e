"""Write the tables of the documentation from the data that they describe (`make docs`).

A generated block of a page is between `<!-- NAME: made by make docs -->` and `<!-- end of NAME -->`. Do not
edit such a block by hand. A test compares each block with its data, so no table can go out of date.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from inspect import cleandoc
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from averages_example import CONFIGURATIONS, MASK, PAPERS, Configuration, shares, weights
from package_map import packages

from grpo_ref import GRPO, TASKS, explain
from grpo_ref.course.attack.data_files import file_of_cases
from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.attack.tables import first_caught_by
from grpo_ref.course.attack.tables import table as attack_table
from grpo_ref.course.contents import OURS
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.diagnose.log import quantities, trainers
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.learning.curves import METRICS
from grpo_ref.recipes import CATALOG, TEXTBOOK_FORMS, Recipe

ROOT = Path(__file__).parents[1]
PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "docs/howto/diagnose.md",
            "docs/howto/diagnose_metrics.md",
        )
    ),
    *sorted((ROOT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"(<!-- ([\w ]+): made by make docs -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in lines)


def summary_of(value: object) -> str:
    """Return the first paragraph of an object's docstring, in one line."""
    return " ".join(cleandoc(value.__doc__ or "").split("\n\n")[0].split())


def recipes() -> str:
    """Return the table of the recipes of papers and trainers."""
    return _recipes(CATALOG)


def textbook_forms() -> str:
    """Return the table of the textbook forms."""
    return _recipes(TEXTBOOK_FORMS)


def _recipes(listed: dict[str, Recipe]) -> str:
    rows = ((f"`{name}`", _difference(recipe), recipe.source) for name, recipe in listed.items())
    return table(("recipe", "parts", "source"), rows)


def _difference(recipe: Recipe) -> str:
    changes = recipe.differences(GRPO) or {"source": "", **recipe.parts()}
    parts = ", ".join(f"{part} = `{text}`" for part, text in changes.items() if part != "source")
    return parts if recipe is GRPO else f"grpo with {parts}"


def tasks() -> str:
    """Return the table of the tasks, with the summaries of their docstrings."""
    return table(("task", "description"), ((f"`{name}`", summary_of(make)) for name, make in TASKS.items()))


def exercises() -> str:
    """Return the table of the course's chapters."""
    names = {
        chapter: [each.name for each in OURS.exercises if each.chapter == chapter]
        for chapter in OURS.chapters
    }
    rows = (
        (number, title, ", ".join(f"`{name}`" for name in names[chapter]))
        for number, (chapter, title) in enumerate(OURS.chapters.items(), start=1)
    )
    return table(("chapter", "what it is about", "exercises"), rows)


def totals() -> str:
    """Return a sentence about the size of the course."""
    problems = [PROBLEMS[name] for name in OURS.ids]
    checks, wrong = (
        sum(map(len, lists)) for lists in zip(*((p.checks, p.mutants) for p in problems), strict=True)
    )
    return (
        f"The course has {len(problems)} exercises in {len(OURS.chapters)} chapters, worth"
        f" {sum(problem.points for problem in problems)} points. They are graded by {checks} checks,"
        f" which are proved against {wrong} plausible wrong answers."
    )


def dialects() -> str:
    """Return the table of the trainers, each with the version that was read."""
    rows = ((f"`{name}`", dialect.version, len(dialect.traps)) for name, dialect in DIALECTS.items())
    return table(("dialect", "as read in", "traps"), rows)


def papers() -> str:
    """Return the table of the averages of three papers, with each completion's share of the gradient."""
    rows = (
        (name, f"`{recipe.aggregate}`", _percent(shares(recipe.weights(MASK))))
        for name, recipe in PAPERS.items()
    )
    return table(("loss", "average", "shares"), rows)


def averages() -> str:
    """Return the table of the averages that do not depend on the number of micro-batches."""
    return _averages(change=False)


def averages_that_change() -> str:
    """Return the table of the averages that depend on the number of micro-batches."""
    return _averages(change=True)


def _averages(*, change: bool) -> str:
    header = ("trainer", "settings", "average of the loss", "1 micro-batch", "4 micro-batches")
    return table(header, (row for row in map(_average, CONFIGURATIONS) if (row[-2] != row[-1]) == change))


def _average(configuration: Configuration) -> tuple[str, ...]:
    """Return the row of a configuration. The last two cells are the shares of the completions."""
    report = explain(*configuration.settings, trainer=configuration.trainer, version=configuration.version)
    phrase = next(fact.value for fact in report.explanation.facts if fact.name == "aggregate")
    one, four = (weights(configuration, count) for count in (1, 4))
    factor = round(four.sum() / one.sum(), 6)
    before, after = _percent(shares(one)), _percent(shares(four))
    after += "" if factor == 1.0 else f", times {factor:g}"
    settings = ", ".join(f"`{each}`" for each in configuration.settings) or "defaults"
    return report.dialect.version, settings, phrase, before, after


def _percent(values: Iterable[float]) -> str:
    return " / ".join(f"{round(100.0 * value, 1):g}" for value in values)


def metrics() -> str:
    """Return the table of the metrics of training."""
    rows = ((f"`{name}`", meaning) for name, meaning in METRICS.items())
    return table(("metric", "meaning (one number per update and seed)"), rows)


def notebooks() -> str:
    """Return the list of the notebooks with their titles."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "notebooks").glob("*.py"))}
    titles = {path: re.search(r"^# # \d+\. (.*)$", text, re.MULTILINE) for path, text in texts.items()}
    return "\n".join(
        f"{number}. [{title[1]}](../notebooks/{path.stem}.ipynb)"
        for number, (path, title) in enumerate(titles.items(), start=1)
        if title is not None
    )


def attacks() -> str:
    """Return the table of the wrong answers that the search made and caught."""
    return attack_table(PROBLEMS[name] for name in OURS.ids)


HIDDEN = {name for name, _ in KINDS.values()}
"""Names of the checks that hidden cases make up."""


def first_catchers() -> str:
    """Return the table of the checks that caught a wrong answer first."""
    own = "the author's own checks"
    answers, exercises = Counter[str](), Counter[str]()
    for problem in (PROBLEMS[name] for name in OURS.ids):
        caught = Counter[str]()
        for name, count in first_caught_by(problem).items() if file_of_cases(problem).is_file() else ():
            caught[name if name in HIDDEN else own] += count
        answers.update(caught)
        exercises.update(caught.keys())
    rows = sorted(answers.items(), key=lambda row: (row[0] in HIDDEN, row[1]), reverse=True)
    cells = ((name, count, exercises[name]) for name, count in rows)
    return table(("check", "wrong answers caught first", "in how many exercises"), cells)


def speed() -> str:
    """Return the times of other libraries, divided by grpo_ref's time in the same round."""
    rows = []
    for work, processor, sides, unit in _works():
        ours = next(iter(sides.values()))
        relative = (_relative(sides, names, ours) for names in LIBRARIES.values())
        rows.append((work, processor, _median(ours, unit), *relative))
    return table(("work", "processor", "grpo_ref", *LIBRARIES), rows)


CHIEF = (
    "2048 rows, V = 32000, float32",
    "16384 rows, V = 64, float32",
    "100 seeds, 4 epochs",
    "1 seed, 4 epochs",
    "1 seed, 4 epochs, 300 updates as a process",
)
"""The works in the first table and in the picture."""


def speed_at_a_glance() -> str:
    """Return the rows of the table `speed` that stand for all others."""
    rows = []
    for work, processor, sides, unit in chief_works():
        ours = next(iter(sides.values()))
        relative = (_relative(sides, names, ours) for names in LIBRARIES.values())
        rows.append((work, processor, _median(ours, unit), *relative))
    return table(("work", "processor", "grpo_ref", *LIBRARIES), rows)


def chief_works() -> Iterable[tuple[str, str, dict[str, list[float]], str]]:
    """Yield the chief works as `_works` does, in their order."""
    return sorted(
        (each for each in _works() if each[0] in CHIEF), key=lambda each: (CHIEF.index(each[0]), each[1])
    )


def compiled() -> str:
    """Return the times of other libraries, divided by the time of grpo_ref's compiled loops."""
    rows = []
    for work, processor, sides, unit in _works():
        if (ours := sides.get(COMPILED)) is not None:
            relative = (_relative(sides, names, ours) for names in LIBRARIES.values())
            rows.append((work, processor, _median(ours, unit), *relative))
    return table(("work", "processor", "grpo_ref with compiled loops", *LIBRARIES), rows)


def _works() -> Iterable[tuple[str, str, dict[str, list[float]], str]]:
    """Yield each work with its processor, the times of each side, and the unit of these times."""
    for work, processor, sides in measured("logits", "seconds"):
        yield work, processor, sides, "s"
    for work, processor, case in measured("training", "cases"):
        yield work, processor, case["ms_an_update"], "ms"
    for work, processor, sides in measured("processes", "training"):
        yield f"{work}, 300 updates as a process", processor, sides, "s"


LIBRARIES = {
    "PyTorch eager": ("PyTorch eager", "PyTorch, 1 thread", "PyTorch, 2 threads"),
    "torch.compile": ("torch.compile",),
    "JAX jit": ("JAX jit", "JAX inverse CDF", "JAX categorical"),
}
"""Library -> its forms that were timed. The fastest form counts."""
COMPILED = "grpo_ref, compiled"


def _relative(sides: dict[str, list[float]], names: tuple[str, ...], ours: list[float]) -> str:
    """Return the median and the range of the ratios per round, for the fastest form of a library."""
    ratios = fastest(sides, names, ours)
    return f"{median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]" if ratios else ""


def fastest(sides: dict[str, list[float]], names: tuple[str, ...], ours: list[float]) -> list[float]:
    """Return the ratio per round to the fastest form of a library; empty if no form was timed."""
    forms = [sides[name] for name in names if name in sides]
    if not forms:
        return []
    return [theirs / mine for theirs, mine in zip(min(forms, key=median), ours, strict=True)]


def _median(values: list[float], unit: str) -> str:
    return f"{median(values):.2g} {unit}"


def commands() -> str:
    """Return the table of the times of whole commands."""
    rows = (
        (f"`{name}`", processor, *(f"{median(values):.2f} s" for values in sides.values()))
        for name, processor, sides in measured("processes", "commands")
    )
    return table(("command", "processor", "warm", "cold", "imports, in all processes"), rows)


def growth() -> str:
    """Return the table of the growth of cost with each size, without the lower bounds of the picture."""
    rows = []
    for title, processor, sides in measured("growth", "milliseconds"):
        for side, cost in sides.items():
            if side.endswith(" alone"):
                continue
            sizes, middle = [int(size) for size in cost], [median(values) for values in cost.values()]
            slope = log(middle[-1] / middle[-2]) / log(sizes[-1] / sizes[-2])
            times = ", ".join(f"{value:.2g}" if value < 100 else f"{value:.0f}" for value in middle)
            span = f"{sizes[0]:,} to {sizes[-1]:,}"
            rows.append((title, f"`{side}`", processor, span, times, f"{slope:.2f}"))
    return table(("size", "function", "processor", "range", "ms at each tenfold", "exponent"), rows)


def measured(benchmark: str, part: str) -> Iterable[tuple[str, str, Any]]:
    """Yield each case of a part of a benchmark, with each processor and its record by `make speed`."""
    folders = sorted((ROOT / "docs" / "speed").iterdir())
    files = [folder / f"{benchmark}.json" for folder in folders if folder.is_dir()]
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    for case in reports[0][part]:
        for report in reports:
            processor = report["machine"]["cpu"].replace("(R)", "").removesuffix(" Processor")
            yield case, processor, report[part][case]


def logged_quantities() -> str:
    """Return the table of the quantities that a diagnosis knows."""
    rows = (
        (f"`{name}`", quantity.unit, quantity.over, quantity.about + _exceptions(name))
        for name, quantity in quantities().items()
    )
    return table(("quantity", "unit", "taken over", "meaning"), rows)


def _exceptions(quantity: str) -> str:
    """Return sentences on the trainers that take a quantity over something else."""
    titles: dict[str, list[str]] = {}
    for names in trainers().values():
        if quantity in names.over:
            titles.setdefault(names.over[quantity], []).append(names.title)
    return "".join(f" {', '.join(each)}: over {over}." for over, each in titles.items())


def _rates() -> Any:
    return json.loads((ROOT / "docs" / "howto" / "diagnose_rates.json").read_text(encoding="utf-8"))


def diagnoses() -> str:
    """Return the main figures of the simulated runs that `diagnose` was tried on."""
    rates = _rates()
    healthy, pairs, faults = rates["healthy"], rates["pairs"], rates["faults"].values()
    runs, named = (sum(fault[key] for fault in faults) for key in ("runs", "named"))
    rows = [
        (
            "healthy runs with a broken relation or a false difference from the file",
            healthy["false_violations"],
            healthy["runs"],
        ),
        ("healthy runs with a pattern", healthy["false_patterns"], healthy["runs"]),
        ("runs with one fault: fault named", named, runs),
        ("runs with two faults: one of them named", pairs["one_named"], pairs["runs"]),
        ("runs with two faults: faults named", pairs["named"], pairs["faults"]),
    ]
    return table(
        ("simulated runs", "number", "of", "share"), ((*row, f"{row[1] / row[2]:.1%}") for row in rows)
    )


def faults() -> str:
    """Return the table of the faults, with what is said of the runs that have them."""
    rows = (
        (
            name,
            fault["about"],
            f"{fault['named']} of {fault['runs']}",
            ", ".join(f"`{each}` {count}" for each, count in fault["said"].items()) or "nothing",
        )
        for name, fault in _rates()["faults"].items()
    )
    said = ", ".join(f"`{each}` {count}" for each, count in _rates()["healthy"]["said"].items()) or "nothing"
    none = ("none", "The run is healthy.", "", said)
    return table(("fault", "the run", "named", "first three statements"), (none, *rows))


BLOCKS: dict[str, Callable[[], str]] = {
    block.__name__: block
    for block in (
        recipes,
        textbook_forms,
        tasks,
        exercises,
        totals,
        dialects,
        papers,
        averages,
        averages_that_change,
        metrics,
        logged_quantities,
        notebooks,
        packages,
        attacks,
        first_catchers,
        speed_at_a_glance,
        speed,
        compiled,
        commands,
        growth,
        diagnoses,
        faults,
    )
}


def renewed(text: str) -> str:
    """Return the text of a page with all generated blocks renewed.

    Raises:
      KeyError: if no function makes a block of this name.
    """
    return BLOCK.sub(lambda match: f"{match[1]}{BLOCKS[match[2]]()}\n{match[3]}", text)


def main() -> None:
    """Renew the generated blocks of every page."""
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
