"""Check your own code against the library: a whole loss function, or the slope of one kernel.

    def my_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask): ...

    assert_matches(my_loss, DAPO)         # raises if loss or gradient differ on one of 200 batches
    print(compare(my_loss, DAPO))         # the same comparison, as a report
    print(check_slope(my_surrogate))      # is the returned slope the derivative of the returned value?

Arguments. The names of your function's parameters decide which arrays it receives. `NAMES` lists the names
that grpo_ref, TRL, verl and OpenRLHF use. The arrays are (N, T) and the advantages (N,); the groups follow
one another along N. With packed=True, all completions are packed into one row of L tokens: all arrays are (1,
L), the advantages too, and `sequence_ids` says which completion a token belongs to. With framework="torch" or
"jax" your function receives tensors of that library, and the library differentiates your function. Arrays are
in double precision unless dtype="float32".

Return value. Your function returns one of four things: the loss, a number to be minimized; (loss, metrics);
(loss, gradient with respect to log_probs); or one loss per token, which is averaged as the recipe averages.

| module | job |
|---|---|
| batches | generate batches that distinguish implementations |
| arguments | match arrays to the names of a function's parameters |
| packing | pack a batch into one row without padding |
| frameworks | call a NumPy, PyTorch or JAX function and return its loss and gradient |
| reference | compute the recipe's loss and gradient, and compare two results |
| changes | list the mistakes that a loss function may have: in the recipe, the arrays or the gradient |
| fitting | estimate the numbers that a function uses instead of the recipe's settings |
| combinations | find up to three mistakes at once, without evaluating every combination |
| diagnosis | find the mistakes that explain all results of a function |
| shrinking | find the smallest batch that still shows a mistake |
| example | print a batch as lines of Python |
| compare | put these steps together |
| slopes | compare the slope of one kernel with central differences |
"""

import sys
from types import ModuleType
from typing import Any

from grpo_ref.check.arguments import NAMES
from grpo_ref.check.batches import Trial
from grpo_ref.check.compare import LossComparison, assert_matches, compare
from grpo_ref.check.frameworks import FRAMEWORKS, LossError
from grpo_ref.check.slopes import SlopeCheck, check_slope

__all__ = [
    "FRAMEWORKS",
    "NAMES",
    "LossComparison",
    "LossError",
    "SlopeCheck",
    "Trial",
    "assert_matches",
    "check_slope",
    "compare",
]


class _Callable(ModuleType):
    """A package that can be called: `grpo_ref.check(my_loss, "dapo")` is `compare(my_loss, "dapo")`."""

    def __call__(self, *arguments: Any, **options: Any) -> LossComparison:
        """Call `grpo_ref.check.compare.compare`."""
        return compare(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
