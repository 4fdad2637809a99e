"""The page of all experiments, in Markdown and HTML, made from the summary and the experiments' own words."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import FOLDER
from grpo_ref.lab.framework.summary import ROUNDING, Summary, chosen, effect, what_fails
from grpo_ref.render.html_page import web_page

BEGIN, END = "<!-- verdicts: made by grpo-ref experiment report -->", "<!-- end of verdicts -->"
CAVEAT = (
    "Where a section says that its predictions were written down, that was before these results, which are"
    " of tasks that nobody had seen. Claims were written and tried on other tasks: where something was"
    " changed after a look at these, the section says so. A family of tasks is drawn as its section says;"
    " another family may answer differently, and where we know on what it depends, the section says that,"
    " too."
)
RULE = (
    "The rule: a prediction of more or less *holds* if the whole interval of the paired difference over"
    " seeds lies on the predicted side, beyond the margin where one is given; it is *opposite* if the whole"
    " interval lies beyond the margin on the other side. A prediction of equality *holds* if the whole"
    " interval lies within the margin, and is *opposite*, that is, refuted, if it lies wholly outside, on"
    " either side. Anything else is *not shown*. The verdict on a claim is that of its main predictions, in"
    " bold, which were named before the others; where none is named, all decide. It is *supported* if all of"
    " these hold, and *opposite* if all are opposite; it *depends* if some hold, and is *not shown* if none"
    " does. What holds with the same difference in every pair needed no experiment: it is marked as exact,"
    " and decides nothing beside what was measured."
)
FAMILIES = (
    "The tasks: every difference is the mean of four seeds on one task, of two where networks learn, and the"
    " interval is over tasks drawn anew. Since all tasks of a claim have as many seeds, it is that of a"
    " mixed model in which the effect differs at random from task to task. Each arm is compared at its own"
    " best setting, chosen on other tasks of the family, unless its setting is what is asked about. *Share*"
    " is the share of the tasks on which the difference has the predicted sign, or lies within the margin"
    " where equality is predicted; *smallest* is the least difference that the experiment could have shown."
)
NUMBERS = (
    "The numbers: the intervals of one experiment hold together with 95 % confidence (Bonferroni). The"
    " p-value is against a difference of zero, not against the margin; it is adjusted for the number of"
    " predictions (Holm), and left out where equality is predicted. The effect size d is the mean difference"
    " over its standard deviation."
)

NETWORKS = (
    "The same question, asked of a network: in a table every state has logits of its own, so prompts share"
    " nothing, and that may decide an answer. So some claims were tested again with a small network that was"
    " pretrained and answers all prompts with the same weights. Beside each verdict stand the differences"
    " that decide it, in the units of their section, with their intervals; the tasks of the two need not be"
    " the same."
)


def verdict_table(experiments: Mapping[str, Experiment], found: Summary, *, page: str = "") -> str:
    """Claim and verdict of every experiment that was run, as a Markdown table.

    Args:
      experiments: by name.
      found: the stored results.
      page: where the sections are, for the links; by default on the same page.
    """
    lines = ["| experiment | claim | verdict | predictions that hold |", "|---|---|---|---|"]
    for name, one in found["experiments"].items():
        holds = sum(finding["outcome"] == "holds" for finding in one["findings"])
        share = f"{holds} of {len(one['findings'])}"
        claim = _cell(experiments[name].claim)
        verdict = _cell(experiments[name].told(one["verdict"]))
        lines.append(f"| [{name}]({page}#{name}) | {claim} | {verdict} | {share} |")
    return "\n".join(lines)


def networks_table(experiments: Mapping[str, Experiment], found: Summary) -> str:
    """What was asked of a table and of a network, side by side, as a Markdown table; "" if nothing was.

    Args:
      experiments: by name.
      found: the stored results; a row is made where both are among them.
    """
    told = found["experiments"]
    pairs = [(experiments[name].beside, name) for name in told if experiments[name].beside in told]
    lines = [
        "| claim | table: verdict, main differences | network: verdict, main differences | same answer? |",
        "|---|---|---|---|",
    ]
    for table, network in pairs:
        answers = (f"[{told[name]['verdict']}](#{name}): {_main(told[name])}" for name in (table, network))
        same = "yes" if told[table]["verdict"] == told[network]["verdict"] else "no"
        lines.append(f"| {_cell(experiments[table].claim)} | {' | '.join(answers)} | {same} |")
    return "\n".join(lines) if pairs else ""


def _main(one: Mapping[str, Any]) -> str:
    """The differences that decide, with their intervals; the first one if all decide together."""
    findings = one["findings"]
    deciding = [finding for finding in findings if finding["main"]] or findings[:1]
    return "; ".join(
        f"{_cell(finding['measure'])} {effect(finding['mean'], finding['low'], finding['high'])}"
        for finding in deciding
    )


def in_readme(text: str, table: str) -> str:
    """The text with the table between the two marks.

    Raises:
      ValueError: if a mark is missing.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"expected the marks {BEGIN!r} and {END!r} in the file")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def markdown_page(experiments: Mapping[str, Experiment], found: Summary) -> str:
    """The whole report; figures are files beside it."""
    seeds, versions = found["seeds"], found["versions"]
    made = ", ".join(f"{name} {version}" for name, version in versions.items())
    count: dict[str, int] = {}
    for one in found["experiments"].values():
        count[one["verdict"]] = count.get(one["verdict"], 0) + 1
    tally = ", ".join(f"{times} *{verdict}*" for verdict, times in count.items())
    number = len(found["experiments"])
    parts = [
        "# What the literature says about GRPO, tested",
        f"{number} claim{'s' * (number != 1)}: {tally}. Every arm ran with {seeds} seeds (base seed"
        f" {found['seed']}; {made}). The tasks are toys, and the policies are tables unless a section"
        " says that a network is asked: a verdict is about the mechanism, not about large models.",
        CAVEAT,
        RULE,
        FAMILIES,
        NUMBERS,
        verdict_table(experiments, found),
    ]
    if both := networks_table(experiments, found):
        parts += [NETWORKS, both]
    parts += [_section(experiments[name], one) for name, one in found["experiments"].items()]
    return "\n\n".join(parts) + "\n"


def _section(experiment: Experiment, one: Mapping[str, Any]) -> str:
    rows = [
        "| prediction | measure | difference [interval] | margin | p | d | share | outcome |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for finding in one["findings"]:
        no_size = finding["size"] is None or abs(finding["mean"]) < ROUNDING
        size = "" if no_size else f"{finding['size']:.2f}"
        p = "" if finding["expect"] == "same" else f"{finding['p']:.2g}"
        numbers = effect(finding["mean"], finding["low"], finding["high"])
        says = f"**{_cell(finding['says'])}**" if finding["main"] else _cell(finding["says"])
        rows.append(
            f"| {says} | {_cell(_compared(finding))} | {numbers} | {finding['margin']:g} |"
            f" {p} | {size} | {finding['share']:.0%} | {_outcome(finding)} |"
        )
    depends = [what_fails(one["findings"])] if one["verdict"] == "depends" else []
    remark = [experiment.remark] if experiment.remark else []
    after = f" **Chosen after trial runs.** {experiment.chosen}" if experiment.chosen else ""
    name, table = experiment.name, experiment.beside
    beside = f" The same question is asked of a table in [{table}](#{table})." if table else ""
    family = f" **Tasks.** {experiment.family} {one['pairs']} tasks are judged." if experiment.family else ""
    best = f" **Chosen by arm.** {chosen(one['tuning'])}." if one["tuning"] else ""
    parts = [
        f"## {name}",
        f"**Claim.** {experiment.claim} ({experiment.source}){beside}",
        f"**Verdict: {experiment.told(one['verdict'])}.** {' '.join(depends + remark)}".strip(),
        f"**Run.** {experiment.run} **Measured.** {experiment.measured}{family}{best}{after}",
        "\n".join(rows),
        _predicted(name, one["predicted"]),
        f"![{name}: {experiment.claim}]({name}.png)",
        one["exhibit"],
    ]
    return "\n\n".join(part for part in parts if part)


def _predicted(name: str, found: Mapping[str, str]) -> str:
    """Whether, and when, the predictions were written down before the results."""
    if not found["written"]:
        return "These predictions were not written down before the results."
    link = f"[written down]({FOLDER}/{name}.json)"
    return f"Predictions {link} on {found['written']}, before the results; SHA-256 {found['sha256'][:12]}."


def _outcome(finding: Mapping[str, Any]) -> str:
    """With what would have been seen, where nothing was shown; what is no more than arithmetic is said."""
    smallest = finding["margin"] + (finding["high"] - finding["low"]) / 2.0
    if finding["outcome"] == "not shown":
        return f"not shown (smallest {smallest:.2g})"
    return f"{finding['outcome']}{' (exact)' if finding['low'] == finding['high'] else ''}"


def html_page(markdown: str, folder: Path) -> str:
    """The same page as one HTML file, its figures inside it."""
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    body = re.sub(r"<h2>(\w+)</h2>", r'<h2 id="\1">\1</h2>', body)
    body = re.sub(r'src="(\w+\.png)"', lambda found: f'src="{_data_uri(folder / found[1])}"', body)
    return web_page(markdown.splitlines()[0].removeprefix("# "), body)


def _data_uri(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def _compared(finding: Mapping[str, Any]) -> str:
    """The measure and the two sides of a difference; the right one may be a number instead of an arm."""
    right = finding["right"]
    right = f"the number {right:g}" if isinstance(right, float) else right
    return f"{finding['measure']}: {finding['left']} - {right}"


def _cell(text: str) -> str:
    """Text that does not end a cell."""
    return text.replace("|", "\\|")
