"""The fast forms again, with the compiled loops of `loops` in place of NumPy's calls on whole arrays.

For whoever has Numba (the extra `compiled`) and trains for long: a loop has neither the calls, which take as
long for one seed as for ten, nor the passes over arrays that do not fit into a cache. What the verifier and
the recipe's other parts do with the tokens of a batch stays NumPy's, so that any of them will do.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numba
import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.fast import loops
from grpo_ref.fast.logits_rows import LARGEST, SMALLEST, Logits, Rows
from grpo_ref.fast.logits_tokens import Tokens
from grpo_ref.fast.runs import Runs, Sums, Tables
from grpo_ref.fast.usual import clip_bounds
from grpo_ref.fast.walk import Walk, back, tokens_last
from grpo_ref.learning.optim import Adam
from grpo_ref.loss import PolicyLoss
from grpo_ref.validation import check_reference

CACHE_BYTES = 1 << 19
"""So many exponentials are summed while they are in the second cache."""
READ = ("old_log_probs", "ref_log_probs", "advantages")
"""What the loss reads of a token beside its log-probability, which stands in for the first two."""


class CompiledWalk(Walk):
    """Completions drawn token by token; each is looked for along the row of its state."""

    @cached_property
    def sources(self) -> tuple[Any, Integers]:
        """The C function that gives a generator's next number, and where the generators are."""
        sources = [generator.bit_generator.ctypes for generator in self.generators]
        return sources[0].next_double, np.array([source.state_address for source in sources], np.uintp)

    def draw_numbers(self) -> None:
        """As in `Walk`."""
        loops.draw_numbers(*self.sources, self.numbers)

    def completions(self, probs: Floats) -> tuple[Integers, Integers, Bools, Bools]:
        """As in `Walk`; an entry is a place in the run's own table, and one behind it after the end."""
        given = runs_first(probs), self.numbers, self.edges, self.task.starts, self.task.transitions
        prompts, tokens = np.empty(self.state.shape[1:], np.int64), np.empty_like(self.entries)
        mask, ended = np.empty(tokens.shape, np.bool_), np.empty(self.state.shape, np.bool_)
        loops.walk(*given, prompts, self.entries, tokens, mask, ended)
        return prompts, tokens_last(tokens), tokens_last(mask), back(ended)


class CompiledRuns(Runs):
    """Tables are (V, S, N) for everybody, but in memory the runs come first: a run's table is one piece."""

    walker = CompiledWalk

    @staticmethod
    def workers(threads: int) -> int:
        """One: each loop divides its runs among the threads, of which there are no more than cores."""
        most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(threads, most))
        return 1

    @staticmethod
    def laid_out(table: Floats, dtype: DTypeLike) -> Floats:
        """From (S, N, V) to (V, S, N), the runs first in memory."""
        return runs_first(table.transpose(0, 2, 1).astype(dtype, order="C"))

    def softmax(self, logits: Floats, out: Floats) -> None:
        """The policy; its exponentials are NumPy's, since a compiled loop would take them one by one."""
        floor = 0.9 * math.log(np.finfo(out.dtype).tiny)
        loops.exponents(runs_first(logits), 1.0 / self.config.temperature, floor, runs_first(out))
        np.exp(out, out=out)
        loops.normalize(runs_first(out))

    def added(self, entries: Integers, weights: Any, advantages: Any) -> Sums:
        """The three sums, in one pass over the tokens; for each layout of an array, Numba compiles anew."""
        tokens = map(np.ascontiguousarray, (entries, weights, advantages))
        tables = Sums(*(np.empty_like(self.old) for _ in Sums._fields))
        loops.add(*tokens, float(self.recipe.kl_coef), self.takes_several_steps, *map(runs_first, tables))
        return tables

    def differentiate(self, sums: Sums, probs: Floats) -> None:
        """The gradient with respect to the logits."""
        tables = map(runs_first, (*sums, self.old, probs, self.ref))
        settings = *clip_bounds(self.recipe), self.recipe.kl_coef != 0.0
        loops.differentiate(*tables, *settings, runs_first(self.gradient))

    def adam(self, optimizer: Adam, before: Tables, after: Tables) -> None:
        """The step of `optim.Adam`."""
        root = math.sqrt(1.0 - optimizer.b2**self.steps)
        pace = optimizer.learning_rate * root / (1.0 - optimizer.b1**self.steps)
        tables = (tables[name] for tables in (before, after) for name in ("mean", "square", "logits"))
        settings = optimizer.b1, optimizer.b2, pace, optimizer.eps * root
        loops.adam(*settings, *map(runs_first, (self.gradient, *tables)))


def runs_first(table: Floats) -> Floats:
    """(V, S, N) to (S, V, N) and back: a view."""
    return table.swapaxes(0, 1)


@dataclass(frozen=True)
class CompiledTokens(Tokens):
    """Loss and slope of the clipped surrogate with k3, token by token.

    Attributes:
      losses: of the stretches of rows whose slopes were asked for.
    """

    losses: list[float] = field(default_factory=list)

    @cached_property
    def rows(self) -> dict[str, Floats]:
        """The fields that are read, (rows,) each, in float64."""
        fields = {name: self.fields[name] for name in READ if name in self.fields}
        return {name: np.ascontiguousarray(array.reshape(-1), np.float64) for name, array in fields.items()}

    @cached_property
    def live(self) -> Bools:
        """(rows,) which tokens count."""
        live: Bools = self.mask.reshape(-1) != 0.0
        return live

    def slopes(self, log_probs: Floats, rows: slice) -> Floats:
        """The gradient with respect to the log-probabilities of some tokens; their loss is noted."""
        fields = (self.rows.get(name, log_probs) for name in READ)
        arrays = log_probs, *fields, self.weights, self.live
        settings = *clip_bounds(self.recipe), float(self.recipe.kl_coef)
        slopes = np.empty_like(log_probs[rows])
        self.losses.append(loops.clipped_with_k3(*(array[rows] for array in arrays), *settings, slopes))
        return slopes

    def require_fields(self) -> None:
        """Raise now if something is missing or not known; what all threads read is there from here on."""
        if self.metrics is None or self.metrics:
            super().require_fields()
            return
        check_reference(self.recipe, self.fields.get("ref_log_probs"))
        _ = self.rows, self.live, self.weights

    def loss(self, log_probs: Floats) -> PolicyLoss:
        """What was noted; where metrics are wanted, all is computed by the kernels."""
        if self.metrics is None or self.metrics:
            return super().loss(log_probs)
        return PolicyLoss(np.float64(math.fsum(self.losses)), np.empty(0), {})


@dataclass(frozen=True)
class CompiledRows(Rows):
    """Each row of exponentials is summed, and turned into the gradient, while it is in the first cache."""

    alone: ClassVar[int] = 1 << 19

    def exponentials(self, rows: slice, target: Logits | None) -> None:
        """As in `Rows`, which does the block if a maximum must be subtracted, or a row is no distribution.

        Long rows are its own, too: there nothing is gained, and masked ones are left out.
        """
        if target is None or self.in_place or not self.is_short:
            super().exponentials(rows, target)
            return
        scale, size = 1.0 / self.temperature, self.rows_in(CACHE_BYTES)
        for start in range(rows.start, rows.stop, size):
            some = slice(start, min(start + size, rows.stop))
            here, powers = self.logits[some], target[start - rows.start : some.stop - rows.start]
            with np.errstate(all="ignore"):
                np.exp(here if scale == 1.0 else np.multiply(here, scale, out=powers), out=powers)
            given = here, powers, self.tokens[some], self.live[some], scale, SMALLEST, LARGEST
            if not loops.log_probs_of(*given, self.totals[some], self.log_probs[some]):
                super().exponentials(rows, target)
                return

    def scale(self, rows: slice, slopes: Floats) -> None:
        """As in `Rows`."""
        given = self.out[rows], self.totals[rows], self.tokens[rows], self.live[rows]
        loops.spread(*given, slopes / self.temperature)
