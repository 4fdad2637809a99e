"""The fast loop and the loss from logits, with the compiled loops of `loops` instead of NumPy calls.

Use these for long training runs, if Numba is installed (the extra `compiled`). A compiled loop avoids the
cost of a NumPy call, which is the same for one seed as for ten, and it avoids passes over arrays that do not
fit into a cache. The verifier and the other parts of the recipe still use NumPy, so all of them are
supported.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numba
import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.fast import loops
from grpo_ref.fast.exponentials import exponentiate
from grpo_ref.fast.logits_rows import Logits, Rows
from grpo_ref.fast.logits_tokens import Tokens
from grpo_ref.fast.runs import Runs, Sums, Tables
from grpo_ref.fast.supported import clip_bounds
from grpo_ref.fast.walk import Walk, back, tokens_last
from grpo_ref.learning.optim import Adam

READ = ("old_log_probs", "ref_log_probs", "advantages")
"""Fields of a token that the loss reads. The log-probability replaces the first two if they are not given."""


class CompiledWalk(Walk):
    """Completions sampled token by token, each token by a search along the row of its state."""

    @cached_property
    def sources(self) -> tuple[Any, Integers]:
        """The C function that returns a generator's next number, and the addresses of the generators."""
        sources = [generator.bit_generator.ctypes for generator in self.generators]
        return sources[0].next_double, np.array([source.state_address for source in sources], np.uintp)

    def draw_numbers(self) -> None:
        """Draw the random numbers of the next batch, as `Walk` does."""
        loops.draw_numbers(*self.sources, self.numbers)

    def completions(self, probs: Floats) -> tuple[Integers, Integers, Bools, Bools]:
        """Sample completions, as `Walk` does. Entries are counted within the run's own table."""
        given = runs_first(probs), self.numbers, self.edges, self.task.starts, self.task.transitions
        prompts, tokens = np.empty(self.state.shape[1:], np.int64), np.empty_like(self.entries)
        mask, ended = np.empty(tokens.shape, np.bool_), np.empty(self.state.shape, np.bool_)
        loops.walk(*given, prompts, self.entries, tokens, mask, ended)
        return prompts, tokens_last(tokens), tokens_last(mask), back(ended)


class CompiledRuns(Runs):
    """Runs whose tables (V, S, N) are stored with the runs first, so that each run's table is contiguous."""

    walker = CompiledWalk

    @staticmethod
    def workers(threads: int) -> int:
        """Return 1: the loops themselves divide the runs among threads, at most one per core."""
        most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(threads, most))
        return 1

    @staticmethod
    def laid_out(table: Floats, dtype: DTypeLike) -> Floats:
        """Copy a table (S, N, V) to (V, S, N), with the runs first in memory."""
        return runs_first(table.transpose(0, 2, 1).astype(dtype, order="C"))

    def softmax(self, logits: Floats, out: Floats) -> None:
        """Fill `out` with the policy, by NumPy's exponential, so that the numbers are those of `Runs`."""
        floor = 0.9 * math.log(np.finfo(out.dtype).tiny)
        loops.exponents(runs_first(logits), 1.0 / self.config.temperature, floor, runs_first(out))
        np.exp(out, out=out)
        loops.normalize(runs_first(out))

    def sum_entries(self, entries: Integers, weights: Any, advantages: Any) -> Sums:
        """Return the three sums, from one pass over the tokens."""
        # Numba compiles a loop again for each memory layout of its arguments, so use a single one.
        tokens = map(np.ascontiguousarray, (entries, weights, advantages))
        tables = Sums(*(np.empty_like(self.old) for _ in Sums._fields))
        loops.add(*tokens, float(self.recipe.kl_coef), self.takes_several_steps, *map(runs_first, tables))
        return tables

    def differentiate(self, sums: Sums, probs: Floats) -> None:
        """Compute the loss's gradient with respect to the logits."""
        tables = map(runs_first, (*sums, self.old, probs, self.ref))
        settings = *clip_bounds(self.recipe), self.recipe.kl_coef != 0.0
        loops.differentiate(*tables, *settings, runs_first(self.gradient))

    def adam(self, optimizer: Adam, before: Tables, after: Tables) -> None:
        """Take the step of `optim.Adam`."""
        root = math.sqrt(1.0 - optimizer.b2**self.steps)
        pace = optimizer.learning_rate * root / (1.0 - optimizer.b1**self.steps)
        tables = (tables[name] for tables in (before, after) for name in ("mean", "square", "logits"))
        settings = optimizer.b1, optimizer.b2, pace, optimizer.eps * root
        loops.adam(*settings, *map(runs_first, (self.gradient, *tables)))


def runs_first(table: Floats) -> Floats:
    """Return a view (S, V, N) of a table (V, S, N), or the reverse."""
    return table.swapaxes(0, 1)


@dataclass(frozen=True)
class CompiledTokens(Tokens):
    """Loss and slopes of the clipped surrogate with k3, token by token."""

    @cached_property
    def rows(self) -> dict[str, Floats]:
        """The fields that the loss reads, (rows,) each, in float64."""
        fields = {name: self.fields[name] for name in READ if name in self.fields}
        return {name: np.ascontiguousarray(array.reshape(-1), np.float64) for name, array in fields.items()}

    @cached_property
    def live(self) -> Bools:
        """(rows,) true for tokens that the mask counts."""
        live: Bools = self.mask.reshape(-1) != 0.0
        return live

    def slopes(self, log_probs: Floats, rows: slice) -> Floats:
        """Return the gradient with respect to some tokens' log-probabilities, and record their loss."""
        fields = (self.rows.get(name, log_probs) for name in READ)
        arrays = log_probs, *fields, self.weights, self.live
        settings = *clip_bounds(self.recipe), float(self.recipe.kl_coef)
        slopes = np.empty_like(log_probs[rows])
        self.losses.append(loops.clipped_with_k3(*(array[rows] for array in arrays), *settings, slopes))
        return slopes

    def require_fields(self) -> None:
        """Raise a ValueError if a field is missing or unknown, and prepare, before the threads start."""
        if self.metrics is None or self.metrics:
            super().require_fields()
        self.prepare()

    def prepare(self) -> None:
        """Compute what the slopes of every block of rows read."""
        _ = self.rows, self.live, self.weights  # cached properties


@dataclass(frozen=True)
class CompiledRows(Rows):
    """Rows whose exponentials, and whose last step to the gradient, are compiled."""

    alone: ClassVar[int] = 1 << 19  # compiled rows are worth a second thread sooner

    def _summed_powers(self, exponents: Logits, target: Logits) -> Floats:
        """Write exp(exponents) into `target`, and return the sums of the rows in float64."""
        sums = np.empty(len(target))
        exponentiate(exponents, target, sums)
        return sums

    def scale(self, rows: slice, slopes: Floats) -> None:
        """Turn exponentials into the gradient, as `Rows` does."""
        given = self.out[rows], self.totals[rows], self.tokens[rows], self.live[rows]
        loops.spread(*given, slopes / self.temperature)
