"""ROLL by month: the values are read from the source at the last commit of each month."""

import re

import pytest

from grpo_ref.explain.dialect import NotExpressed
from grpo_ref.explain.dialects.roll import DIALECT
from grpo_ref.explain.dialects.roll.kernels import turn_scores
from grpo_ref.explain.launch import launches
from grpo_ref.explain.trap import sprung

REFUSED = "refused"
REINFORCE = {"adv_estimator": "reinforce"}
STANDARDIZED = "group_normalized(ddof=1, eps=1e-06)"
# configuration, part -> month: the part
BORDERS = {
    "reward_norm=batch is read until 2025-09-25": (
        *(REINFORCE | {"reward_norm": "batch"}, "advantage"),
        {
            "2025-05": "batch_normalized(ddof=1, eps=1e-06)",
            "2025-08": "batch_normalized(ddof=1, eps=1e-06)",
            "2025-09": "raw_rewards",
            "": "raw_rewards",
        },
    ),
    "reward_norm=group is that of grpo": (
        *(REINFORCE | {"reward_norm": "group"}, "advantage"),
        {"2025-08": STANDARDIZED, "2025-09": "raw_rewards"},
    ),
    "reward_shift omits the std": (
        *(REINFORCE | {"reward_norm": "group", "reward_shift": True}, "advantage"),
        {"2025-08": "group_centered", "2025-09": "raw_rewards"},
    ),
    "reward_shift omits the std of grpo too": (
        *({"reward_shift": True}, "advantage"),
        {"2025-08": "group_centered", "2025-09": STANDARDIZED, "": STANDARDIZED},
    ),
    "reward_scale counts for the running norm alone": (
        *({"reward_scale": True}, "advantage"),
        {"2025-08": STANDARDIZED, "": STANDARDIZED},
    ),
    "norm_mean_type comes on 2025-09-25": (
        *(REINFORCE | {"norm_mean_type": "group"}, "advantage"),
        {"2025-08": REFUSED, "2025-09": "group_centered"},
    ),
    "the default of loss_agg_mode": (
        *({}, "aggregate"),
        {
            "2025-05": "token_mean",
            "2025-06": "sequence_mean_token_mean(count_empty=False)",
            "2025-07": "sequence_mean_token_mean(count_empty=False)",
            "2025-08": "sequence_mean_token_sum(count_empty=False)",
            "2025-09": "sequence_mean_token_mean(count_empty=False)",
            "": "sequence_mean_token_mean(count_empty=False)",
        },
    ),
    "seq-mean-token-mean divides twice in June and July 2025": (
        *({"loss_agg_mode": "seq-mean-token-mean"}, "aggregate"),
        {
            "2025-05": "sequence_mean_token_mean(count_empty=False)",
            "2025-06": REFUSED,
            "2025-07": REFUSED,
            "2025-08": "sequence_mean_token_mean(count_empty=False)",
        },
    ),
    "importance_sampling=seq comes on 2025-07-31": (
        *({"importance_sampling": "seq"}, "level"),
        {"2025-06": REFUSED, "2025-07": "sequence_mean_level"},
    ),
    "use_pg_clip_range comes on 2025-09-25": (
        *({"use_pg_clip_range": True, "pg_clip_high": 0.28}, "surrogate"),
        {"2025-08": REFUSED, "2025-09": "clipped(clip_low=0.2, clip_high=0.28)"},
    ),
}


@pytest.mark.parametrize(
    ("config", "name", "month", "expected"),
    [
        pytest.param(config, name, month, expected, id=f"{row}: {month or 'described'}")
        for row, (config, name, months) in BORDERS.items()
        for month, expected in months.items()
    ],
)
def test_a_border(config, name, month, expected):
    dialect = DIALECT.at(month)
    if expected == REFUSED:
        with pytest.raises(ValueError, match=r"has no key|cannot be expressed here"):
            dialect.recipe(**config)
    else:
        assert dialect.recipe(**config).parts()[name] == expected


def test_a_running_norm_is_not_expressed():
    with pytest.raises(
        ValueError, match="reward_norm: expected one of None, 'batch', 'group', got 'running'"
    ):
        DIALECT.at("2025-08").recipe(adv_estimator="reinforce", reward_norm="running")


# estimator of the agentic pipeline, words of its formula, first month, month before, last month not expressed
AGENTIC = [
    ("gigpo", "step_reward_weight times the discounted return of the step", "2025-08", "2025-07", "2025-11"),
    (
        "step_reinforce",
        "the discounted return of the step, by step_reward_gamma",
        "2025-09",
        "2025-08",
        "2025-11",
    ),
    (
        "agentic_reinforce",
        "the return of a turn, discounted by gamma between turns",
        "2025-12",
        "2025-11",
        "",
    ),
]


@pytest.mark.parametrize(("estimator", "words", "first", "before", "last"), AGENTIC)
def test_an_estimator_of_the_agentic_pipeline_is_not_taken_for_raw_rewards(
    estimator, words, first, before, last
):
    for month in (first, last):
        with pytest.raises(NotExpressed, match=re.escape(words)):
            DIALECT.at(month).recipe(adv_estimator=estimator)
    with pytest.raises(ValueError, match="adv_estimator: expected one of 'grpo', 'reinforce'"):
        DIALECT.at(before).recipe(adv_estimator=estimator)


def test_the_rlvr_pipeline_computes_reinforce_for_the_estimators_of_the_other():
    rlvr = DIALECT.recipe(adv_estimator="gigpo", pipeline="rlvr")
    assert rlvr.parts()["advantage"] == "raw_rewards"
    (launch,) = launches("python examples/start_rlvr_pipeline.py adv_estimator=gigpo", "run.sh")
    assert launch.keys["pipeline"] == "rlvr"


@pytest.mark.parametrize(
    ("key", "value"), [("reward_normalization.grouping", "batch"), ("train_env_manager.group_size", 8)]
)
def test_keys_of_the_agentic_pipeline_are_not_expressed_with_other_estimators(key, value):
    with pytest.raises(NotExpressed, match="as reward_normalization says"):
        DIALECT.recipe(adv_estimator="reinforce", **{key: value})
    assert DIALECT.recipe(adv_estimator="reinforce", pipeline="rlvr", **{key: value})
    assert DIALECT.key("group_size") is None


def test_gigpo_is_expressed_since_its_norms_have_types():
    config = {"adv_estimator": "gigpo", "reward_normalization.method": "mean"}
    for month in ("2025-12", ""):
        assert DIALECT.at(month).recipe(**config).advantage.kernel is turn_scores


def test_the_agentic_pipeline_is_a_program_of_roll():
    (launch,) = launches("python examples/start_agentic_pipeline.py pg_clip=0.1", "run.sh")
    assert launch.trainer == "roll"


def warned(month, config):
    release = DIALECT.at(month)
    return [trap.name for trap in sprung(release.traps, release.settings(config), release.given(config))]


@pytest.mark.parametrize("key", ["reward_norm", "reward_shift", "reward_scale"])
def test_keys_that_are_dropped_are_a_trap_and_not_harmless(key):
    name = "reward_norm, reward_shift and reward_scale are dropped since September 2025"
    assert name in warned("", {key: "batch" if key == "reward_norm" else True})
    assert name not in warned("", {})
    assert key not in DIALECT.keys.harmless


def test_a_sum_that_is_a_mean_is_a_trap_of_its_months():
    name = "loss_agg_mode=seq-mean-token-sum divides by the length"
    months = ["2025-05", "2025-06", "2025-07", "2025-08", ""]
    config = {"loss_agg_mode": "seq-mean-token-sum"}
    assert [month for month in months if name in warned(month, config)] == ["2025-06", "2025-07"]


def test_the_set_of_the_average_changes_in_february_2026():
    means = [
        DIALECT.at(month).objective.averages(DIALECT.settings({})).text for month in ("2026-01", "2026-02")
    ]
    assert means[0] == "each micro-batch of each rank, and then over these"
    assert means[1] == "the batch of a step, all ranks and micro-batches together"


INVENTED = ["actor_train.foo", "actor_train.training_args.foo", "rewards.math_rule.foo", "validation.foo"]
KNOWN = [
    "actor_train.training_args.learning_rate",
    "actor_infer.strategy_args.strategy_config.tp",
    "custom_envs.a.b",
]


def test_only_keys_that_roll_has_are_known():
    assert [key for key in INVENTED if DIALECT.key(key) is not None] == []
    assert [key for key in KNOWN if DIALECT.key(key) is None] == []
    for key in (
        "generating_args.top_p",
        "generating_args.top_k",
        "training_args.gradient_accumulation_steps",
    ):
        assert key in DIALECT.keys.effects
