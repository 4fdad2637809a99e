"""The checks of Tunix, when a configuration is made or in the first step."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.tunix.keys import BUFFER, NOT_SET, OVERLONG

DAPO = "DAPOConfig"
CLASSES = ("GRPOConfig", DAPO, "DrGRPOConfig")
ESTIMATORS = ("grpo", "rloo", "drgrpo")
ALGORITHMS = ("grpo", "gspo-token")


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that Tunix refuses, or that no recipe can express.

    Args:
      settings: every key with its value.

    Tunix `GRPOConfig`, `DAPOConfig` and their learners, `grpo_loss_fn`, `aggregate_loss`.
    """
    one_of("training_mode", settings["training_mode"], dict.fromkeys(("grpo", "agentic_grpo")))
    one_of("config_class", settings["config_class"], dict.fromkeys(CLASSES))
    is_agentic, is_dapo = settings["training_mode"] == "agentic_grpo", settings["config_class"] == DAPO
    expect(
        not is_agentic or settings["config_class"] == "GRPOConfig",
        f"config_class: Tunix refuses {settings['config_class']} for agentic_grpo, which has a class of its own",
    )
    _check_functions(settings, is_dapo)
    _check_fields(settings, is_agentic, is_dapo)
    _check_penalty(settings)
    _check_numbers(settings)
    if is_dapo:
        _check_dapo(settings)


def _check_functions(settings: Mapping[str, Any], is_dapo: bool) -> None:
    """Check names of functions. A script may register more."""
    loss, estimator = settings["policy_loss_fn"], settings["advantage_estimator"]
    expect(loss != "ppo", "policy_loss_fn: Tunix refuses ppo for GRPO, whose configurations lack its keys")
    expect(
        loss == "grpo", f"policy_loss_fn: {loss} cannot be expressed here, it is a function of the user's own"
    )
    expect(estimator != "gae", "advantage_estimator: Tunix refuses gae for GRPO, it needs a critic's values")
    expect(
        estimator in ESTIMATORS,
        f"advantage_estimator: {estimator} cannot be expressed here; expected one of {', '.join(ESTIMATORS)}",
    )
    expect(
        settings["config_class"] != "DrGRPOConfig" or estimator == "drgrpo",
        "advantage_estimator: Tunix refuses it for DrGRPOConfig, which has no such argument",
    )
    if not is_dapo:
        one_of("loss_algo", settings["loss_algo"], dict.fromkeys(ALGORITHMS))


def _check_fields(settings: Mapping[str, Any], is_agentic: bool, is_dapo: bool) -> None:
    """Check fields that only some of the classes have, and the smallest number of completions."""
    plain = settings["config_class"] if not is_agentic else "agentic_grpo"
    own = {
        "epsilon_high": (is_agentic or is_dapo, None),
        "max_response_length": (is_agentic, None),
        "overlong_filter": (is_agentic, False),
        "dynamic_sampling": (is_dapo, NOT_SET),
        **{key: (is_dapo, NOT_SET) for key in ("overlong_buffer", *(f"{BUFFER}{name}" for name in OVERLONG))},
    }
    for key, (has, absent) in own.items():
        expect(
            has or settings[key] == absent, f"{key}: Tunix refuses it for {plain}, which has no such field"
        )
    count = settings["num_generations"]
    expect(is_dapo or count > 1, f"num_generations: Tunix refuses groups of fewer than 2, got {count}")
    correction = settings["sampler_is"]
    expect(
        is_agentic or is_dapo or correction in (None, "token"),
        f"sampler_is: Tunix refuses {correction!r}; expected None or 'token'",
    )


def _check_penalty(settings: Mapping[str, Any]) -> None:
    mode, limit = settings["kl_loss_mode"], settings["kl_clamp_value"]
    expect(
        settings["beta"] == 0.0 or mode in ("kl", "mse_kl", "low_var_kl"),
        f"kl_loss_mode: Tunix refuses {mode!r}; expected one of 'kl', 'mse_kl', 'low_var_kl'",
    )
    expect(
        limit is None or limit >= 0.0,
        f"kl_clamp_value: a limit below 0 cannot be expressed here, got {limit}",
    )


def _check_numbers(settings: Mapping[str, Any]) -> None:
    width, high = settings["epsilon"], settings["epsilon_high"]
    expect(
        settings["loss_algo"] != "gspo-token" or (width >= 0.0 and (high is None or high >= 0.0)),
        "epsilon: a width below 0 cannot be expressed here with gspo-token",
    )
    expect(
        settings["sampler_is_threshold"] >= 0.0,
        "sampler_is_threshold: a threshold below 0 cannot be expressed here",
    )
    packed = settings["rl_training_config.max_seq_token_per_tpu"] is not None
    expect(
        not packed or settings["loss_agg_mode"] != "sequence-mean-token-scale",
        "loss_agg_mode: Tunix refuses sequence-mean-token-scale where completions are packed",
    )


def _check_dapo(settings: Mapping[str, Any]) -> None:
    expect(settings["beta"] is None, f"beta: Tunix refuses it for DAPOConfig, got {settings['beta']}")
    low, high = settings["epsilon"], settings["epsilon_high"]
    expect(
        high is not None and high >= low,
        f"epsilon_high: Tunix refuses one below epsilon, got {high} and {low}",
    )
    told = overlong(settings)
    missing = [name for name, value in told.items() if value in (NOT_SET, None)]
    expect(not missing, f"overlong_buffer: Tunix refuses it without {', '.join(missing)}")
    expect(
        not told or (told["overlong_buffer_penalty"] >= 0.0 and told["overlong_buffer_length"] > 0),
        "overlong_buffer: Tunix refuses a penalty below 0, and a length that is not positive",
    )
    expect(
        not told or told["max_response_length"] > 0, "overlong_buffer: Tunix refuses a budget of 0 or less"
    )


def overlong(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole length penalty: DAPOConfig's own, or the given one; {} if it is off."""
    given = {name: settings[f"{BUFFER}{name}"] for name in OVERLONG}
    if settings["config_class"] != DAPO or settings["overlong_buffer"] is None:
        return {}
    if set(given.values()) == {NOT_SET}:
        return dict(OVERLONG)
    return given if given["enable"] not in (NOT_SET, False, None) else {}
