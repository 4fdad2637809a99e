"""Make the table of all claims in Markdown, and one HTML file with all pages, from the stored results."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from grpo_ref.lab.claim_page import FEW, LEGEND, Answer, answer_of, claim_page, verdict_in_words
from grpo_ref.lab.claim_results import FILE as RESULTS
from grpo_ref.lab.claim_results import Results, agree, load, outcomes_in, policies_in
from grpo_ref.lab.claim_text import ACTIONS, ClaimText, read_texts
from grpo_ref.lab.framework.claim import POLICIES, Claim, claims_of
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.verdicts import tally
from grpo_ref.render.html_page import web_page

BEGIN, END = "<!-- verdicts: made by grpo-ref experiment report -->", "<!-- end of verdicts -->"
TITLE = "What the literature says about GRPO, tested"
REACH = (
    "The tasks are toys: completions of at most some dozens of tokens, and rewards that can be computed."
    " With a *table*, every state has its own logits, so prompts share nothing; it says how a mechanism"
    " works, and not whether it matters in a large model. With a *network*, a small pretrained model answers"
    " all prompts with the same weights. Nothing here was run on a large language model. An answer can change"
    " with the tasks: where it is known on what it depends, the page says so."
)
VERDICTS = (
    "**The verdict.** The main predictions, in bold on the pages, were named in advance. If all of them have"
    " one outcome, the verdict is that outcome, and *supported* if they hold. Otherwise the verdict is"
    " *mixed* and lists the outcomes. A claim that makes several assertions has a verdict for each of them,"
    " and the verdict on the claim is formed from these in the same way. The assertions were separated after"
    " the results. One that begins with *Asked in addition* holds a main prediction that asks for more than"
    " the claim says. A prediction that holds with the same difference in every pair follows from the"
    " algebra: it is marked as exact, and decides nothing if other predictions were measured."
)
WHEN = (
    "**Predictions.** If a page says that its predictions were written down, they were written down before"
    " these results, which are from tasks that had not been used before. The claims were developed on other"
    " tasks; if anything was changed after seeing a result, the page says so."
)
STATISTICS = (
    "**The numbers.** A difference is the mean of several seeds on one task, and its interval is over the"
    " tasks, so the interval is that of a mixed model with a random effect for each task. An arm is one of"
    " the variants that are compared. Each arm has its own best setting, chosen on other tasks, unless the"
    " claim is about this setting. The intervals of one experiment are simultaneous, with 95 % confidence"
    " (Bonferroni), and contain the noise of the chosen settings. *Middle half* is the mean without the"
    " largest and the smallest quarter; a table has it where differences are skewed. The p-values in"
    " `results.json` test against a difference of zero, not against the margin, and are adjusted for the"
    " number of predictions (Holm)."
)


class Report(NamedTuple):
    """Everything that the pages are made from.

    Attributes:
      claims: name -> claim, for each claim with results.
      results: name of a claim -> its results.
      texts: name of a claim -> its hand-written text. Claims without a text have none.
    """

    claims: Mapping[str, Claim]
    results: Mapping[str, Results]
    texts: Mapping[str, ClaimText]

    def answer(self, name: str) -> Answer:
        """Return the answer to a claim's question."""
        return answer_of(self.results[name], self.texts.get(name))

    def unwritten(self) -> dict[str, dict[str, list[str]]]:
        """Return the claims that need a new text, with the outcomes for which it has to be written."""
        return {
            name: outcomes_in(results)
            for name, results in self.results.items()
            if name not in self.texts or self.answer(name).is_stale
        }

    def page(self, name: str) -> str:
        """Return the page of a claim, with links to the other claims about the same part of the algorithm."""
        group = self.claims[name].first.group
        related = {
            other: claim.first.title
            for other, claim in self.claims.items()
            if other != name and claim.first.group == group
        }
        return claim_page(self.claims[name], self.results[name], self.texts.get(name), related)


def read_report(experiments: Mapping[str, Experiment], folder: Path, texts: Path) -> Report:
    """Return the report of all claims whose results are in a folder.

    Args:
      experiments: name -> experiment.
      folder: folder with a folder for each claim, in which its results are.
      texts: folder with a folder for each claim, in which its hand-written text is.

    Raises:
      ValueError: if the results or a text are invalid.
    """
    claims = {
        name: claim for name, claim in claims_of(experiments).items() if (folder / name / RESULTS).is_file()
    }
    return Report(claims, {name: load(folder / name) for name in claims}, read_texts(claims, texts))


def index_page(report: Report) -> str:
    """Return the page with the table of all claims."""
    parts = [
        f"# {TITLE}",
        _counts(report),
        REACH,
        claims_table(report),
        "## How the claims are tested",
        f"**The four outcomes.** {LEGEND}",
        VERDICTS,
        WHEN,
        STATISTICS,
    ]
    return "\n\n".join(parts) + "\n"


def _counts(report: Report) -> str:
    """Say how many claims were tested, with which policies, and how often table and network agree."""
    policies = {name: policies_in(results) for name, results in report.results.items()}
    number, both = len(policies), [name for name, used in policies.items() if len(used) == len(POLICIES)]
    only = {policy: sum(used == [policy] for used in policies.values()) for policy in POLICIES}
    lines = [
        f"{number} claim{'s' * (number != 1)}: {only['table']} tested with a table only, {only['network']}"
        f" with a network only, {len(both)} with both.",
        "",
    ]
    for policy in POLICIES:
        tested = [results[policy] for results in report.results.values() if policy in results]
        if counted := tally([result["verdict"] for result in tested if result["pairs"] >= FEW]):
            lines.append(f"* Verdicts with a {policy}: {counted}.")
    if both:
        agreeing = sum(agree(report.results[name]) for name in both)
        lines.append(
            f"* **Table and network agree on {agreeing} of the {len(both)} claims tested with both:** their"
            " main predictions have the same outcomes, and so have all assertions that both test."
        )
    return "\n".join(lines).rstrip()


def claims_table(report: Report) -> str:
    """Return question, action, advice and verdicts of every claim, sorted by what to do."""
    lines = [
        "| question | what to do | advice | verdict, table | verdict, network |",
        "|---|---|---|---|---|",
    ]
    for name in _by_action(report):
        answer, results = report.answer(name), report.results[name]
        verdicts = [verdict_in_words(results[policy]) if policy in results else "–" for policy in POLICIES]
        question = f"[{report.claims[name].first.title}]({name}/README.md)"
        cells = [question, answer.do or "–", answer.advice or "–", *verdicts]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _by_action(report: Report) -> list[str]:
    order = [*ACTIONS.values(), ""]
    return sorted(report.results, key=lambda name: order.index(report.answer(name).do))


def short_summary(report: Report, page: str) -> str:
    """Return the counts, and the claims by what to do, for a page that links to the table of all claims.

    Args:
      report: claims, results and texts.
      page: link to the page with the table.
    """
    lines = [_counts(report), ""]
    folder = page.rpartition("/")[0]
    for action in [*ACTIONS.values(), ""]:
        names = [name for name in report.results if report.answer(name).do == action]
        links = ", ".join(f"[{name}]({folder}/{name}/README.md)" for name in names)
        if names:
            lines.append(f"* **{action or 'No advice yet'}** ({len(names)}): {links}")
    return "\n".join([*lines, "", f"[The table of all claims]({page}) has the questions and the verdicts."])


def in_readme(text: str, table: str) -> str:
    """Return the text with the table between the two marks.

    Raises:
      ValueError: if a mark is missing.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"expected the marks {BEGIN!r} and {END!r} in the file")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def html_page(report: Report, folder: Path) -> str:
    """Return the index and all pages as one HTML file that contains its figures.

    Args:
      report: claims, results and texts.
      folder: folder with a folder of figures for each claim.
    """
    parts = [_html(index_page(report), folder)]
    for name in report.results:
        body = _html(report.page(name), folder / name)
        parts.append(body.replace("<h1>", f'<h1 id="{name}">', 1))
    return web_page(TITLE, "\n".join(parts))


def _html(markdown: str, folder: Path) -> str:
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    body = re.sub(r'href="(?:\.\./)?(\w+)/README\.md"', r'href="#\1"', body)
    body = re.sub(r'<a href="\w+\.json">(.*?)</a>', r"\1", body)
    return re.sub(r'src="(\w+\.(?:png|svg))"', lambda match: f'src="{_data_uri(folder / match[1])}"', body)


def _data_uri(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64," + base64.b64encode(path.read_bytes()).decode()
