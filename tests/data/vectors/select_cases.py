"""Write the vectors of conformance/grpo_conformance/vectors: `python -m data.vectors.select_cases` in tests/.

A vector is a recorded case of a trainer whose configuration is a named algorithm. The dialect says which
recipe a configuration is; the tables beside this file say which recipe a name is. Every number of a vector is
copied from the recording: nothing here computes a loss. If several trainers computed one algorithm on the
same arrays, the vector has the numbers of one of them, names all of them, and has the largest difference.

A limit that no number of a case reaches changes nothing, so it is omitted before recipes are compared: verl
limits a log-ratio to 20, for instance. `without_idle_limits` has the list.
"""

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.explain.dialect import BONUS
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.files import replace_text
from grpo_ref.filters import all_completions
from grpo_ref.parity.replay import read, record_of, shipped
from grpo_ref.recipes import Recipe, Slot
from grpo_ref.recipes.identity import simplified, with_defaults
from grpo_ref.rewards import task_reward

HERE = Path(__file__).parent
VECTORS = Path(__file__).parents[3] / "conformance" / "grpo_conformance" / "vectors"
DEFAULTS = VECTORS.parent / "trainer_defaults.json"
SCHEMA = 1
LARGEST = 19.9
"""Largest log-ratio of a vector, in nats. verl, for instance, limits it to 20; beyond it, trainers differ."""
KEYS_OF_A_STEP = ("gradient_accumulation_steps", "steps_per_generation", "num_iterations")
"""Keys with which a recorded loss may be a sum over micro-batches."""
ARRAYS = (
    "log_probs",
    "old_log_probs",
    "ref_log_probs",
    "rollout_log_probs",
    "entropies",
    "advantages",
    "mask",
)


class Found(NamedTuple):
    """A recorded case that computes a named algorithm.

    Attributes:
      settings: the algorithm's settings.
      inputs: the arrays that the algorithm reads, as nested lists.
      expected: the recorded numbers, by name.
      rtol: relative tolerance.
      origin: the trainer, call, configuration and precision.
      batch: name of the arrays, for the id.
    """

    settings: dict[str, float]
    inputs: dict[str, Any]
    expected: dict[str, Any]
    rtol: float
    origin: dict[str, Any]
    batch: str


# ---- recorded cases --------------------------------------------------------------------------------


def recorded_cases(*calls: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield the recorded cases of these calls that have numbers, with their arrays and their file's head."""
    for inputs, cases, head in recorded_files():
        for case in cases:
            if case["call"] in calls and "refused" not in case:
                yield case, {**inputs, **case.get("inputs", {})}, head


@cache
def recorded_files() -> list[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]]:
    """Return the inputs, cases and head of each file. Every kind of vector looks through all files."""
    return [
        (*read(path), json.loads(path.read_text(encoding="utf-8")).get("recorded", {})) for path in shipped()
    ]


def origin_of(case: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """Return who computed a case: the trainer with its version, the call and the configuration."""
    version = head.get("trainer") or head.get("versions") or case.get("commit") or ""
    version = f"{version} {head['commit']}" if "commit" in head else version
    platform = (head.get("torch") and f"PyTorch {head['torch']}") or (
        head.get("jax") and f"JAX {head['jax']}"
    )
    return {
        "trainer": case["trainer"],
        "version": version,
        "platform": platform or head.get("with") or "PyTorch 2.13.0, CPU",
        "call": case["call"],
        "config": case["config"],
        "precision": case.get("dtype", "float64"),
        "case": case["id"],
    }


# ---- recipes ---------------------------------------------------------------------------------------


def without_idle_limits(recipe: Recipe, arrays: Mapping[str, Any]) -> Recipe:
    """Return the recipe without the limits that no number of the arrays reaches.

    Args:
      recipe: the recipe of a configuration.
      arrays: (N, T) arrays of the case, by name.
    """
    counted = arrays["mask"] > 0
    farthest = distance(arrays, "log_probs", "old_log_probs", counted)
    low, high = recipe.log_ratio_limits
    if farthest <= min(-low, high):
        recipe = replace(recipe, log_ratio_limits=(-math.inf, math.inf))
    sampler = distance(arrays, "old_log_probs", "rollout_log_probs", counted)
    reference = distance(arrays, "ref_log_probs", "log_probs", counted)
    idle: dict[str, Any] = {}
    if counted.any(-1).all():
        idle |= {"count_empty": True}
    if counted.any():
        idle |= {"aggregate eps": 0.0}
    recipe = replace(
        recipe,
        surrogate=relaxed(recipe.surrogate, farthest, {}),
        penalty=relaxed(recipe.penalty, reference, {}),
        aggregate=averaged(recipe.aggregate, counted),
        corrections=tuple(
            relaxed(part, sampler, {"unknown": 0.0} if math.isfinite(sampler) else {})
            for part in recipe.corrections
            if not (part.kernel.__name__ == "unless_first_is_empty" and counted[0].any())
        ),
    )
    if recipe.penalty_aggregate is not None:
        recipe = replace(recipe, penalty_aggregate=averaged(recipe.penalty_aggregate, counted))
    return recipe


def distance(arrays: Mapping[str, Any], first: str, second: str, counted: Any) -> float:
    """Return the largest sum of |first - second| over a completion's tokens; infinite if one is missing."""
    if first not in arrays or second not in arrays:
        return math.inf
    apart = np.where(counted, np.abs(arrays[first] - arrays[second]), 0.0).sum(-1)
    return float(apart.max()) if np.isfinite(apart).all() else math.inf


def relaxed(part: Slot, farthest: float, others: Mapping[str, Any]) -> Slot:
    """Return the part without limits of a log-ratio that is at most `farthest` nats."""
    settings = with_defaults(part).settings | {
        name: value for name, value in others.items() if name in with_defaults(part).settings
    }
    for name in ("max_log_ratio", "max_token_log_ratio"):
        if settings.get(name, math.inf) >= farthest:
            settings = {**settings, **({name: math.inf} if name in settings else {})}
    # k3 is at most exp(x) - x - 1 at a distance of x nats.
    if (
        "max_value" in settings
        and farthest < 20.0
        and math.exp(farthest) - farthest - 1.0 < settings["max_value"]
    ):
        settings = {**settings, **({"max_value": math.inf} if "max_value" in settings else {})}
    return Slot(part.kernel, settings)


def averaged(part: Slot, counted: Any) -> Slot:
    """Return the average without its rules for completions, or batches, without tokens if there are none."""
    settings = with_defaults(part).settings
    if "count_empty" in settings and counted.any(-1).all():
        settings = {**settings, "count_empty": True}
    # A guard of 1e-8 beside at least one token changes the eighth digit, which is below the tolerance.
    if 0.0 < settings.get("eps", 0.0) <= 1e-8 and counted.any(-1).all():
        settings = {**settings, "eps": 0.0}
    return Slot(part.kernel, settings)


SAME = {"vespo_in_limits": "vespo"}
"""A trainer's own kernel -> the kernel that it equals within its limits and away from ties."""


def settings_of(recipe: Recipe, algorithm: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the algorithm's settings in a recipe; None if the recipe computes another algorithm."""
    parts = algorithm["parts"]
    found = {
        "surrogate": recipe.surrogate,
        "aggregate": recipe.aggregate,
        **({"penalty": recipe.penalty} if recipe.kl_coef else {}),
        **{name_of(part): part for part in recipe.corrections},
    }
    wanted = {"surrogate": parts["surrogate"], "aggregate": parts["aggregate"]}
    wanted |= {"penalty": parts["penalty"]} if recipe.kl_coef and "penalty" in parts else {}
    wanted |= {name: name for name in parts.get("corrections", ())}
    if parts["surrogate"] != name_of(recipe.surrogate) or parts["aggregate"] != name_of(recipe.aggregate):
        return None
    if {name: name_of(part) for name, part in found.items()} != wanted:
        return None
    if "level" in parts and recipe.level.__name__ != parts["level"]:
        return None
    if recipe.penalty_aggregate not in (None, recipe.aggregate) and recipe.kl_coef:
        return None
    if "level" in parts and recipe.log_ratio_limits != (-math.inf, math.inf):
        return None
    values: dict[str, Any] = {"kl_coef": recipe.kl_coef}
    for name, part in found.items():
        values |= {f"{name}.{setting}": value for setting, value in with_defaults(part).settings.items()}
    chosen = {name: values.pop(place) for name, place in algorithm["at"].items()}
    values.pop("kl_coef", None)
    fixed = {"masked.level", "truncated.level"}
    for place, value in values.items():
        part, setting = place.split(".")
        usual = with_defaults(Slot(found[part].kernel)).settings.get(setting)
        if place in fixed:
            usual_name = parts.get("correction_level", "token_level")
            if value.__name__ != usual_name:
                return None
        elif value != usual:
            return None
    if any(chosen[name] <= 0.0 for name in algorithm.get("positive", ())):
        return None
    # Below 1 + clip_high the cap of a dual clip acts on other tokens too, in some trainers.
    if chosen.get("max_ratio", math.inf) < 1.0 + chosen.get("clip_high", -1.0):
        return None
    return chosen


def name_of(part: Slot) -> str:
    return SAME.get(part.kernel.__name__, part.kernel.__name__)


# ---- losses ----------------------------------------------------------------------------------------


def found_losses(algorithms: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Found]]:
    """Return the recorded losses of each algorithm."""
    found: dict[str, list[Found]] = {name: [] for name in algorithms}
    kernels = {algorithm["parts"]["surrogate"] for algorithm in algorithms.values()} | {"two_sided_clipped"}
    for case, inputs, head in recorded_cases("loss"):
        dialect = DIALECTS[case["trainer"]].at(case.get("release", ""))
        if any(key in case["config"] for key in KEYS_OF_A_STEP) or "num_items_in_batch" in case["given"]:
            continue
        if dialect.concept(BONUS, case["config"], 0.0):
            continue
        arrays = arrays_of(case, inputs)
        if arrays is None:
            continue
        recipe = dialect.recipe(**case["config"])
        if name_of(recipe.surrogate) not in kernels:
            continue
        recipe = simplified(without_idle_limits(recipe, arrays))
        # In a bypass mode the call puts the sampler in place of the old policy: that is not part of a recipe.
        if "rollout_log_probs" in arrays and "rollout_log_probs" not in recipe.reads:
            continue
        if recipe.admit.kernel is not all_completions:
            continue
        for name, algorithm in algorithms.items():
            settings = settings_of(recipe, algorithm)
            if settings is None:
                continue
            if algorithm.get("nonempty") and not arrays["mask"].any(-1).all():
                continue
            budget = next(iter(dialect.budget(case["config"]).values()), None)
            read_here = inputs_of(algorithm, settings, arrays, inputs["group_size"], budget)
            if read_here is None:
                continue
            expected = {"loss": case["loss"], "gradient": case["grad_logp"]}
            if not np.isfinite(expected["gradient"]).all() or not np.isfinite(float(expected["loss"])):
                continue
            rtol = max(case.get("rtol", 1e-6), 1e-5 if case.get("dtype") == "float32" else 1e-6)
            batch = batch_name(case)
            found[name].append(Found(settings, read_here, expected, rtol, origin_of(case, head), batch))
    return found


def arrays_of(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the (N, T) arrays of a case, or None if its numbers are too far from one another."""
    record = vars(record_of(case, inputs))
    arrays = {name: array.reshape(-1, *array.shape[2:]) for name, array in record.items() if name in ARRAYS}
    if arrays["advantages"].ndim != 1:
        return None
    arrays.setdefault("old_log_probs", arrays["log_probs"])
    counted = arrays["mask"] > 0
    for name in ("old_log_probs", "ref_log_probs", "rollout_log_probs"):
        apart = np.abs(arrays.get(name, arrays["log_probs"]) - arrays["log_probs"])[counted]
        if not (apart <= LARGEST).all():
            return None
    return arrays


def inputs_of(
    algorithm: Mapping[str, Any],
    settings: Mapping[str, float],
    arrays: Mapping[str, Any],
    group_size: int,
    budget: int | None,
) -> dict[str, Any] | None:
    """Return the inputs that an algorithm reads, as nested lists; None if the case lacks one."""
    reads = [name for name in algorithm.get("reads", ()) if name != "ref_log_probs" or settings["kl_coef"]]
    names = ["log_probs", "old_log_probs", "advantages", "mask", *(name for name in reads if name in ARRAYS)]
    if not set(names) <= set(arrays):
        return None
    inputs: dict[str, Any] = {name: plain(arrays[name]) for name in names}
    inputs["mask"] = arrays["mask"].astype(int).tolist()
    if "max_length" in reads:
        inputs["max_length"] = int(budget or arrays["mask"].shape[-1])
    if "group_size" in reads:
        inputs["group_size"] = group_size
    return inputs


def plain(array: Any) -> list[Any]:
    return np.asarray(array, dtype=float).tolist()


BATCHES = {
    "mask": "lengths that differ",
    "mask_holes": "holes in the mask",
    "mask_empty": "two empty completions",
    "mask_first_empty": "the first completion empty",
    "mask_with_empty_row": "an empty completion",
    "mask_single": "one token",
    "mask_none": "no token",
    "logp_at_bounds": "ratios at usual bounds",
    "logp_limited": "ratios up to exp(20)",
    "ref_logp_far": "a reference far away",
    "sampler_logp_far": "a sampler far away",
    "sampler_logp_nan": "a sampler with NaN",
    "entropy_equal": "equal entropies",
}
"""Name of a recorded array -> what is special about it."""


def batch_name(case: Mapping[str, Any]) -> str:
    """Return a description of the arrays of a case."""
    given = case["given"]
    batch, _, array = next(iter(given.values())).partition(": ")
    if array:
        return batch  # of algorithm_batches.py, whose names have this form
    words = [BATCHES[source] for source in given.values() if source in BATCHES]
    if "old_log_probs" not in given and "log_probs" in given:
        words.append("on policy")
    return ", ".join(words) or "lengths that differ"


# ---- advantages, averages, penalties and corrections -----------------------------------------------


def found_advantages(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Found]]:
    """Return the recorded advantages of each name."""
    matches: dict[str, list[Found]] = {name: [] for name in tables}
    for case, inputs, head in recorded_cases("advantages"):
        recipe = DIALECTS[case["trainer"]].at(case.get("release", "")).recipe(**case["config"])
        if recipe.reward.kernel is not task_reward or case.get("axes") == ["token", "completion"]:
            continue
        record = vars(record_of(case, inputs))
        for name, table in tables.items():
            settings = slot_settings(recipe.advantage, table, ("keep_singletons",))
            names = [
                each
                for each in ("rewards", *table.get("reads", ()))
                if each != "rewards" or not COMPONENTS & {*table.get("reads", ())}
            ]
            if settings is None or not {*names} <= {*record}:
                continue
            if not all(np.isfinite(record[each]).all() for each in names) or "mask" not in record:
                continue
            if inputs["group_size"] == 1:
                continue
            size, mask = inputs["group_size"], record["mask"].reshape(-1, record["mask"].shape[-1])
            value = per_completion(case, mask) if table["per"] == "completion" else case["value"]
            if value is None or np.ndim(value) != (1 if table["per"] == "completion" else 2):
                continue
            arrays = {each: plain(flat_array(each, record[each])) for each in names if each != "mask"}
            arrays |= {"mask": mask.astype(int).tolist()} if "mask" in names else {}
            rtol = max(case.get("rtol", 1e-6), 1e-5 if case.get("dtype") == "float32" else 1e-6)
            if rtol > 1e-5 or not np.isfinite(np.array(value, dtype=float)).all():
                continue
            matches[name].append(
                Found(
                    settings,
                    {**arrays, "group_size": size},
                    {"value": value},
                    rtol,
                    origin_of(case, head),
                    reward_name(case),
                )
            )
    return matches


COMPONENTS = {"components"}
REWARDS = {
    "rewards": "different rewards",
    "rewards_some_equal": "groups of equal rewards",
    "rewards_all_equal": "all rewards equal",
    "rewards_tied": "ties",
    "rewards_huge": "rewards of very different size",
    "rewards_per_func": "three reward functions",
}


def reward_name(case: Mapping[str, Any]) -> str:
    """Return a description of the rewards of a case, and of its mask where it is a special one."""
    given = case["given"]
    words = [REWARDS.get(given.get("rewards", given.get("components", "")), "rewards")]
    words += [BATCHES[given["mask"]]] if BATCHES.get(given.get("mask")) and given["mask"] != "mask" else []
    return ", ".join(words)


def flat_array(name: str, array: Any) -> Any:
    return array if name == "weights" else array.reshape(-1, *array.shape[2:])


def per_completion(case: Mapping[str, Any], mask: Any) -> list[float] | None:
    """Return one value per completion if each one has tokens, with equal values; else None."""
    value = np.array(case["value"], dtype=float)
    if value.ndim == 1:
        return value.tolist()
    counted = mask > 0
    if not counted.any(-1).all():
        return None
    first = value[np.arange(len(value)), counted.argmax(-1)]
    return first.tolist() if (value == first[:, None])[counted].all() else None


def slot_settings(part: Slot, table: Mapping[str, Any], ignored: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the settings of a kernel, without those that do nothing here; None if it is another kernel."""
    if part.kernel.__name__ != table["kernel"]:
        return None
    settings = {name: value for name, value in with_defaults(part).settings.items() if name not in ignored}
    return settings if settings.keys() == table.get("settings", {}).keys() else None


def found_averages(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Found]]:
    """Return the recorded averages of each name."""
    matches: dict[str, list[Found]] = {name: [] for name in tables}
    for case, inputs, head in recorded_cases("average"):
        record = vars(record_of(case, inputs))
        values, mask = (record[name].reshape(-1, record[name].shape[-1]) for name in ("values", "mask"))
        part = averaged(DIALECTS[case["trainer"]].recipe(**case["config"]).aggregate, mask > 0)
        for name, table in tables.items():
            if part.kernel.__name__ != table["kernel"] or not np.isfinite(float(case["loss"])):
                continue
            arrays: dict[str, Any] = {"values": plain(values), "mask": mask.astype(int).tolist()}
            arrays |= {"max_length": mask.shape[1]} if "max_length" in table.get("reads", ()) else {}
            expected = {"loss": case["loss"], "gradient": case["grad_logp"]}
            matches[name].append(Found({}, arrays, expected, 1e-6, origin_of(case, head), batch_name(case)))
    return matches


def matrices(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the (N, T) arrays of a case."""
    record = {name: array for name, array in vars(record_of(case, inputs)).items() if array is not None}
    return {name: array.reshape(-1, array.shape[-1]) for name, array in record.items()}


def found_penalties(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Found]]:
    """Return the recorded penalties of each name, with the gradient where the sum was differentiated too."""
    matches: dict[str, list[Found]] = {name: [] for name in tables}
    summed = {case["id"]: case for case, _, _ in recorded_cases("penalty")}
    for case, inputs, head in recorded_cases("penalty values"):
        gradient = summed.get(f"{case['id']}, summed")
        if "mask" not in case["given"] or gradient is None:
            continue
        record = matrices(case, inputs)
        far = distance(record, "ref_log_probs", "log_probs", record["mask"] > 0)
        part = relaxed(DIALECTS[case["trainer"]].recipe(**case["config"]).penalty, far, {})
        for name, table in tables.items():
            estimator = getattr(part.settings.get("estimator"), "__name__", None)
            if part.kernel.__name__ != table["kernel"] or estimator != table.get("estimator"):
                continue
            arrays = {key: plain(record[key]) for key in ("log_probs", "ref_log_probs")}
            arrays["mask"] = record["mask"].astype(int).tolist()
            expected = {"value": case["value"], "gradient": gradient["grad_logp"]}
            matches[name].append(Found({}, arrays, expected, 1e-6, origin_of(case, head), batch_name(case)))
    return matches


def found_corrections(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Found]]:
    """Return the recorded weights for the sampler's mismatch of each name."""
    matches: dict[str, list[Found]] = {name: [] for name in tables}
    for case, inputs, head in recorded_cases("correction"):
        record = matrices(case, inputs)
        corrections = DIALECTS[case["trainer"]].recipe(**case["config"]).corrections
        far = distance(record, "old_log_probs", "rollout_log_probs", record["mask"] > 0)
        if len(corrections) != 1 or not far <= 61.5:
            continue
        part = relaxed(corrections[0], far, {"unknown": 0.0})
        chosen = part.settings
        for name, table in tables.items():
            if (
                part.kernel.__name__ != table["kernel"]
                or chosen["level"].__name__ != table["correction_level"]
            ):
                continue
            idle = [chosen["max_log_ratio"], chosen["max_token_log_ratio"]] == [math.inf, math.inf]
            if chosen["batch_normalize"] or not idle or math.isinf(chosen["max_ratio"]):
                continue
            settings = {"weight_min": chosen["min_ratio"], "weight_max": chosen["max_ratio"]}
            arrays = {key: plain(record[key]) for key in ("old_log_probs", "rollout_log_probs")}
            arrays["mask"] = record["mask"].astype(int).tolist()
            origin = origin_of(case, head)
            value = np.broadcast_to(np.array(case["value"]), record["mask"].shape).tolist()
            matches[name].append(Found(settings, arrays, {"value": value}, 1e-6, origin, batch_name(case)))
    return matches


# ---- vectors ---------------------------------------------------------------------------------------


def vectors_of(found: list[Found], settings: Mapping[str, float]) -> list[dict[str, Any]]:
    """Join the cases that have the same settings and inputs, the fewest tokens first."""
    groups: dict[str, list[Found]] = {}
    for each in found:
        groups.setdefault(json.dumps([each.settings, each.inputs]), []).append(each)
    vectors = [joined(group) for group in groups.values()]
    vectors.sort(
        key=lambda vector: (vector["settings"] != settings, json.dumps(vector["settings"]), size(vector))
    )
    names: dict[str, int] = {}
    for vector in vectors:
        changed = [f"{key}={value:g}" for key, value in vector["settings"].items() if value != settings[key]]
        name = ", ".join([vector["id"], *changed])
        names[name] = names.get(name, 0) + 1
        vector["id"] = name if names[name] == 1 else f"{name} ({names[name]})"
    return vectors


def size(vector: Mapping[str, Any]) -> tuple[int, int]:
    counted = vector["inputs"].get("mask", next(iter(vector["inputs"].values())))
    return int(np.sum(counted)) if "mask" in vector["inputs"] else np.size(counted), np.size(counted)


def joined(group: list[Found]) -> dict[str, Any]:
    """Return one vector for the cases of several trainers, with the numbers of the most precise one."""
    group = sorted(group, key=lambda each: each.rtol)
    first = group[0]
    apart = max(difference(first.expected, each.expected, first.inputs) for each in group)
    if apart > max(each.rtol for each in group) * 2:
        cases = ", ".join(f"{each.origin['trainer']} {each.origin['case']}" for each in group)
        raise ValueError(f"the same algorithm on the same arrays, but {apart:.1e} apart: {cases}")
    return {
        "id": first.batch,
        "settings": first.settings,
        "inputs": first.inputs,
        "expected": first.expected,
        "rtol": first.rtol,
        "apart": float(f"{apart:.1e}"),
        "origins": [each.origin for each in group],
    }


def difference(first: Mapping[str, Any], second: Mapping[str, Any], inputs: Mapping[str, Any]) -> float:
    """Return the largest difference of the numbers, relative to the largest of its array, without padding."""
    mask = np.array(inputs.get("mask", 1)) > 0
    apart = 0.0
    for name, value in first.items():
        ours, theirs = np.array(value, dtype=float), np.array(second[name], dtype=float)
        if ours.ndim == 2 and ours.shape == mask.shape:
            ours, theirs = ours[mask], theirs[mask]
        scale = max(np.abs(ours).max(initial=0.0), 1e-6)
        apart = max(apart, float(np.abs(ours - theirs).max(initial=0.0)) / scale)
    return apart


SHOWN = ("title", "formula", "mean", "source")


def document(name: str, algorithm: Mapping[str, Any], level: int, found: list[Found]) -> dict[str, Any]:
    """Return the file of an algorithm."""
    settings = algorithm.get("settings", {})
    return {
        "schema": SCHEMA,
        "level": level,
        "name": name,
        "aliases": algorithm.get("aliases", []),
        **{key: algorithm[key] for key in SHOWN},
        "settings": settings,
        "reads": algorithm.get("reads", []),
        "detached": algorithm.get("detached", False),
        "recipe": {"name": algorithm.get("recipe", ""), "at": algorithm.get("at", {})},
        "cases": vectors_of(found, settings),
    }


def text_of(value: Mapping[str, Any]) -> str:
    """Write a file with a line for each case."""
    head = {key: each for key, each in value.items() if key != "cases"}
    begin = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    cases = ",\n".join(json.dumps(cleaned(case), ensure_ascii=False) for case in value["cases"])
    return f'{begin},\n "cases": [\n{cases}\n]}}\n'


def cleaned(value: Any) -> Any:
    """Return the value with 0.0 in place of -0.0, and whole numbers as they are."""
    if isinstance(value, dict):
        return {name: cleaned(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(each) for each in value]
    return value + 0.0 if isinstance(value, float) else value


KINDS = {
    "advantages": (1, found_advantages),
    "averages": (1, found_averages),
    "losses": (2, found_losses),
    "penalties": (3, found_penalties),
    "corrections": (3, found_corrections),
}
"""Folder of vectors -> its level, and the function that looks for its cases."""


def files(folder: str) -> dict[str, str]:
    """Return the text of each file in a folder of vectors, by its name."""
    level, search = KINDS[folder]
    tables = tomllib.loads((HERE / f"{folder}.toml").read_text(encoding="utf-8"))
    matches, texts = search(tables), {}
    for name, table in tables.items():
        if matches[name]:
            texts[f"{name}.json"] = text_of(document(name, table, level, matches[name]))
        else:
            print(f"no trainer's number: {name}")
    return texts


def defaults() -> str:
    """Return the text of trainer_defaults.json: each trainer's default of the keys in its recorded losses."""
    used: dict[str, set[str]] = {}
    for case, _, _ in recorded_cases("loss"):
        used.setdefault(case["trainer"], set()).update(case["config"])
    table = {}
    for trainer, keys in used.items():
        known = DIALECTS[trainer].keys.defaults
        table[trainer] = {key: known[key] for key in sorted(keys) if isinstance(known.get(key, ()), PLAIN)}
    return json.dumps(table, indent=1, allow_nan=False, default=str) + "\n"


PLAIN = (bool, int, float, str, type(None))
"""Types of defaults that JSON has."""


def main() -> None:
    """Write every file, and print how many cases each has."""
    replace_text(DEFAULTS, defaults())
    texts = {f"{folder}/{name}": text for folder in KINDS for name, text in files(folder).items()}
    for name, text in texts.items():
        path = VECTORS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
        written = json.loads(text)
        usual = sum(case["settings"] == written["settings"] for case in written["cases"])
        print(f"{name:30} {len(written['cases']):4} cases, {usual:3} at the usual settings")


if __name__ == "__main__":
    main()
