"""Textbook forms: algorithms as a book chapter on GRPO (2026) prints them, under names of their own.

| recipe         | the chapter's name | what it changes against the paper of that name                      |
|----------------|--------------------|---------------------------------------------------------------------|
| `book_dr_grpo` | Dr. GRPO           | tokens that the reference finds likely count less; std, length stay |
| `book_cispo`   | CISPO              | a clip, not a constant weight; the batch gives the mean as well     |
| `book_sapo`    | SAPO               | the gate divides by its temperature and takes the ratio once more   |
| `book_vespo`   | VESPO              | one k and one λ for both signs of A; without values, so all are 1   |
| `book_dppo_tv` | DPPO, binary TV    | tokens that moved against their advantage are left out as well      |
| `book_dppo_kl` | DPPO, binary KL    | one of the two terms of the divergence, and no direction            |

The chapter is not public. Its forms are here because whoever learned them needs to see where they
differ; they are `book_*`, apart from the catalog of papers, so that nobody takes them for the algorithms.
"""

from dataclasses import replace

from grpo_ref.kernels.advantages import batch_normalized
from grpo_ref.kernels.corrections import unlikely_under_reference
from grpo_ref.kernels.filters import all_groups, ended_completions
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import gated_ratio, symmetric_kl, symmetric_tv, vespo
from grpo_ref.recipes import catalog
from grpo_ref.recipes.recipe import slot

BOOK = "a book chapter on GRPO (2026)"

BOOK_DR_GRPO = replace(
    catalog.GRPO, corrections=(slot(unlikely_under_reference),), source=f"{BOOK}, sec. 7.5.4"
)
BOOK_CISPO = replace(
    catalog.DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    advantage=slot(batch_normalized),
    admit=slot(ended_completions),
    source=f"{BOOK}, sec. 7.5.10",
)
BOOK_SAPO = replace(catalog.SAPO, surrogate=slot(gated_ratio), source=f"{BOOK}, sec. 7.5.6")
BOOK_VESPO = replace(
    catalog.VESPO,
    surrogate=slot(vespo, k_positive=1.0, lambda_positive=1.0, k_negative=1.0, lambda_negative=1.0),
    source=f"{BOOK}, sec. 7.5.8, which has one k and one λ and gives neither",
)
BOOK_DPPO_TV = replace(catalog.DPPO_TV, surrogate=slot(symmetric_tv), source=f"{BOOK}, sec. 7.5.9")
BOOK_DPPO_KL = replace(catalog.DPPO_TV, surrogate=slot(symmetric_kl), source=f"{BOOK}, sec. 7.5.9")
