"""Forms that stand in a source document of this project alone, where it differs from papers and trainers.

The document is a book chapter on GRPO (2026) that is not publicly available. Its forms are kept under names
of their own, `book_*`, so that they are not taken for the algorithms whose names they carry there.
"""

from dataclasses import replace

from grpo_ref.kernels.advantages import batch_normalized
from grpo_ref.kernels.corrections import unlikely_under_reference
from grpo_ref.kernels.filters import all_groups, ended_completions
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import gated_ratio, symmetric_kl, symmetric_tv, vespo
from grpo_ref.recipes.catalog import DAPO, DPPO_TV, GRPO, SAPO, VESPO
from grpo_ref.recipes.recipe import Recipe, slot

BOOK = "a book chapter on GRPO (2026)"
BOOK_DR_GRPO = replace(GRPO, corrections=(slot(unlikely_under_reference),), source=f"{BOOK}, sec. 7.5.4")
BOOK_CISPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    advantage=slot(batch_normalized),
    admit=slot(ended_completions),
    source=f"{BOOK}, sec. 7.5.10",
)
BOOK_SAPO = replace(SAPO, surrogate=slot(gated_ratio), source=f"{BOOK}, sec. 7.5.6")
BOOK_VESPO = replace(
    VESPO,
    surrogate=slot(vespo, k_positive=1.0, lambda_positive=1.0, k_negative=1.0, lambda_negative=1.0),
    source=f"{BOOK}, sec. 7.5.8, which has one k and one λ and gives neither",
)
BOOK_DPPO_TV = replace(DPPO_TV, surrogate=slot(symmetric_tv), source=f"{BOOK}, sec. 7.5.9")
BOOK_DPPO_KL = replace(DPPO_TV, surrogate=slot(symmetric_kl), source=f"{BOOK}, sec. 7.5.9")

CHAPTER: dict[str, Recipe] = {
    "book_dr_grpo": BOOK_DR_GRPO,
    "book_cispo": BOOK_CISPO,
    "book_sapo": BOOK_SAPO,
    "book_vespo": BOOK_VESPO,
    "book_dppo_tv": BOOK_DPPO_TV,
    "book_dppo_kl": BOOK_DPPO_KL,
}
"""The forms of the chapter by name."""
