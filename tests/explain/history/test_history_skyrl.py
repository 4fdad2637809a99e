"""SkyRL by month: the values are read from the source at its tags and at the last commit of each month."""

import pytest

from grpo_ref.explain.dialect import NotExpressed
from grpo_ref.explain.dialects.skyrl import DIALECT
from grpo_ref.explain.trap import sprung

REFUSED = "refused"


def algorithm(**config):
    return {f"trainer.algorithm.{key}": value for key, value in config.items()}


CISPO = algorithm(policy_loss_type="cispo")
MICRO = {"trainer.micro_train_batch_size_per_gpu": 4}
GEOMETRIC = algorithm(**{"off_policy_correction.sequence_mask_metric": "geometric"})
# configuration, part -> month or tag: the part
BORDERS = {
    "the KL loss gets a gradient on 2026-03-20": (
        *({}, "kl_coef"),
        {
            "skyrl_train-v0.1.0": "0.0",
            "skyrl_train-v0.4.0": "0.0",
            "skyrl-v0.1.0": "0.0",
            "2026-02": "0.0",
            "2026-03": "0.001",
            "skyrl-v0.2.0": "0.001",
            "": "0.001",
        },
    ),
    "token_mean is taken over the mini-batch from 2026-03-31 on": (
        *(MICRO, "aggregate"),
        {
            "skyrl_train-v0.3.0": "micro_batch_token_mean(rows=4)",
            "2026-02": "micro_batch_token_mean(rows=4)",
            "2026-03": "token_mean",
            "": "token_mean",
        },
    ),
    "token_mean_legacy keeps the old mean": (
        *(algorithm(loss_reduction="token_mean_legacy") | MICRO, "aggregate"),
        {"2026-02": REFUSED, "2026-03": "micro_batch_token_mean(rows=4)"},
    ),
    "prompt_mean comes on 2026-06-01": (
        *(algorithm(loss_reduction="prompt_mean"), "aggregate"),
        {"2026-05": REFUSED, "2026-06": "prompt_mean"},
    ),
    "cispo comes on 2025-10-20, with a floor of 1 until 2026-07-18": (
        *(CISPO, "surrogate"),
        {
            "2025-09": REFUSED,
            "2025-10": "cispo(min_ratio=1.0, max_ratio=6.0)",
            "skyrl-v0.3.0": "cispo(min_ratio=1.0, max_ratio=6.0)",
            "2026-07": "cispo(min_ratio=0.0, max_ratio=5.0)",
            "": "cispo(min_ratio=0.0, max_ratio=5.0)",
        },
    ),
    "log-ratios are limited from 2025-09-05 on": (
        *({}, "log_ratio_limits"),
        {"2025-08": "(-inf, inf)", "2025-09": "(-20.0, 20.0)"},
    ),
    "sapo comes on 2025-12-10": (
        *(algorithm(policy_loss_type="sapo"), "surrogate"),
        {"2025-11": REFUSED, "2025-12": "sapo(tau_positive=1.0, tau_negative=1.05)"},
    ),
    "maxrl comes on 2026-03-29": (
        *(algorithm(advantage_estimator="maxrl"), "advantage"),
        {"2026-02": REFUSED, "2026-03": "mean_scaled(eps=1e-06, keep_singletons=True, keep_negative=True)"},
    ),
    "importance_sampling comes on 2026-02-05": (
        *(algorithm(policy_loss_type="importance_sampling"), "surrogate"),
        {"2026-01": REFUSED, "2026-02": "importance_weighted"},
    ),
    "rollout_is comes on 2026-03-12": (
        *(algorithm(policy_loss_type="rollout_is"), "surrogate"),
        {"2026-02": REFUSED, "2026-03": "rollout_is(clip_low=0.2, clip_high=0.2)"},
    ),
    "off_policy_correction comes on 2026-02-03": (
        *(GEOMETRIC, "corrections"),
        {
            "2026-01": REFUSED,
            "2026-02": "(indicator(level=sequence_mean_level, min_ratio=0.99, max_ratio=1.01, max_log_ratio=20.0,"  # noqa: E501
            " unknown=nan))",
        },
    ),
    "zero_variance_filter comes on 2026-01-01, exact until 2026-06-18": (
        *(algorithm(zero_variance_filter=True), "admit"),
        {"2025-12": REFUSED, "2026-01": "contrasted(tol=0.0)", "2026-06": "contrasted(tol=1e-06)"},
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
        with pytest.raises(ValueError, match=r"expected one of|has no key"):
            dialect.recipe(**config)
    else:
        recipe = dialect.recipe(**config)
        parts = {"corrections": "()", "log_ratio_limits": str(recipe.log_ratio_limits)} | recipe.parts()
        assert parts[name] == expected


def warned(month, config):
    release = DIALECT.at(month)
    return {trap.name for trap in sprung(release.traps, release.settings(config), release.given(config))}


# configuration, trap -> months with the trap, months without it
TRAPS = {
    "use_kl_loss has no gradient": ({}, ["2025-08", "2026-02"], ["2026-03", "2026-07", ""]),
    "use_kl_loss is on by default, averaged per completion": ({}, ["2026-03", ""], ["2025-08", "2026-02"]),
    "loss_reduction=token_mean is taken over each micro-batch": ({}, ["2025-08", "2026-02"], ["2026-03", ""]),
    "cispo_eps_clip_low is 0, so weights below 1 become 1": (CISPO, ["2025-10", "2026-06"], ["2026-07", ""]),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_belongs_to_the_months_with_the_error(trap):
    config, inside, outside = TRAPS[trap]
    assert [month for month in (*inside, *outside) if trap in warned(month, config)] == inside


def test_the_set_of_the_average_changes_with_token_mean():
    before, after = DIALECT.at("2026-02"), DIALECT.at("2026-03")
    assert (
        before.objective.averages(before.settings({})).text
        == "each micro-batch of each rank, and then over these"
    )
    assert "mini-batch" in after.objective.averages(after.settings({})).text


INVENTED = [
    "data.foo_bar",
    "trainer.policy.optimizer_config.foo",
    "generator.inference_engine.foo",
    "environment.foo",
]


def test_turns_as_sequences_are_not_expressed_before_their_source_was_read():
    for month in ("2025-08", "2026-07"):
        with pytest.raises(NotExpressed, match="each turn becomes a sequence of its own"):
            DIALECT.at(month).recipe(step_wise_trajectories=True)
    assert DIALECT.recipe(step_wise_trajectories=True)


def test_only_keys_that_skyrl_has_are_known():
    assert [key for key in INVENTED if DIALECT.key(key) is not None] == []
    for key in (
        "data.train_data",
        "trainer.policy.optimizer_config.lr",
        "trainer.ref.fsdp_config.cpu_offload",
    ):
        assert DIALECT.key(key) is not None
    for key in (
        "top_p",
        "top_k",
        "min_p",
        "epochs",
        "fully_async.enabled",
        "max_staleness_steps",
        "train_batch_size",
    ):
        assert "does not touch" not in DIALECT.keys.effects[key]


def test_the_old_place_of_the_samplers_keys_tells_an_older_month():
    assert DIALECT.fitting(["generator.num_inference_engines"])[-1].release == "2026-04"
    gpus = {"trainer.placement.policy_num_gpus_per_node": 4, "generator.num_inference_engines": 4}
    DIALECT.at("2026-02").recipe(**gpus)
