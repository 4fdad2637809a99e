"""Check code of your own against the library: a whole loss function, or the slope of one part.

    def my_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask): ...

    assert_matches(my_loss, DAPO)         # loss and gradient, on batches that tell implementations apart
    print(compare(my_loss, DAPO))         # the same as a report
    print(check_slope(my_surrogate))      # is the slope that of the value?

The arrays are (N, T) and advantages (N,), the completions of all groups one after another. The function is
given what its parameters ask for, under the names of `NAMES`: ours, TRL's, verl's or OpenRLHF's. With
packed=True all completions are one row of L tokens: (1, L) arrays, advantages too, with `sequence_ids`. The
function returns the loss, a number to be minimized, or (loss, metrics), or one loss per token, which is
averaged as the recipe does, or the loss and its gradient with respect to log_probs. With framework="torch" or
"jax" it is given tensors of that library and differentiated by it; in double precision, unless
dtype="float32".

| file | its one job |
|---|---|
| batches | generate batches that tell implementations apart |
| arguments | the names under which a function takes its arrays |
| packing | the same batches as one row without padding |
| frameworks | ask a function, in NumPy, PyTorch or JAX, for its loss and gradient |
| reference | what the recipe answers, and in what two answers differ |
| changes | what may be different about somebody else's loss: recipe, arrays, gradient |
| fitting | numbers that a function has in place of the recipe's |
| diagnosis | what would have to be different about the recipe for the answers to agree |
| shrinking | the smallest batch that still shows a mistake |
| example | that batch as lines of Python |
| compare | all of it, as one comparison |
| slopes | the slope of one part against central differences |
"""

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
