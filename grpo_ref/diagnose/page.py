"""Write a diagnosis, or another report in sections, as HTML with its figure."""

from collections.abc import Iterator, Sequence
from functools import partial

from grpo_ref.diagnose import comparison
from grpo_ref.diagnose.comparison import Runs
from grpo_ref.diagnose.figure import events, events_of_two, panels, panels_of_two
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.statements import more
from grpo_ref.diagnose.text import Section, heading, sections, summary
from grpo_ref.plots.curves import Event, Panel, curves_figure, how_drawn
from grpo_ref.plots.style import for_page
from grpo_ref.render.html_page import text, web_page

WIDTH = 3.7
"""Width of a panel in inches: its text is as large as that of the page on a phone."""
MARKS = {"!": "broken", "~": "pattern", "=": "right"}
"""Mark of a statement -> the word for it."""


def page(report: Results | Runs) -> str:
    """Return the report on a run, or on two, with its figure as a page of HTML that loads nothing from elsewhere."""
    title = comparison.title(report) if isinstance(report, Runs) else heading(report)
    return web_page(title, body(report))


def body(report: Results | Runs) -> str:
    """Return the report on a run, or on two, with its figure as HTML, for a page or a notebook."""
    if isinstance(report, Runs):
        parts = list(comparison.sections(report))
        return _body(comparison.title(report), "", parts, panels_of_two(report), events_of_two(report))
    drawn = panels(report.log, report.facts)
    return _body(heading(report), summary(report), list(sections(report)), drawn, events(report))


def _body(
    title: str, first_line: str, parts: Sequence[Section], drawn: Sequence[Panel], marked: Sequence[Event]
) -> str:
    """Return a report as HTML: the title, the sections and the figure before the last section.

    Args:
      title: the heading.
      first_line: a sentence below the heading, or "".
      parts: its sections.
      drawn: the panels of the figure.
      marked: the events of the figure.
    """
    *first, last = parts
    opening = f"<p>{text(first_line)}</p>\n" if first_line else ""
    return "".join(
        [f"<h1>{text(title)}</h1>\n", opening, *map(_section, first), *_figure(drawn, marked), _section(last)]
    )


def _section(section: Section) -> str:
    name = section.heading
    lines = []
    for entry in section.entries:
        kind = f"<small>[{MARKS[entry.mark]}]</small> " if entry.mark in MARKS else ""
        head = f"{kind}<strong>{text(entry.title)}</strong>" if kind else text(entry.title)
        lines.append(
            f"<li>{head}{''.join(f'<br>{text(line)}' for line in (*entry.lines, *more(entry.page)))}</li>\n"
        )
    return f"<h2>{text(name[:1].upper() + name[1:])}</h2>\n<ul>\n{''.join(lines)}</ul>\n"


def _figure(drawn: Sequence[Panel], marked: Sequence[Event]) -> Iterator[str]:
    """Yield each panel as a picture of its own, so that a phone can show them one below the other."""
    if not drawn:
        return
    yield "<h2>Curves</h2>\n"
    how = how_drawn(drawn)
    yield f"<p>{text(how[:1].upper() + how[1:])}.</p>\n" if how else ""
    if marked:
        lines = "".join(
            f"<li value={event.tag}>step {event.step:,.0f}: {text(event.title)}"
            f"{'' if event.is_certain else ' (dashed)'}</li>\n"
            for event in marked
        )
        yield f"<p>The numbers above the curves are:</p>\n<ol>\n{lines}</ol>\n"
    yield (
        '<div style="display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr))">\n'
    )
    for number, panel in enumerate(drawn):
        draw = partial(curves_figure, [panel], marked, columns=1, width=WIDTH, is_explained=False)
        name = panel.label.replace("\n", " ")
        yield f'<figure style="margin:0">{for_page(draw, f"panel{number}", name)}</figure>\n'
    yield "</div>\n"
