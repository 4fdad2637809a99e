"""Make the page of a claim in Markdown from its results, its experiments and its hand-written text."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.lab.claim_results import Results, agree, outcomes_in, policies_in
from grpo_ref.lab.claim_text import ACTIONS, CHANGED, DETAIL, LIMITS, MEANING, ClaimText, Findings, filled
from grpo_ref.lab.framework.claim import Claim, Policy
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import FILE as PREDICTIONS
from grpo_ref.lab.framework.summary import verdict_of
from grpo_ref.lab.framework.sweep import OF_A_NETWORK, PER_TASK
from grpo_ref.lab.framework.verdicts import tally
from grpo_ref.lab.numbers import at_equal_text, decimals_of, interval_text

FEW = 8
"""Number of tasks, or of seeds if there is one task, below which no verdict is given."""
HEADINGS: Mapping[Policy, str] = {"table": "With a table", "network": "With a network"}
PANELS: Mapping[Policy, str] = {"table": "figure", "network": "figure_network"}
"""Policy -> beginning of the names of its panels' files. The first policy of a claim has that of a table."""
DIFFERENCES: Mapping[Policy, str] = {"table": "differences.svg", "network": "differences_network.svg"}
"""Policy -> file of the differences with their intervals, by the same rule."""
ON_TOP = 2
"""Number of panels at the top of a page. The others are below the table of predictions."""
LEGEND = (
    "A prediction *holds* if its whole interval lies beyond the margin on the predicted side, or inside the"
    " margin where equality is predicted; it is *opposite* if the interval lies beyond the margin on the"
    " other side. It is *negligible* if a difference is predicted and the whole interval lies inside the"
    " margin, and *undecided* if the interval crosses a margin: then the table gives the smallest difference"
    " that the experiment could have detected."
)
NO_BREAK = "\N{NO-BREAK SPACE}"
OUTCOMES = ("holds", "negligible", "opposite", "undecided")
STALE = (
    "> **The text of this page was written for other results, and is not shown here.** The numbers below are"
    " current."
)
MEANINGS = {
    "supported": "the claim holds",
    "negligible": "the predicted differences are too small to matter",
    "opposite": "the opposite of the claim holds",
    "undecided": "the experiment cannot tell",
}
"""Verdict -> the answer in words."""
LIMIT: Mapping[Policy, str] = {
    "table": "The policy is a table of logits. Prompts share nothing, unless the tasks say what they share."
    " This shows how a mechanism works, not whether it matters in a large model.",
    "network": "The network is small and its tasks are toys. This shows how a mechanism works where prompts"
    " share weights, not how large the effect is in a large model.",
}
DIFFERENCES_SHOWN = (
    "Each prediction with its interval, in the order of the table. Grey: the prediction holds."
)


class Answer(NamedTuple):
    """Contents of a claim's page and of its row in the table of all claims that are about the answer.

    Attributes:
      text: the answer in one or two sentences.
      do: the words for what to do, or "".
      advice: a short sentence for a practitioner, or "".
      sections: heading -> hand-written Markdown, with numbers filled in.
      caption: hand-written caption of the first figure, or "".
      depends_on: what a mixed verdict depends on, or "".
      is_stale: True if there is a text that was written for other results.
    """

    text: str
    do: str
    advice: str
    sections: Mapping[str, str]
    caption: str
    depends_on: str
    is_stale: bool


def answer_of(results: Results, text: ClaimText | None) -> Answer:
    """Return the hand-written answer, or a derived one if no text was written for these results."""
    if text is None or text.outcomes != outcomes_in(results) or _few(results):
        kept = {CHANGED: text.sections[CHANGED]} if text and CHANGED in text.sections else {}
        return Answer(_derived(results), "", "", kept, "", "", text is not None and not _few(results))
    findings: Findings = {policy: results[policy]["findings"] for policy in policies_in(results)}
    return Answer(
        filled(text.answer, findings),
        ACTIONS[text.do],
        filled(text.advice, findings),
        {title: filled(section, findings) for title, section in text.sections.items()},
        filled(text.caption, findings),
        text.depends_on,
        is_stale=False,
    )


def _few(results: Results) -> bool:
    return any(results[policy]["pairs"] < FEW for policy in policies_in(results))


def _derived(results: Results) -> str:
    """Return an answer that follows from the verdicts alone."""
    if _few(results):
        return "There are too few tasks to judge."
    said = []
    for policy in policies_in(results):
        result = results[policy]
        parts = [clause["verdict"] for clause in result["clauses"]] or result["decided_by"]
        meaning = MEANINGS.get(result["verdict"], f"the parts of the claim differ ({tally(parts)})")
        said.append(f"{HEADINGS[policy]}, {meaning}.")
    return " ".join(said)


def verdict_in_words(result: Mapping[str, Any], depends_on: str = "") -> str:
    """Return the verdict of a result in words, or that there are too few tasks."""
    return "too few tasks to judge" if result["pairs"] < FEW else verdict_of(result, depends_on)


def claim_page(
    claim: Claim, results: Results, text: ClaimText | None, related: Mapping[str, str] | None = None
) -> str:
    """Return the page of a claim. Its figures and data are files beside the page.

    Args:
      claim: the claim.
      results: its results.
      text: its hand-written text, or None.
      related: name of another claim -> its title.
    """
    policies, answer = policies_in(results), answer_of(results, text)
    first = policies[0]
    experiment = claim.experiments[first]
    limits = [answer.sections.get(LIMITS, ""), *(LIMIT[policy] for policy in policies)]
    limits += [_at_the_end(results[policy]["tuning"]) for policy in policies]
    if changed := answer.sections.get(CHANGED):
        limits.append(f"**Changed after a look.** {changed}")
    blocks = [
        f"# {claim.first.title}",
        f"**{answer.text}**",
        STALE if answer.is_stale else "",
        f"**The claim.** {experiment.claim} ({experiment.source})",
        _panels(results[first]["figures"][:ON_TOP]),
        f"*{answer.caption or _caption(experiment, results[first]['pairs'])}*",
        _section(MEANING, answer.sections.get(MEANING, "")),
        "## Results",
        LEGEND,
        *(_results(claim, policy, results, answer.depends_on) for policy in policies),
        _agreement(results) if len(policies) > 1 else "",
        _clauses(results),
        _section(DETAIL, answer.sections.get(DETAIL, "")),
        _section("Method", _method(claim, results)),
        _section("Limits", "\n\n".join(part for part in limits if part)),
        _section("Reproduce", _reproduce(claim, results)),
        _related(related or {}),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _caption(experiment: Experiment, pairs: int) -> str:
    counted = "tasks" if experiment.family else "seeds"
    return f"Means over {pairs} {counted}, with 95 % intervals."


def _panels(figures: Sequence[Mapping[str, str]]) -> str:
    """Return the panels as one paragraph: side by side, or one below the other on a narrow screen."""
    return "\n".join(f"![{figure['shows']}]({figure['file']})" for figure in figures)


def figure_of(policy: Policy, policies: Sequence[Policy], files: Mapping[Policy, str]) -> str:
    """Return the name of a policy's figure. The first policy of a claim has the name of a table."""
    return files["table"] if policy == policies[0] else files[policy]


def _results(claim: Claim, policy: Policy, results: Results, depends_on: str) -> str:
    """Return the part of the results with one policy: verdict, predictions and figures."""
    policies, result, experiment = policies_in(results), results[policy], claim.experiments[policy]
    differences = figure_of(policy, policies, DIFFERENCES)
    shown_above = ON_TOP if policy == policies[0] else 0
    panels = _panels(result["figures"][shown_above:])
    blocks = [
        f"### {HEADINGS[policy]}",
        f"**Verdict: {verdict_in_words(result, depends_on)}.** {_deciding(result)}".rstrip(),
        _predictions(result["findings"], is_judged=result["pairs"] >= FEW),
        _at_equal(result),
        panels,
        f"*{_caption(experiment, result['pairs'])}*" if panels else "",
        f"![Differences with their intervals, one line for each row of the table]({differences})",
        f"*{DIFFERENCES_SHOWN}*",
        result["exhibit"],
    ]
    return "\n\n".join(block for block in blocks if block)


def _deciding(result: Mapping[str, Any]) -> str:
    """Say which rows decide the verdict, and count the outcomes."""
    findings = result["findings"]
    rows = [str(row) for row, finding in enumerate(findings, start=1) if finding["main"]]
    if result["pairs"] < FEW:
        return ""
    outcomes = [finding["outcome"] for finding in findings]
    counts = [_counted(each, outcomes.count(each)) for each in OUTCOMES if each in outcomes]
    if not rows:
        return f"All rows decide it: {_listed(counts)}."
    which = f"Row {rows[0]}, in bold, was" if len(rows) == 1 else f"Rows {_listed(rows)}, in bold, were"
    return f"{which} named as decisive in advance. Of all rows, {_listed(counts)}."


def _counted(outcome: str, number: int) -> str:
    """Return the number of rows with an outcome, as in "2 hold" or "1 is opposite"."""
    if outcome == "holds":
        return f"{number} {'holds' if number == 1 else 'hold'}"
    return f"{number} {'is' if number == 1 else 'are'} {outcome}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _predictions(findings: Sequence[Mapping[str, Any]], *, is_judged: bool) -> str:
    """Return the table of predictions, with their outcomes if there are enough tasks to judge."""
    lines = [
        "| | prediction | measure: A − B | A − B [interval] | negligible within | outcome |",
        "|---|---|---|---|---|---|",
    ]
    for row, finding in enumerate(findings, start=1):
        margin = f"±{finding['margin']:g}" if finding["margin"] else "0"
        outcome = _outcome(finding) if is_judged else "–"
        difference = interval_text(finding)
        if finding["middle"] and decimals_of(finding) is not None:
            mean, low, high = finding["middle"]
            difference += f"; middle half {interval_text({'mean': mean, 'low': low, 'high': high})}"
        difference = difference.replace(", ", f",{NO_BREAK}")
        cells = [str(row), _cell(finding["says"]), _compared(finding), difference, margin, outcome]
        if finding["main"]:
            cells[0], cells[1], cells[-1] = (f"**{cells[at]}**" for at in (0, 1, -1))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _at_equal(result: Mapping[str, Any]) -> str:
    """Return the main differences with both arms at the same value of their setting, as a table."""
    rows = [
        (row, finding)
        for row, finding in enumerate(result["findings"], start=1)
        if finding["main"] and len(finding["at_equal"]) > 1
    ]
    if not rows:
        return ""
    values = sorted({value for _, finding in rows for value in finding["at_equal"]}, key=float)
    lines = [
        "The same differences with both arms at the same setting, on the tuning tasks, with single 95 %"
        " intervals:",
        "",
        f"| row | {' | '.join(values)} |",
        "|---|" + "---|" * len(values),
    ]
    for row, finding in rows:
        cells = [at_equal_text(finding, value) if value in finding["at_equal"] else "–" for value in values]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _compared(finding: Mapping[str, Any]) -> str:
    """Return the measure and the two sides of a difference; the right side may be a number."""
    right = finding["right"]
    right = f"the number {right:g}" if isinstance(right, float) else right
    return _cell(f"{finding['measure']}: {finding['left']} − {right}")


def _outcome(finding: Mapping[str, Any]) -> str:
    """Return the outcome, with "(exact)" if all pairs agree exactly.

    If it is undecided: the smallest difference that the experiment could have detected, and whether the
    interval excludes the predicted effect.
    """
    if finding["outcome"] != "undecided":
        return f"{finding['outcome']}{' (exact)' if finding['low'] == finding['high'] else ''}"
    low, high, margin = finding["low"], finding["high"], finding["margin"]
    excluded = {"more": high <= margin, "less": low >= -margin, "same": False}[finding["expect"]]
    detectable = f"could detect {margin + (high - low) / 2.0:.2g}"
    return f"undecided ({detectable}{'; the predicted effect is excluded' if excluded else ''})"


def _agreement(results: Results) -> str:
    if _few(results):
        return ""
    if agree(results):
        return "Table and network **agree**: their main predictions have the same outcomes."
    return "Table and network **do not agree** on all main predictions and assertions."


def _clauses(results: Results) -> str:
    """Return the verdict on each assertion of a claim that makes several, as a table."""
    policies = [policy for policy in policies_in(results) if results[policy]["clauses"]]
    if not policies or _few(results):
        return ""
    verdicts = {
        policy: {clause["text"]: clause["verdict"] for clause in results[policy]["clauses"]}
        for policy in policies
    }
    texts = dict.fromkeys(text for policy in policies for text in verdicts[policy])
    head = [f"| assertion of the claim | {' | '.join(policies)} |", "|---|" + "---|" * len(policies)]
    rows = [
        f"| {_cell(text)} | {' | '.join(verdicts[policy].get(text, '–') for policy in policies)} |"
        for text in texts
    ]
    return "\n".join(["### Each assertion", "", *head, *rows])


def _method(claim: Claim, results: Results) -> str:
    """Return the description of tasks, training, measures, seeds and statistics, as a table."""
    policies = policies_in(results)
    columns = [_described(claim.experiments[policy], results, policy) for policy in policies]
    head = ["", *policies] if len(policies) > 1 else ["", ""]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|" * len(policies)]
    for title in dict.fromkeys(title for column in columns for title in column):
        lines.append(f"| {title} | {' | '.join(column.get(title, '–') for column in columns)} |")
    return "\n".join(lines)


def _described(experiment: Experiment, results: Results, policy: Policy) -> dict[str, str]:
    """Return the rows of the method for one policy: title -> text."""
    result = results[policy]
    pairs, number = result["pairs"], len(result["findings"])
    per_task = OF_A_NETWORK if policy == "network" else PER_TASK
    seeds = (
        f"{pairs} tasks with {per_task} seeds each. The task is the unit: each difference is a mean over the"
        " seeds of a task, and differences are paired"
        if experiment.family
        else f"{pairs}; differences are paired"
    )
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    rows = {
        "Tasks": experiment.family,
        "Training": experiment.run,
        "Measures": experiment.measured,
        "Seeds": seeds,
        "Best settings": chosen(result["tuning"]),
        "Intervals": f"95 % for all {number} predictions together (Bonferroni)"
        + (", with the noise of the chosen settings" if result["tuning"] else ""),
        "Predictions": _predicted(result["predicted"]),
        "Run": f"base seed {results['seed']}; {versions}. All numbers, with p-values and effect sizes:"
        " [results.json](results.json)",
    }
    return {title: _cell(text) for title, text in rows.items() if text}


def chosen(tuning: Mapping[str, Any]) -> str:
    """Return the chosen value of each arm, and over which values its score is flat; "" if nothing was chosen.

    >>> one = {"setting": "learning_rate", "by": "reward", "scores": {"0.1": 0, "0.3": 1}, "best": "0.3"}
    >>> chosen({"grpo": {**one, "alike": ["0.1", "0.3"]}, "b": {**one, "alike": ["0.3"]}})
    'learning_rate, by reward on other tasks: “grpo” 0.3 (flat from 0.1 to 0.3), “b” 0.3 (largest value)'
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for label, tuned in tuning.items():
        values, alike, best = list(tuned["scores"]), tuned["alike"], tuned["best"]
        note = ""
        if len(alike) > 1:
            note = f" (flat from {alike[0]} to {alike[-1]})"
        elif _is_at_the_end(tuned):
            note = f" ({'smallest' if best == values[0] else 'largest'} value)"
        groups.setdefault((tuned["setting"], tuned["by"]), []).append(f"“{label}” {best}{note}")
    return "; ".join(
        f"{setting}, by {by} on other tasks: {', '.join(arms)}" for (setting, by), arms in groups.items()
    )


def _is_at_the_end(tuned: Mapping[str, Any]) -> bool:
    """Return True if the best value is the first or last one tried, and no other value scores alike."""
    values = list(tuned["scores"])
    return len(tuned["alike"]) == 1 and tuned["best"] in (values[0], values[-1])


def _at_the_end(tuning: Mapping[str, Any]) -> str:
    """Name the arms whose best value is the first or last one tried; "" if there is none."""
    arms = [f"“{label}”" for label, tuned in tuning.items() if _is_at_the_end(tuned)]
    if not arms:
        return ""
    return (
        f"The best value of {_listed(arms)} is the smallest or the largest one tried, so a value beyond it"
        " may be better."
    )


def _predicted(predicted: Mapping[str, str]) -> str:
    """Say when the predictions were written down, if they were."""
    if not predicted["written"]:
        return "not written down before the results"
    tag = f", Git tag `{predicted['tag']}`" if predicted["tag"] else ""
    return (
        f"[written down]({PREDICTIONS}) on {predicted['written']}, before the results"
        f" (SHA-256 {predicted['sha256'][:12]}{tag})"
    )


def _reproduce(claim: Claim, results: Results) -> str:
    names = " ".join(claim.experiments[policy].name for policy in policies_in(results))
    options = f"--seeds {results['seeds']} --seed {results['seed']}"
    return f"```console\n$ grpo-ref experiment run {names} {options}\n```"


def _related(related: Mapping[str, str]) -> str:
    links = ", ".join(f"[{title}](../{name}/README.md)" for name, title in related.items())
    return f"Related claims: {links}" if links else ""


def _cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("|", "\\|")
