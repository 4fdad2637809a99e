"""Textbook forms: recipes as a book chapter on GRPO prints them, under names of their own.

Papers and trainers compute other formulas under the common names. The chapter (2026) is not public.

| recipe             | the chapter's name | difference from the algorithm of that name                       |
|--------------------|--------------------|------------------------------------------------------------------|
| `book_dr_grpo`     | Dr. GRPO           | GRPO with token weights 1 - πref; std and length are not removed |
| `book_cispo`       | CISPO              | a clip instead of a constant weight; mean and std of the batch   |
| `book_sapo`        | SAPO               | the gate divides by τ, and it is multiplied by the ratio         |
| `book_vespo`       | VESPO              | one k and one λ for both signs of A; both are 1 here             |
| `book_dppo_tv`     | DPPO, binary TV    | also drops tokens that moved against their advantage             |
| `book_dppo_kl`     | DPPO, binary KL    | uses one of the two terms of the KL, and no direction            |
| `book_dppo_top_tv` | DPPO, top-k TV     | keeps the k tokens of a completion that changed most             |
| `book_dppo_top_kl` | DPPO, top-k KL     | keeps the k tokens of a completion with the largest term of a KL |
| `book_dapo`        | DAPO               | drops truncated completions instead of lowering their reward     |
| `book_mis`         | MIS                | the weight within the bounds is 1, not the ratio                 |
| `book_gdpo`        | GDPO               | omits the last normalization, over the batch                     |
| `book_gopo`        | GOPO               | advantages from -1 to 1, not from -2 to 2                        |

The names begin with `book_`, so that you do not confuse a textbook form with the published algorithm. Use the
recipes of `catalog.py` for real work.
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

BOOK = "a book chapter on GRPO (2026, not public)"

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
    source=f"{BOOK}, sec. 7.5.8; the book gives no values for k and λ",
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
