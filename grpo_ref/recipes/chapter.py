"""Textbook forms: algorithms as a book chapter on GRPO (2026) prints them, under names of their own.

| recipe             | the chapter's name | what it changes against the paper of that name                   |
|--------------------|--------------------|------------------------------------------------------------------|
| `book_dr_grpo`     | Dr. GRPO           | what the reference finds likely counts less; std, length stay    |
| `book_cispo`       | CISPO              | a clip, not a constant weight; the batch gives the mean as well  |
| `book_sapo`        | SAPO               | the gate divides by its temperature; the ratio once more         |
| `book_vespo`       | VESPO              | one k and one λ for both signs of A, whose values are all 1      |
| `book_dppo_tv`     | DPPO, binary TV    | tokens that moved against their advantage are left out as well   |
| `book_dppo_kl`     | DPPO, binary KL    | one of the two terms of the divergence, and no direction         |
| `book_dppo_top_tv` | DPPO, top-k TV     | the k tokens of a completion that moved most                     |
| `book_dppo_top_kl` | DPPO, top-k KL     | the same by one of the two terms of the divergence               |
| `book_dapo`        | DAPO               | truncated completions are left out, not punished                 |
| `book_mis`         | MIS                | inside its window the weight is 1, not the ratio                 |
| `book_gdpo`        | GDPO               | the last normalization, over the batch, is left out              |
| `book_gopo`        | GOPO               | the ranks go from -1 to 1                                        |

The chapter is not public. Its forms are here because whoever learned them needs to see where they
differ; they are `book_*`, apart from the catalog of papers, so that nobody takes them for the algorithms.
"""

from dataclasses import replace

from grpo_ref.advantages import batch_normalized, normalized_then_summed, ranked
from grpo_ref.corrections import indicator, unlikely_under_reference
from grpo_ref.filters import all_groups, ended_completions
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import catalog
from grpo_ref.recipes.recipe import slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import (
    gated_ratio,
    symmetric_kl,
    symmetric_tv,
    top_kl_movers,
    top_movers,
    vespo,
)

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
BOOK_DPPO_TOP_TV = replace(catalog.DPPO_TV, surrogate=slot(top_movers), source=f"{BOOK}, sec. 7.5.9")
BOOK_DPPO_TOP_KL = replace(catalog.DPPO_TV, surrogate=slot(top_kl_movers), source=f"{BOOK}, sec. 7.5.9")
BOOK_DAPO = replace(
    catalog.DAPO,
    reward=slot(task_reward),
    admit=slot(ended_completions),
    source=f"{BOOK}, sec. 7.5.2, component 3",
)
BOOK_MIS = replace(
    catalog.MIS,
    corrections=(slot(indicator, level=sequence_sum_level, max_ratio=3.0),),
    source=f"{BOOK}, sec. 7.5.7",
)
BOOK_GDPO = replace(
    catalog.GDPO, advantage=slot(normalized_then_summed, whiten=False), source=f"{BOOK}, sec. 7.5.11"
)
BOOK_GOPO = replace(catalog.GOPO, advantage=slot(ranked, largest=1.0), source=f"{BOOK}, sec. 7.5.12")
