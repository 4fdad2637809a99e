"""Make the page of all experiments, in Markdown and HTML, from the stored results and descriptions."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from grpo_ref.lab.framework.experiment import Experiment, Points
from grpo_ref.lab.framework.predictions import FOLDER
from grpo_ref.lab.framework.summary import ROUNDING, Summary, chosen, effect, verdict_of
from grpo_ref.lab.framework.sweep import OF_A_NETWORK, PER_TASK
from grpo_ref.render.html_page import web_page

BEGIN, END = "<!-- verdicts: made by grpo-ref experiment report -->", "<!-- end of verdicts -->"
CAVEAT = (
    "If a section says that its predictions were written down, they were written down before these"
    " results, which are from tasks that had not been used before. The claims were developed on other"
    " tasks; if anything was changed after seeing these results, the section says so. Tasks are sampled as"
    " each section describes. Another distribution of tasks may give other answers. If the answer is known"
    " to depend on something, the section says on what."
)
RULE = (
    "**The four outcomes.** The rule looks at the whole interval of the paired difference. A prediction"
    " *holds* if the interval lies beyond the margin on the predicted side, or inside the margin where"
    " equality is predicted. It is *opposite*, that is, refuted, if the interval lies beyond the margin on"
    " the other side, or on either side where equality is predicted. It is *negligible* if a difference is"
    " predicted and the whole interval lies inside the margin: there is no difference that matters. Otherwise"
    " it is *undecided*: the interval crosses a margin, and the experiment cannot tell. The table gives the"
    " smallest difference that would have been seen, and says if the interval at least excludes the predicted"
    " effect."
)
VERDICTS = (
    "**The verdict.** The main predictions, in bold, were named in advance. If all of them have one outcome,"
    " the verdict is that outcome, and *supported* if they hold. Otherwise the verdict is *mixed* and lists"
    " the outcomes. If no prediction is main, all decide. A claim that makes several assertions has a verdict"
    " for each of these clauses, and the verdict on the claim is formed from the clauses in the same way. The"
    " clauses were written down after the results. A clause that begins with *Asked in addition* holds a main"
    " prediction that asks for more than the claim says. A prediction that holds with the same difference in"
    " every pair follows from the algebra: it is marked as exact, and decides nothing if other predictions"
    " were measured."
)
FAMILIES = (
    "The tasks: every difference is the mean of four seeds on one task (two seeds for networks), and the"
    " interval is over newly sampled tasks. All tasks of a claim have the same number of seeds, so the"
    " interval is that of a mixed model with a random effect for each task. An arm is one of the variants"
    " that are compared. Each arm has its own best setting, chosen on other tasks of the distribution,"
    " unless the claim is about this setting. *Share* is the fraction of the tasks on which the difference"
    " has the predicted sign, or lies within the margin if equality is predicted; *smallest* is the"
    " smallest difference that the experiment could have detected."
)
NUMBERS = (
    "The numbers: the intervals of one experiment are simultaneous, with 95 % confidence (Bonferroni). The"
    " p-value tests against a difference of zero, not against the margin. It is adjusted for the number of"
    " predictions (Holm), and omitted if equality is predicted. The effect size d is the mean difference"
    " divided by its standard deviation."
)

DIFFERENCES = (
    "Each prediction with its difference and interval, in the order of the table; the prediction holds if the"
    " interval lies inside the grey field."
)
"""Description of the second figure of each section."""
NETWORKS = (
    "The same question, asked of a network: a table has separate logits for every state, so prompts share"
    " nothing, which may decide the answer. So some claims were tested again with a small pretrained"
    " network that answers all prompts with the same weights. The table below lists each verdict with the"
    " differences that decide it, in the units of their section, with their intervals. The answer is the same"
    " if all main predictions have the same outcomes, in their order, and all clauses that both sections"
    " state have the same verdicts. The tasks of table and network may differ."
)


def verdict_table(experiments: Mapping[str, Experiment], results: Summary, *, page: str = "") -> str:
    """Return claim and verdict of every experiment that was run, as a Markdown table.

    Args:
      experiments: name -> experiment.
      results: the stored results.
      page: link to the page of the sections; by default the same page.
    """
    lines = ["| question | claim | verdict | predictions that hold |", "|---|---|---|---|"]
    for name, result in results["experiments"].items():
        holds = sum(finding["outcome"] == "holds" for finding in result["findings"])
        share = f"{holds} of {len(result['findings'])}"
        claim = _cell(experiments[name].claim)
        verdict = _cell(verdict_of(result))
        title = _cell(experiments[name].title)
        lines.append(f"| [{title}]({page}#{name}) | {claim} | {verdict} | {share} |")
    return "\n".join(lines)


def networks_table(experiments: Mapping[str, Experiment], results: Summary) -> str:
    """Return the verdicts for table and network side by side, as a Markdown table; "" if there are no pairs.

    Args:
      experiments: name -> experiment.
      results: the stored results. A row needs the results of both.
    """
    stored = results["experiments"]
    pairs = [(experiments[name].beside, name) for name in stored if experiments[name].beside in stored]
    lines = [
        "| claim | table: verdict, main differences | network: verdict, main differences | same answer? |",
        "|---|---|---|---|",
    ]
    for table, network in pairs:
        answers = (
            f"[{verdict_of(stored[name])}](#{name}): {_main(stored[name])}" for name in (table, network)
        )
        same = "yes" if _agree(stored[table], stored[network]) else "no"
        lines.append(f"| {_cell(experiments[table].claim)} | {' | '.join(answers)} | {same} |")
    return "\n".join(lines) if pairs else ""


def _agree(table: Mapping[str, Any], network: Mapping[str, Any]) -> bool:
    """Return True if all main predictions, in their order, and all clauses of both have the same outcomes."""
    asked, again = ([one["outcome"] for one in _deciding(each)] for each in (table, network))
    said, said_again = (
        {clause["text"]: clause["verdict"] for clause in each["clauses"]} for each in (table, network)
    )
    return asked == again and all(said[text] == said_again[text] for text in said.keys() & said_again.keys())


def _main(result: Mapping[str, Any]) -> str:
    """Return the differences that decide the verdict, with intervals; the first difference if all decide."""
    return "; ".join(
        f"{_cell(finding['measure'])} {effect(finding['mean'], finding['low'], finding['high'])}"
        for finding in _deciding(result)
    )


def _deciding(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the main predictions with their outcomes; the first prediction if none is main."""
    findings = result["findings"]
    return [finding for finding in findings if finding["main"]] or findings[:1]


def in_readme(text: str, table: str) -> str:
    """Return the text with the table between the two marks.

    Raises:
      ValueError: if a mark is missing.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"expected the marks {BEGIN!r} and {END!r} in the file")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def markdown_page(experiments: Mapping[str, Experiment], results: Summary) -> str:
    """Return the whole report; figures are files beside the report."""
    seeds, versions = results["seeds"], results["versions"]
    made = ", ".join(f"{name} {version}" for name, version in versions.items())
    count: dict[str, int] = {}
    for result in results["experiments"].values():
        count[result["verdict"]] = count.get(result["verdict"], 0) + 1
    tally = ", ".join(f"{times} *{verdict}*" for verdict, times in count.items())
    number = len(results["experiments"])
    stored = results["experiments"]
    pairs = [(experiments[name].beside, name) for name in stored if experiments[name].beside in stored]
    of_pairs = _reach(number - len(pairs), sum(_agree(stored[a], stored[b]) for a, b in pairs), len(pairs))
    has_networks = any(experiments[name].beside for name in results["experiments"])
    of_networks = f", or {seeds // PER_TASK * OF_A_NETWORK} if it trains networks" if has_networks else ""
    parts = [
        "# What the literature says about GRPO, tested",
        f"{number} claim{'s' * (number != 1)}: {tally}. Every arm ran with {seeds} seeds{of_networks} (base"
        f" seed {results['seed']}; {made}). The tasks are toys, and the policies are tables unless a section"
        " says that the policy is a network. A verdict is about the mechanism, not about large models."
        f"{of_pairs}",
        CAVEAT,
        RULE,
        VERDICTS,
        FAMILIES,
        NUMBERS,
        verdict_table(experiments, results),
    ]
    if both := networks_table(experiments, results):
        parts += [NETWORKS, both]
    parts += [_section(experiments[name], result) for name, result in results["experiments"].items()]
    return "\n\n".join(parts) + "\n"


def _reach(tables: int, agreeing: int, pairs: int) -> str:
    """Say what tables can show, and on how many questions table and network agree; "" without pairs."""
    return (
        f" {tables} of the claims are tested with tables, in which prompts share nothing. These say how a"
        " mechanism works, and not whether it matters in a large model. Table and network agree on"
        f" {agreeing} of the {pairs} questions that were asked of both: there all main predictions"
        " have the same outcomes, and all clauses that both state the same verdicts."
        if pairs
        else ""
    )


def _section(experiment: Experiment, result: Mapping[str, Any]) -> str:
    """Return the section of one experiment: claim, verdict, description, table of predictions and figure."""
    rows = [
        "| prediction | outcome | measure | difference [interval] | margin | p | d | share |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for finding in result["findings"]:
        no_size = finding["size"] is None or abs(finding["mean"]) < ROUNDING
        size = "" if no_size else f"{finding['size']:.2f}"
        p = "" if finding["expect"] == "same" else f"{finding['p']:.2g}"
        numbers = effect(finding["mean"], finding["low"], finding["high"])
        says = f"**{_cell(finding['says'])}**" if finding["main"] else _cell(finding["says"])
        rows.append(
            f"| {says} | {_outcome(finding)} | {_cell(_compared(finding))} | {numbers} |"
            f" {finding['margin']:g} | {p} | {size} | {finding['share']:.0%} |"
        )
    name, table = experiment.name, experiment.beside
    beside = f" The same question is asked of a table in [{table}](#{table})." if table else ""
    tasks = f" **Tasks.** {experiment.family} The verdict is from {result['pairs']} tasks."
    family = tasks if experiment.family else ""
    best = f" **Chosen for each arm.** {chosen(result['tuning'])}." if result["tuning"] else ""
    parts = [
        f"## {name}",
        f"*{experiment.title}*",
        f"**Claim.** {experiment.claim} ({experiment.source}){beside}",
        f"**Verdict: {verdict_of(result)}.**",
        _clauses(result["clauses"]),
        f"**Run.** {experiment.run} **Measured.** {experiment.measured}{family}{best}",
        "\n".join(rows),
        _predicted(name, result["predicted"]),
        f"![{panels_described(experiment)}]({name}.png)",
        f"![{DIFFERENCES}]({name}.svg)",
        result["exhibit"],
    ]
    return "\n\n".join(part for part in parts if part)


def _clauses(clauses: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdict on each clause of the claim as a table; "" if the claim has only one."""
    rows = (f"| {_cell(clause['text'])} | {clause['verdict']} |" for clause in clauses)
    return "\n".join(["| clause | verdict |", "|---|---|", *rows]) if clauses else ""


def panels_described(experiment: Experiment) -> str:
    """Return a description of the panels of an experiment, for readers who do not see the figure."""
    panels = []
    for panel in experiment.panels:
        shown = panel.x if isinstance(panel, Points) and panel.x else panel.arms
        arms = ", ".join(f"“{arm}”" for arm in shown)
        against = f" against {panel.xlabel}" if panel.xlabel else ", by variant"
        panels.append(f"{panel.ylabel}{against}{f' ({arms})' if arms else ''}".replace("\n", " "))
    number = {1: "One panel", 2: "Two panels", 3: "Three panels"}.get(len(panels), f"{len(panels)} panels")
    return f"{number}: {'; '.join(panels)}."


def _predicted(name: str, predicted: Mapping[str, str]) -> str:
    """Return a sentence on when the predictions were written down, if they were."""
    if not predicted["written"]:
        return "These predictions were not written down before the results."
    link = f"[written down]({FOLDER}/{name}.json)"
    digits = predicted["sha256"][:12]
    return f"Predictions {link} on {predicted['written']}, before the results; SHA-256 {digits}."


def _outcome(finding: Mapping[str, Any]) -> str:
    """Return the outcome, with "(exact)" if all pairs agree exactly.

    If it is undecided: the smallest difference that would have been seen, and whether the interval excludes
    the predicted effect.
    """
    if finding["outcome"] != "undecided":
        return f"{finding['outcome']}{' (exact)' if finding['low'] == finding['high'] else ''}"
    low, high, margin = finding["low"], finding["high"], finding["margin"]
    excluded = {"more": high <= margin, "less": low >= -margin, "same": False}[finding["expect"]]
    smallest = f"smallest {margin + (high - low) / 2.0:.2g}"
    return f"undecided ({smallest}{'; predicted effect excluded' if excluded else ''})"


def html_page(markdown: str, folder: Path) -> str:
    """Return the page as one HTML file that contains its figures."""
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    body = re.sub(r"<h2>(\w+)</h2>", r'<h2 id="\1">\1</h2>', body)
    body = re.sub(r'src="(\w+\.(?:png|svg))"', lambda match: f'src="{_data_uri(folder / match[1])}"', body)
    return web_page(markdown.splitlines()[0].removeprefix("# "), body)


def _data_uri(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64," + base64.b64encode(path.read_bytes()).decode()


def _compared(finding: Mapping[str, Any]) -> str:
    """Return the measure and the two sides of a difference; the right side may be a number."""
    right = finding["right"]
    right = f"the number {right:g}" if isinstance(right, float) else right
    return f"{finding['measure']}: {finding['left']} - {right}"


def _cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("|", "\\|")
