"""Find the recorded cases of a trainer's release: level 4, for names such as "trl==1.9.0"."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from grpo_conformance.choices import Configuration, not_recorded
from grpo_conformance.releases.store import read
from grpo_conformance.vector import Vector, numbers

PROJECTS = ("trl", "verl")
"""Trainers of which every release was recorded."""
RTOL = 1e-4
"""Relative tolerance: the releases computed in float32."""
USUAL = "vanilla"
"""The policy loss of verl if none is chosen."""
# Keys that say how a batch is cut, not what is computed from it. Every recorded loss is that of one micro-batch.
CUT = {
    *("per_device_train_batch_size", "gradient_accumulation_steps", "steps_per_generation", "num_iterations"),
    *("num_generations", "max_completion_length", "rollout_n", "global_batch_info"),
    *("ppo_epochs", "ppo_mini_batch_size", "ppo_micro_batch_size", "ppo_micro_batch_size_per_gpu"),
}
# Keys whose effect comes before the arrays that a loss gets, or needs arrays that were not recorded.
OUTSIDE = {
    "mask_truncated_completions": False,
    "temperature": 1.0,
    "entropy_coef": 0.0,
    "top_entropy_quantile": 1.0,
    "use_liger_loss": False,
    "rollout_weights": False,
}


def vectors_of(project: str, release: str, keys: Mapping[str, Any]) -> list[Vector]:
    """Return the recorded losses of a release with a configuration.

    Args:
      project: "trl" or "verl".
      release: the release, such as "1.9.0".
      keys: configuration keys. The others have the values of `fixed(project)`, in every release.

    Raises:
      ValueError: if the release or a key is unknown, or nothing was recorded; the message says what there is.
    """
    document = read(project)
    if release not in document["releases"]:
        raise ValueError(
            f"{project}: expected one of the releases {', '.join(document['releases'])}; got {release!r}"
        )
    if cut := [key for key in keys if key in CUT]:
        raise ValueError(
            f"{project}=={release}: leave out {cut[0]!r}; every recorded loss is that of one micro-batch, and your function"
            " gets sizes such as group_size and max_length with its arrays"
        )
    losses = [(case, span) for case in _losses(project) if (span := _span(document, case, release))]
    wanted = {**fixed(project), **keys}
    chosen = [(case, span) for case, span in losses if {**fixed(project), **_keys(case)} == wanted]
    if not chosen:
        for key in keys:
            _check_release(document, release, key)
        recorded = [Configuration(_own(case), {**fixed(project), **_keys(case)}) for case, _ in losses]
        raise not_recorded(f"{project}=={release}", keys, recorded)
    return [vector for case, span in chosen for vector in _vectors(document, release, case, span)]


@cache
def fixed(project: str) -> dict[str, Any]:
    """Return the values of the keys that a recorded case does not set, the same for all releases."""
    values: dict[str, Any] = {}
    for case in _losses(project):
        values |= {key: value for key, value in _keys(case).items() if key not in _own(case)}
    return values


@cache
def _losses(project: str) -> tuple[dict[str, Any], ...]:
    """Return the cases that are the loss of one micro-batch, and that a loss function can repeat from its arrays."""
    return tuple(
        case
        for case in read(project)["cases"]
        if case.get("call", "policy_loss") == "policy_loss"
        and case["micro_batches"] == 1
        and case.get("scripted", {}).get("pins", True)
        and all(_keys(case).get(key, usual) == usual for key, usual in OUTSIDE.items())
    )


def _keys(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a case that affect the loss. Those in verl's group `policy_loss` are given by their own names."""
    keys = {key: value for key, value in case["keys"].items() if key not in CUT}
    inner = keys.pop("policy_loss", {})
    return {**keys, **inner}


def _own(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that a case sets for itself. Another loss than verl's "vanilla" is one of them."""
    keys = _keys(case)
    own = {*case["own"]} | ({"loss_mode"} if keys.get("loss_mode", USUAL) != USUAL else set())
    return {key: value for key, value in keys.items() if key in own}


def _check_release(document: Mapping[str, Any], release: str, key: str) -> None:
    """Raise a ValueError if cases set a key, but none of those that run in this release."""
    cases = [case for case in _losses(document["project"]) if key in _own(case)]
    running = [each for each in document["releases"] if any(_span(document, case, each) for case in cases)]
    if running and release not in running:
        raise ValueError(
            f"{document['project']}=={release}: no recorded case sets {key!r}; the first release with such a case"
            f" is {running[0]}, the last {running[-1]}"
        )


def _span(document: Mapping[str, Any], case: Mapping[str, Any], release: str) -> dict[str, Any] | None:
    """Return the numbers of a case in a release; None if the release cannot run the case."""
    order = document["releases"].index
    span: dict[str, Any] = next(
        span for span in case["spans"] if order(span["from"]) <= order(release) <= order(span["to"])
    )
    return span if span["status"] == "runs" else None


def _vectors(
    document: Mapping[str, Any], release: str, case: Mapping[str, Any], span: Mapping[str, Any]
) -> Iterator[Vector]:
    project, keys = document["project"], _keys(case)
    for name, computed in span["batches"].items():
        batch = document["batches"][f"{case['on']} {name}"]
        loss = computed["loss"]
        if loss is None or not np.isfinite(numbers(loss)):
            continue
        log_probs = numbers(batch["log_probs"])
        inputs = {
            "log_probs": log_probs,
            "old_log_probs": log_probs.copy() if span.get("on_policy") else numbers(batch["old_log_probs"]),
            "advantages": numbers(computed["advantages"] or batch["advantages"]),
            "mask": numbers(batch["mask"]),
            "group_size": batch["group_size"],
            "max_length": case["keys"].get("max_completion_length", log_probs.shape[-1]),
        }
        if keys.get("beta"):
            inputs["ref_log_probs"] = numbers(batch["ref_log_probs"])
        if keys.get("vllm_importance_sampling_correction"):
            inputs["rollout_log_probs"] = numbers(batch["rollout_log_probs"])
        # The gradient is summed over the optimizer steps of a batch, which are equal: the learning rate is 0.
        gradient = numbers(computed["gradient"]) / case["steps"]
        if inputs["advantages"].ndim == 1:
            yield Vector(
                level=4,
                name=f"{project}=={release}",
                id=f"{case['case']}, batch {name}",
                settings=_own(case),
                inputs=inputs,
                expected={"loss": numbers(loss), "gradient": gradient},
                rtol=RTOL,
                detached=True,
                origins=(
                    {"trainer": project, "version": f"{release}, {span['from']} to {span['to']} are equal"},
                ),
            )
