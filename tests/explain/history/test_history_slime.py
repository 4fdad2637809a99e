"""slime and miles by month: the values are read from the source at the last commit of each month."""

import pytest

from grpo_ref.explain.dialects import DIALECTS, miles, slime
from grpo_ref.explain.launch import launches
from grpo_ref.explain.trap import sprung

REFUSED = "refused"


def part(dialect, month, config, name):
    """Return a part of the recipe as text, or `REFUSED`."""
    try:
        return {"corrections": "()"} | dialect.at(month).recipe(**config).parts()
    except ValueError:
        return {name: REFUSED}


ICEPOP = "slime.backends.megatron_utils.loss.icepop_function"
# trainer, configuration, part -> month: the part in that month
BORDERS = {
    "eps_clip_c reaches the loss of slime on 2026-08-12": (
        *("slime", {"eps_clip_c": 3.0}, "surrogate"),
        {
            "2025-07": "clipped(clip_low=0.2, clip_high=0.2)",
            "2026-07": "clipped(clip_low=0.2, clip_high=0.2)",
            "2026-08": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
        },
    ),
    "eps_clip_c reaches the loss of miles on 2026-07-20": (
        *("miles", {"eps_clip_c": 3.0}, "surrogate"),
        {
            "2026-06": "clipped(clip_low=0.2, clip_high=0.2)",
            "2026-07": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
        },
    ),
    "cispo comes to slime on 2026-06-15": (
        *("slime", {"advantage_estimator": "cispo"}, "surrogate"),
        {"2026-05": REFUSED, "2026-06": "cispo(min_ratio=0.8, max_ratio=1.2)"},
    ),
    "miles has no cispo": ("miles", {"advantage_estimator": "cispo"}, "surrogate", {"": REFUSED}),
    "use_tis comes on 2025-08-28": (
        *("slime", {"use_tis": True}, "corrections"),
        {
            "2025-07": REFUSED,
            "2025-08": "(truncated(min_ratio=0.0, max_ratio=2.0, unknown=nan))",
        },
    ),
    "calculate_per_token_loss comes on 2025-09-11": (
        *("slime", {"calculate_per_token_loss": True}, "aggregate"),
        {"2025-08": REFUSED, "2025-09": "token_mean_of_any"},
    ),
    "a function of one's own for use_tis comes in October 2025": (
        *("slime", {"use_tis": True, "custom_tis_function_path": ICEPOP}, "corrections"),
        {"2025-09": REFUSED, "2025-10": "(masked(min_ratio=0.0, max_ratio=2.0, unknown=nan))"},
    ),
    "use_opsm comes in December 2025": (
        *("slime", {"use_opsm": True}, "corrections"),
        {"2025-11": REFUSED, "2025-12": "(off_policy_mask_since_update(threshold=0.0001))"},
    ),
    "use_unbiased_kl comes in December 2025": (
        *("slime", {"use_kl_loss": True, "kl_loss_type": "k2", "use_unbiased_kl": True}, "penalty"),
        {"2025-11": REFUSED, "2025-12": "weighted_estimate(estimator=k2)"},
    ),
    "kl is the old name of k1": (
        *("slime", {"use_kl_loss": True, "kl_loss_type": "kl"}, "penalty"),
        {"2025-08": "k1", "": "k1"},
    ),
}


@pytest.mark.parametrize(
    ("trainer", "config", "name", "month", "expected"),
    [
        pytest.param(trainer, config, name, month, expected, id=f"{row}: {month}")
        for row, (trainer, config, name, months) in BORDERS.items()
        for month, expected in months.items()
    ],
)
def test_a_border(trainer, config, name, month, expected):
    assert part(DIALECTS[trainer], month, config, name)[name] == expected


def warned(dialect, month, config):
    release = dialect.at(month)
    return [trap.name for trap in sprung(release.traps, release.settings(config), release.given(config))]


STALE = "train_async.py and fully_async: completions are stale, and nothing corrects it"
RETURNS = {"kl_coef": 0.1, "advantage_estimator": "reinforce_plus_plus", "normalize_advantages": True}
# the beginning of a trap's name, trainer, configuration -> months with the trap, months without it
TRAPS = {
    "eps_clip_c is accepted": ("slime", {"eps_clip_c": 3.0}, ["2025-07", "2026-07"], ["2026-08", ""]),
    "calculate_per_token_loss multiplies": (
        *("slime", {"calculate_per_token_loss": True}),
        *(["2025-09", "2025-11"], ["2025-12", ""]),
    ),
    "kl_coef counts masked": ("slime", RETURNS, ["2025-07", "2025-12"], ["2026-01", ""]),
    "train_async.py": ("slime", {"train_async": True}, ["2025-07", ""], []),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_belongs_to_the_months_with_the_error(name):
    trainer, config, inside, outside = TRAPS[name]
    with_it = [
        month
        for month in (*inside, *outside)
        if any(title.startswith(name) for title in warned(DIALECTS[trainer], month, config))
    ]
    assert with_it == inside


def test_miles_still_counts_masked_tokens():
    """`get_reinforce_plus_plus_returns` of miles at 31f1ca96 starts with -kl_coef * full_kl_response."""
    assert any(title.startswith("kl_coef counts masked") for title in warned(miles.DIALECT, "", RETURNS))


@pytest.mark.parametrize("corrected", ["use_tis", "use_rollout_logprobs", "keep_old_actor"])
def test_stale_completions_are_a_trap_unless_the_sampler_is_compared_with(corrected):
    config = {"train_async": True, "n_samples_per_prompt": 8}
    assert STALE in warned(slime.DIALECT, "", config)
    assert STALE not in warned(slime.DIALECT, "", config | {corrected: True})
    path = "slime.rollout.fully_async_rollout.generate_rollout_fully_async"
    assert STALE in warned(slime.DIALECT, "", {"rollout_function_path": path})
    assert STALE in warned(miles.DIALECT, "", {"fully_async": True})


FLAGS = "--n-samples-per-prompt 8 --advantage-estimator grpo --eps-clip 0.2 --use-kl-loss --kl-loss-coef 0.1"


def test_the_scripts_of_slime_are_its_own_if_the_keys_are():
    (launch,) = launches(f"python3 train_async.py {FLAGS}", "run.sh")
    assert (launch.trainer, launch.program, launch.keys["train_async"]) == ("slime", "", True)
    (launch,) = launches(f"python3 /root/slime/train.py {FLAGS}", "run.sh")
    assert (launch.trainer, launch.program, "train_async" in launch.keys) == ("slime", "", False)
    (launch,) = launches(f"python3 my_train.py {FLAGS}", "run.sh")
    assert (launch.trainer, launch.program) == ("slime", "my_train.py")


def test_a_function_in_the_package_miles_tells_miles_from_slime():
    (launch,) = launches(f"python3 train.py {FLAGS} --custom-rm-path miles.rollout.rm.score", "run.sh")
    assert launch.trainer == "miles"
    (launch,) = launches(f"python3 train.py {FLAGS} --custom-rm-path slime.rollout.rm.score", "run.sh")
    assert launch.trainer == "slime"


def test_miles_has_its_own_names_of_functions():
    ours = "miles.backends.training_utils.loss_hub.corrections.icepop_function"
    corrected = miles.recipe(use_tis=True, custom_tis_function_path=ours)
    assert corrected.parts()["corrections"] == "(masked(min_ratio=0.0, max_ratio=2.0, unknown=nan))"
    with pytest.raises(ValueError, match=f"custom_tis_function_path: expected one of None, '{ours[:20]}"):
        miles.recipe(custom_tis_function_path=ICEPOP)
    assert miles.DIALECT.key("custom_advantage_function_path") is None
    assert slime.DIALECT.key("custom_advantage_function_path") is not None


def test_invented_and_deciding_keys_are_not_harmless():
    assert slime.DIALECT.key("rollout_foo") is None
    for key in (
        "rollout_top_p",
        "rollout_top_k",
        "update_weights_interval",
        "partial_rollout",
        "keep_old_actor",
    ):
        assert key in slime.DIALECT.keys.effects
