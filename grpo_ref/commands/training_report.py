"""Print metrics and completions before and after a training run."""

from collections.abc import Iterator

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from grpo_ref.diversity import has_collapsed
from grpo_ref.learning.held_out import GREEDY, has_held_out, held_out_rates
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.rollout import act
from grpo_ref.learning.runs import History
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Task
from grpo_ref.render.tables import print_table
from grpo_ref.types import Completions

MEASURES = {
    "reward": "reward",
    "kl": "KL to the reference, nats per completion",
    "entropy": "entropy, nats per token",
    "length": "length, tokens",
    "ref_log_prob": "log-likelihood under the reference, nats per completion",
    "distinct_bigrams": "distinct bigrams, share of all bigrams",
    "dead_groups": "groups with equal rewards, share",
}
COLLAPSING = ("entropy", "distinct_bigrams", "reward_width")
COLLAPSE = "entropy, distinct bigrams and the standard deviation of the rewards have all halved"
PROMPTS, EACH = 8, 3
"""Number of prompts, and of completions of each prompt, that are printed."""


def print_report(
    console: Console, task: Task, state: TrainState, history: History, policy: PolicyKind = TABLE
) -> None:
    """Print the metrics of the first and the last update, and completions of the first seed before and after.

    Args:
      console: console to print on.
      task: the task.
      state: state after the last update.
      history: metrics of every update.
      policy: kind of policy that the parameters belong to.
    """
    first, last, seeds = history[0], history[-1], len(state.params)
    criteria = {name: f"{name}, mean of completions" for name in task.criteria if name != "reward"}
    over = "one seed" if seeds == 1 else f"mean over {seeds} seeds"
    table = Table(box=box.SIMPLE, pad_edge=False, title=f"{task.name}: {over}")
    table.add_column("")
    table.add_column("first update", justify="right")
    table.add_column(f"update {len(history)}", justify="right")
    for name, label in (criteria | MEASURES).items():
        if name in first:
            table.add_row(label, f"{first[name].mean():.3f}", f"{last[name].mean():.3f}")
    for label, before, after in _held_out(task, state, policy):
        table.add_row(label, f"{before:.3f}", f"{after:.3f}")
    print_table(console, table)
    if collapsed := _collapsed(history):
        console.print(f"warning: mode collapse in {collapsed} of {seeds} seeds: {COLLAPSE}\n")
    print_table(console, _samples(task, state, policy))


def _held_out(task: Task, state: TrainState, policy: PolicyKind) -> Iterator[tuple[str, float, float]]:
    """Generate the first criterion on held-out prompts, before and after, if the task holds out prompts."""
    if not has_held_out(task):
        return
    for way, temperature in {"sampled": 1.0, "greedy": GREEDY}.items():
        before, after = (
            held_out_rates(task, params, policy, temperature=temperature)[:, 0].mean()
            for params in (state.ref_params, state.params)
        )
        yield f"{task.criteria[0]} on held-out prompts, {way}", before, after


def _collapsed(history: History) -> int:
    """Return the number of seeds that have collapsed, or 0 if the metrics needed were not kept."""
    if not set(COLLAPSING) <= history[0].keys():
        return 0
    curves = (np.array([update[name] for update in history]) for name in COLLAPSING)
    return int(has_collapsed(*curves).sum())


def _samples(task: Task, state: TrainState, policy: PolicyKind) -> Table:
    """Return completions of the same prompts, with the same random numbers, before and after training."""
    generator = np.random.default_rng(0)
    shown = min(PROMPTS, len(task.prompts))
    prompts = generator.choice(len(task.prompts), shown, replace=False, p=task.prompt_probs)
    uniforms = generator.random((shown, EACH, task.max_length))
    table = Table(box=box.SIMPLE, pad_edge=False, title="completions by the first seed, before and after")
    for heading in ("prompt", "before", "after"):
        table.add_column(heading)
    batches = []
    for params in (state.ref_params, state.params):
        choose = policy.at(params[:1], 1.0).chooser(task, prompts[None], EACH)
        batches.append(act(task, choose, prompts[None], uniforms[None]))
    for row, prompt in enumerate(prompts):
        texts = ("  ".join(_completions(task, batch, row)) for batch in batches)
        table.add_row(task.prompts[prompt], *texts)
    return table


def _completions(task: Task, batch: Completions, row: int) -> list[str]:
    """Return the completions of one prompt, each with its prompt."""
    prompt = batch.prompts[0, row]
    return [task.render(prompt, batch.tokens[0, row, k], batch.mask[0, row, k]) for k in range(EACH)]
