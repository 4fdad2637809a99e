"""Claim: one ratio per sequence (GSPO) is better than one per token (GRPO) when a batch is used often."""

from dataclasses import replace

from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.reused_batches import FAMILY, reused
from grpo_ref.lab.framework.stale_data import (
    BATCH,
    COMPARED_AT,
    DISTANCES,
    alignment,
    drawn_frequencies,
    expected_push,
    push,
    stale_policies,
)
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import GRPO, GSPO, Recipe, slot
from grpo_ref.surrogates import clipped, importance_weighted

TOKEN = replace(GRPO, kl_coef=0.0)
SEQUENCE = replace(TOKEN, level=GSPO.level, surrogate=GSPO.surrogate)
WIDE = replace(SEQUENCE, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
TOKEN_WEIGHT = replace(TOKEN, surrogate=slot(importance_weighted))
MEAN_WEIGHT = replace(TOKEN_WEIGHT, level=GSPO.level)
PRODUCT_WEIGHT = replace(TOKEN_WEIGHT, level=sequence_sum_level)
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="mean reward")
EQUAL = (0.1, 0.3, 1.0)
"""Learning rates at which both are compared. At 0.3 it is decided which of them falls less."""


def aligned(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Cosine between the push of a recipe and the exact gradient, expected and of one batch, by distance."""
    stale = stale_policies(DISTANCES, seeds=seeds, seed=seed)
    drawn = push(recipe, stale, drawn_frequencies(stale, BATCH, seed=seed))
    curves = {
        "alignment": alignment(expected_push(recipe, stale), stale),
        "alignment of a batch": alignment(drawn, stale),
    }
    place = DISTANCES.index(COMPARED_AT)
    by_distance = {f"{name} by distance": curve for name, curve in curves.items()}
    return by_distance | {name: curve[:, place] for name, curve in curves.items()}


EXPERIMENT = Experiment(
    name="sequence_ratio",
    title="Is GSPO's sequence ratio better than the ratios of tokens?",
    group="clipping",
    claim="When a batch is used for several steps, GSPO's ratio of the sequence is theoretically correct and"
    " more stable than GRPO's ratios of the tokens; when it is used once, there is no difference.",
    source="Zheng et al. 2025, GSPO (arXiv:2507.18071); a book chapter on GRPO (2026, not public), sec."
    " 7.5.3",
    family=FAMILY,
    run="40 batches are learned with Adam and without a KL penalty, each used for 2 to 16 optimizer steps;"
    " in `once` for one step, and in `often` for 16 steps (8 passes over 2 parts). GSPO has the narrow"
    " clip range of its paper; one more arm has GRPO's range of 0.2. Pairs with a number in their name"
    " have the same learning rate: 0.1, 0.3 or 1. And in a language of 243 completions whose policy has"
    " moved away from the sampler, the expected update that each ratio gives without a clip is compared"
    " with the exact gradient of the expected reward.",
    measured="The reward (share of right words) as a mean over training, by which the learning rate is"
    " chosen; its largest fall below its best so far (means of 5 updates); and the alignment, which is the"
    f" cosine between an update and the exact gradient at {COMPARED_AT} nats per completion from the"
    f" sampler, for the expected update and for the update of {BATCH} completions.",
    arms={
        "GRPO, once": arm(reused, recipe=TOKEN, use="once"),
        "GSPO, once": arm(reused, recipe=SEQUENCE, use="once"),
        "GRPO": tuned(reused, RATES, recipe=TOKEN),
        "GSPO": tuned(reused, RATES, recipe=SEQUENCE),
        "GSPO clipped at 0.2": tuned(reused, RATES, recipe=WIDE),
        "GRPO, often": tuned(reused, RATES, recipe=TOKEN, use="often"),
        "GSPO, often": tuned(reused, RATES, recipe=SEQUENCE, use="often"),
        "GRPO, often, at 0.1": arm(reused, recipe=TOKEN, use="often", learning_rate=0.1),
        "GSPO, often, at 0.1": arm(reused, recipe=SEQUENCE, use="often", learning_rate=0.1),
        **{
            f"{label} at {rate:g}": arm(reused, recipe=recipe, learning_rate=rate)
            for rate in EQUAL
            for label, recipe in (("GRPO", TOKEN), ("GSPO", SEQUENCE))
        },
        "ratio of each token (GRPO)": arm(aligned, recipe=TOKEN_WEIGHT),
        "their geometric mean (GSPO)": arm(aligned, recipe=MEAN_WEIGHT),
        "their product": arm(aligned, recipe=PRODUCT_WEIGHT),
    },
    predictions=(
        Prediction(
            "Used several times, GSPO gains more reward",
            "mean reward",
            "GSPO",
            "more",
            "GRPO",
            0.02,
            main=True,
        ),
        Prediction(
            "Used several times, GSPO falls less",
            "largest fall",
            "GSPO at 0.3",
            "less",
            "GRPO at 0.3",
            0.02,
            main=True,
        ),
        Prediction(
            "Each at its best learning rate, GSPO falls less", "largest fall", "GSPO", "less", "GRPO", 0.02
        ),
        Prediction("Used once, they are the same", "mean reward", "GSPO, once", "same", "GRPO, once", 0.001),
        Prediction(
            "GSPO clipped at 0.2 gains more than GRPO",
            "mean reward",
            "GSPO clipped at 0.2",
            "more",
            "GRPO",
            0.02,
        ),
        Prediction(
            "At a small learning rate GSPO gains more",
            "mean reward",
            "GSPO at 0.1",
            "more",
            "GRPO at 0.1",
            0.02,
        ),
        Prediction(
            "At a large learning rate GSPO gains more", "mean reward", "GSPO at 1", "more", "GRPO at 1", 0.02
        ),
        Prediction(
            "At a large learning rate GSPO falls less", "largest fall", "GSPO at 1", "less", "GRPO at 1", 0.02
        ),
        Prediction(
            "Used 16 times, GSPO gains more", "mean reward", "GSPO, often", "more", "GRPO, often", 0.02
        ),
        Prediction(
            "Used 16 times, GSPO falls less",
            "largest fall",
            "GSPO, often, at 0.1",
            "less",
            "GRPO, often, at 0.1",
            0.02,
        ),
        Prediction(
            "On stale data GSPO's weight is nearer to the exact gradient than GRPO's",
            "alignment",
            "their geometric mean (GSPO)",
            "more",
            "ratio of each token (GRPO)",
            0.01,
        ),
        Prediction(
            "On stale data GSPO's weight gives the exact gradient",
            "alignment",
            "their geometric mean (GSPO)",
            "same",
            1.0,
            0.01,
        ),
        Prediction(
            "In a batch, GSPO's weight is nearer to the exact gradient than GRPO's",
            "alignment of a batch",
            "their geometric mean (GSPO)",
            "more",
            "ratio of each token (GRPO)",
            0.01,
        ),
    ),
    panels=(
        Curves(
            "alignment by distance",
            "cosine between push and exact gradient",
            xlabel="KL from the sampler (nats per completion)",
            x=DISTANCES,
            log="x",
        ),
        Grid("reward, mean of all updates", arms=("GRPO", "GSPO", "GSPO clipped at 0.2")),
    ),
)
