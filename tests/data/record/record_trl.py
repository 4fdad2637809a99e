"""TRL's cases: `python tests/data/record/record_trl.py SOURCES`, SOURCES being where `trl` is installed.

The version is TRL 1.16.0 (PyPI), with PyTorch 2.13 on a CPU. What runs is TRL's own code: the configuration
class with its checks, `_compute_loss` of GRPOTrainer and GMPOTrainer as they are, and those statements of
`__init__` and `_generate_and_score_completions` that need no model, found in the installed source by their
syntax. Stubs stand for one process without an accelerator and for a model that returns the log-probabilities
and entropies at hand.

With gradient accumulation the completions are cut into as many micro-batches as the generation batch has, in
their order, and the losses and gradients are added up, as the optimizer sees them; TRL itself shuffles them
first. A case of "loss of a micro-batch" is one call of `_compute_loss`.
"""

import ast
import inspect
import itertools
import math
import sys
import tempfile
import textwrap
import warnings
from collections import defaultdict
from functools import cache
from types import SimpleNamespace
from typing import Any

import writing

VERSION = "1.16.0"
BASE = {"num_generations": 4}
LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo")
CLIPPING = LOSSES[:5]
LEVELS = ("token", "sequence")
MASKS = ("mask", "mask_holes", "mask_empty", "mask_first_empty", "mask_single", "mask_none")
MODES = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
TAKEN_OVER = """
    max_completion_length num_generations use_vllm vllm_importance_sampling_correction beta epsilon_low
    epsilon_high vllm_importance_sampling_mode vllm_importance_sampling_clip_max
    vllm_importance_sampling_clip_min loss_type multi_objective_aggregation scale_rewards
    importance_sampling_level off_policy_mask_threshold entropy_coef top_entropy_quantile
    use_adaptive_entropy _entropy_bonus_enabled _last_world_entropy _entropy_window_stats
""".split()
"""Attributes that TRL's `__init__` takes from the configuration alone."""
CHECKS = ("VESPO loss requires", "sync_ref_model=True` while")
"""Texts of the checks in `__init__` that need no model."""
PLAIN = {"log_probs": "logp", "advantages": "advantages", "mask": "mask"}
OFF = PLAIN | {"old_log_probs": "old_logp"}
REF = {"ref_log_probs": "ref_logp"}
given_array = cache(writing.given)
FLOAT32 = {
    "sapo": {"rtol": 2e-5, "note": "TRL's temperatures are float32, and the loss is small beside its terms."}
}
"""What is said of losses that take constants in float32, where it shows."""
SAMPLED = {"rollout_log_probs": "sampler_logp"}
ENTROPIES = {"entropies": "entropy"}


# ---- TRL's code -----------------------------------------------------------------------------------


def statements(method: Any) -> list[ast.stmt]:
    """The body of a method, as syntax."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(method)))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.body


def execute(nodes: list[ast.stmt], names: dict[str, Any]) -> dict[str, Any]:
    """Run statements of TRL with these names beside those of their module."""
    import trl.trainer.grpo_trainer as module

    scope = {**vars(module), **names}
    exec(compile(ast.Module(body=nodes, type_ignores=[]), "TRL", "exec"), scope)
    return scope


def configured(config: dict[str, Any], rows: int = 12) -> tuple[type, Any]:
    """The trainer's class and its configuration, which TRL checks."""
    from trl import GRPOConfig, GRPOTrainer
    from trl.experimental.gmpo import GMPOConfig, GMPOTrainer

    keys = {key: value for key, value in config.items() if key != "trainer"}
    cls, kind = (
        (GMPOTrainer, GMPOConfig) if config.get("trainer") == "GMPOTrainer" else (GRPOTrainer, GRPOConfig)
    )
    settings = {"per_device_train_batch_size": rows, "bf16": False, "use_cpu": True, "report_to": [], **keys}
    with tempfile.TemporaryDirectory() as folder:
        return cls, kind(output_dir=folder, **settings)


def trainer(config: dict[str, Any], functions: int = 1) -> Any:
    """A trainer that was set up from its configuration and has no model, dataset or processes."""
    from trl import GRPOTrainer

    cls, args = configured(config)
    self = cls.__new__(cls)
    metrics = {"train": defaultdict(list), "eval": defaultdict(list)}
    self.__dict__ |= {"args": args, "_metrics": metrics, "aux_loss_enabled": False}
    self.model = SimpleNamespace(training=True)
    self.__dict__ |= {"accelerator": one_process(), "add_callback": lambda callback: None}
    self.reward_funcs = [None] * functions
    self.reward_func_names = [str(place) for place in range(functions)]
    self.current_gradient_accumulation_steps = args.gradient_accumulation_steps
    names = {"self": self, "args": args, "reward_funcs": self.reward_funcs, "model": None}
    stubs = {"is_peft_model": lambda model: False, "SyncRefModelCallback": lambda **others: None}
    execute([node for node in statements(GRPOTrainer.__init__) if wanted(node)], names | stubs)
    return self


def wanted(node: ast.stmt) -> bool:
    """Whether a statement of `__init__` takes over a setting or checks one."""
    text = ast.unparse(node)
    if isinstance(node, ast.If):
        checks = any(check in text for check in CHECKS)
        return checks or ast.unparse(node.test) == "args.reward_weights is not None"
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Attribute) and target.attr in TAKEN_OVER for target in targets)


def one_process() -> SimpleNamespace:
    """An accelerator of one process, at the end of an accumulation window."""

    def same(value: Any, **others: Any) -> Any:
        return value

    return SimpleNamespace(
        num_processes=1,
        process_index=0,
        sync_gradients=True,
        gather=same,
        gather_for_metrics=same,
        reduce=same,
        pad_across_processes=same,
    )


def where_sampled() -> list[ast.If]:
    """The two statements on the sampler's log-probabilities: the weights, and what is logged of them."""
    from trl import GRPOTrainer

    test = "self.use_vllm and self.vllm_importance_sampling_correction"
    nodes = [
        node for each in statements(GRPOTrainer._generate_and_score_completions) for node in ast.walk(each)
    ]
    found = [node for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == test]
    weights = next(
        node for node in found if "vllm_importance_sampling_ratio = torch.exp" in ast.unparse(node)
    )
    logged = next(node for node in found if "sampling_logp_difference" in ast.unparse(node))
    return [weights, logged]


def where_scored() -> list[ast.stmt]:
    """The statements from the rewards of each function to the advantages, with what is logged of them."""
    from trl import GRPOTrainer

    body = statements(GRPOTrainer._generate_and_score_completions)
    texts = [ast.unparse(node) for node in body]
    first = next(place for place, text in enumerate(texts) if text.startswith("unscorable_mask ="))
    last = next(place for place, text in enumerate(texts) if "frac_reward_zero_std" in text)
    return body[first : last + 1]


# ---- one case -------------------------------------------------------------------------------------


def tensors(given: dict[str, str], dtype: str, own: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a case, the mask as the whole numbers that TRL has."""
    import torch

    arrays = {name: own[source] if source in own else given_array(source) for name, source in given.items()}
    kinds = {name: torch.long if name == "mask" else getattr(torch, dtype) for name in arrays}
    return {name: torch.tensor(array, dtype=kinds[name]) for name, array in arrays.items()}


def sampled(self: Any, arrays: dict[str, Any]) -> Any:
    """The weights for the sampler's mismatch; what TRL logs of them goes to the trainer."""
    import torch

    names = {"self": self, "mode": "train", "device": torch.device("cpu"), "tool_mask": None}
    names |= {"completion_mask": arrays["mask"], "old_per_token_logps": arrays["old_log_probs"]}
    names |= {"sampling_per_token_logps": arrays["rollout_log_probs"]}
    return execute(list(where_sampled()), names)["vllm_importance_sampling_ratio"]


def batches(arrays: dict[str, Any], steps: int) -> list[dict[str, Any]]:
    """The completions in this many parts, in order."""
    parts = {name: array.chunk(steps) for name, array in arrays.items()}
    return [{name: part[place] for name, part in parts.items()} for place in range(steps)]


FIELDS = {
    "advantages": "advantages",
    "old_log_probs": "old_per_token_logps",
    "ref_log_probs": "ref_per_token_logps",
    "rollout_log_probs": "sampling_per_token_logps",
    "ratio": "importance_sampling_ratio",
}
"""Our names, and those of TRL's inputs."""


def computed(self: Any, arrays: dict[str, Any], items: Any) -> tuple[Any, Any]:
    """The loss of one micro-batch and its gradient."""
    import torch

    policy = arrays["log_probs"].clone().requires_grad_()
    entropies = arrays.get("entropies", torch.zeros_like(policy))
    self._get_per_token_logps_and_entropies = lambda *others, **named: (policy, entropies, None)
    empty = torch.zeros((len(policy), 0), dtype=torch.long)
    inputs = {"prompt_ids": empty, "prompt_mask": empty, "completion_mask": arrays["mask"]}
    inputs |= {"completion_ids": torch.zeros_like(arrays["mask"]), "num_items_in_batch": items}
    inputs |= {FIELDS[name]: array for name, array in arrays.items() if name in FIELDS}
    loss = self._compute_loss(self.model, inputs)
    loss.backward() if loss.requires_grad else None
    return loss.item(), torch.zeros_like(policy) if policy.grad is None else policy.grad


def record_loss(case: dict[str, Any], steps: int = 1) -> dict[str, Any]:
    """The loss of a case, its gradient and what is logged; of the last of so many steps."""
    self = trainer(case["config"])
    arrays = tensors(case["given"], case.get("dtype", "float64"), case.get("inputs", {}))
    if self.use_vllm and self.vllm_importance_sampling_correction:
        arrays["ratio"] = sampled(self, arrays)
    accumulated = self.args.gradient_accumulation_steps
    for _ in range(steps):
        parts = [computed(self, part, arrays["mask"].sum()) for part in batches(arrays, accumulated)]
    gradient = [row for _, part in parts for row in part.tolist()]
    numbers = {"loss": sum(loss for loss, _ in parts), "grad_logp": gradient}
    logged = {name: values[-1] for name, values in self._metrics["train"].items()}
    if "entropies" not in case["given"]:
        logged.pop("entropy", None)
    return numbers | ({"metrics": logged} if accumulated == 1 and logged else {})


def record_generation_batch(case: dict[str, Any]) -> dict[str, Any]:
    """The sum over the micro-batches of a generation batch, and the means of what they log."""
    self = trainer(case["config"])
    arrays = tensors(case["given"], case.get("dtype", "float64"), case.get("inputs", {}))
    items = arrays["mask"].sum()
    cut = batches(arrays, self.args.steps_per_generation)
    parts = []
    for place, part in enumerate(cut, 1):
        self.accelerator.sync_gradients = place % self.args.gradient_accumulation_steps == 0
        parts.append(computed(self, part, items))
    numbers = {"loss": sum(loss for loss, _ in parts)}
    numbers |= {"grad_logp": [row for _, part in parts for row in part.tolist()]}
    return numbers | {"metrics": averages(self, case)}


def record_micro_batch(case: dict[str, Any]) -> dict[str, Any]:
    """One call of `_compute_loss`, in training or in evaluation."""
    self = trainer(case["config"])
    self.model.training = case["call"] != "loss in evaluation"
    arrays = tensors(case["given"], case.get("dtype", "float64"), case.get("inputs", {}))
    items = arrays.pop("num_items_in_batch", arrays["mask"].sum())
    found, gradient = computed(self, arrays, items)
    return {"loss": found, "grad_logp": gradient.tolist(), "metrics": averages(self, case)}


def averages(self: Any, case: dict[str, Any]) -> dict[str, float]:
    """What TRL's `log` makes of the metrics, without entropies that are not given.

    The coefficient of the bonus is kept where it was asked for: in the other cases it says nothing.
    """
    found = {}
    for name, values in self._metrics["train" if self.model.training else "eval"].items():
        known = [value for value in values if not math.isnan(value)]
        found[name] = sum(known) / len(known) if known else math.nan
    asked = case["id"].startswith(f"{ID}coefficient_")
    left_out = set() if asked else {"entropy_coef"}
    left_out |= {"entropy"} if "entropies" not in case["given"] else set()
    return {name: value for name, value in found.items() if name not in left_out}


def record_advantages(case: dict[str, Any]) -> dict[str, Any]:
    """The advantages of a case and what is logged of its rewards."""
    import torch

    arrays = tensors(case["given"], case.get("dtype", "float64"), case.get("inputs", {}))
    components = arrays["rewards"][:, None] if "rewards" in arrays else arrays["components"]
    self = trainer(case["config"], components.shape[1])
    names = {
        "self": self,
        "mode": "train",
        "device": torch.device("cpu"),
        "prompts": [None] * len(components),
    }
    names |= {"rewards_per_func": components, "num_generations": self.num_generations}
    found = execute(where_scored(), names)["advantages"]
    logged = {name: values[-1] for name, values in self._metrics["train"].items()}
    return {"axes": ["completion"], "value": found.tolist(), "metrics": logged}


def record_correction(case: dict[str, Any]) -> dict[str, Any]:
    """The weights for the sampler's mismatch, for every token."""
    self = trainer(case["config"])
    arrays = tensors(case["given"], case.get("dtype", "float64"), {})
    ratio = sampled(self, arrays).expand(arrays["mask"].shape)
    logged = {name: values[-1] for name, values in self._metrics["train"].items()}
    return {"axes": ["completion", "token"], "value": ratio.tolist(), "metrics": logged}


RECORDERS = {
    "loss": record_loss,
    "loss of a generation batch": record_generation_batch,
    "loss of a micro-batch": record_micro_batch,
    "loss in evaluation": record_micro_batch,
    "loss of the next step": lambda case: record_loss(case, steps=2),
    "advantages": record_advantages,
    "correction": record_correction,
}


def recorded(case: dict[str, Any]) -> dict[str, Any] | None:
    """The case with its numbers, or with the error; None where the gradient is not finite."""
    try:
        numbers = RECORDERS[case["call"]](case)
    except (ValueError, RuntimeError) as error:
        return {**case, "refused": " ".join(str(error).split())}
    finite = all(math.isfinite(x) for row in numbers.get("grad_logp", []) for x in row)
    return {**case, **numbers} if finite and math.isfinite(numbers.get("loss", 0.0)) else None


# ---- the cases ------------------------------------------------------------------------------------


ID = "trl_grid_"


def loss(name: str, config: dict[str, Any], given: dict[str, str], **others: Any) -> dict[str, Any]:
    """A case of a loss, float64 where nothing else is said."""
    return {"id": f"{ID}{name}", "call": "loss", "config": BASE | config, "given": given, **others}


def clips(kind: str, level: str) -> dict[str, Any]:
    """The loss type and level with bounds that some of the ratios pass."""
    high = {"cispo": 1.3}.get(kind, 0.28 if level == "token" else 0.05)
    low = 0.2 if level == "token" else 0.03
    return {"loss_type": kind, "importance_sampling_level": level, "epsilon": low, "epsilon_high": high}


def of_masks() -> list[dict[str, Any]]:
    """Every loss and level, on every mask."""
    return [
        loss(f"{kind}_{level}_{mask}", clips(kind, level), OFF | ENTROPIES | {"mask": mask})
        for kind in LOSSES
        for level in LEVELS
        for mask in MASKS
    ]


def of_ratios() -> list[dict[str, Any]]:
    """Every loss and level on-policy, at the bounds, at the limits of exp, and in float32."""
    cases = []
    for kind in LOSSES:
        for level in LEVELS:
            named, config = f"{kind}_{level}", clips(kind, level)
            cases.append(loss(f"{named}_on_policy", config, PLAIN))
            for far in ("logp_at_bounds", "logp_limited", "logp_extreme"):
                cases.append(loss(f"{named}_{far}", config, OFF | {"log_probs": far}))
            half = {"dtype": "float32", "rtol": 1e-5}
            cases.append(loss(f"{named}_float32", config, OFF | {"mask": "mask_holes"}, **half))
            if level == "token":
                wide = {**config, "epsilon": 0.5, "epsilon_high": 4.0}
                cases.append(loss(f"{named}_wide", wide, OFF | {"log_probs": "logp_at_bounds"}))
                tokens = OFF | {"advantages": "token_advantages"}
                cases.append(loss(f"{named}_advantages_per_token", config, tokens))
    return cases


def of_penalties() -> list[dict[str, Any]]:
    """Every loss and level with a KL, weighted and not, off- and on-policy."""
    cases = []
    for kind in LOSSES:
        for level in LEVELS:
            for weighted in (True, False):
                config = {**clips(kind, level), "beta": 0.04, "use_bias_correction_kl": weighted}
                named = f"{kind}_{level}_kl_{'weighted' if weighted else 'plain'}"
                cases.append(loss(named, config, OFF | REF | {"mask": "mask_holes"}))
        config = {**clips(kind, "token"), "beta": 0.1}
        cases.append(loss(f"{kind}_kl_on_policy", config, PLAIN | REF, **FLOAT32.get(kind, {})))
        cases.append(
            loss(f"{kind}_kl_far", {**config, "beta": 1e-3}, OFF | {"ref_log_probs": "ref_logp_far"})
        )
    cases.append(loss("kl_of_negative_weight", {"beta": -0.1}, OFF | REF | {"mask": "mask_holes"}))
    return cases


def of_samplers() -> list[dict[str, Any]]:
    """Every mode of the correction, with every loss that takes it and every sampler."""
    cases = []
    for mode in MODES:
        for kind in LOSSES:
            if kind != "vespo" or mode.startswith("token"):
                config = {**clips(kind, "token"), **sampling(mode, 1.2, 0.9)}
                given = OFF | SAMPLED | {"mask": "mask_holes"}
                cases.append(loss(f"{kind}_vllm_{mode}", config, given, **FLOAT32.get(kind, {})))
        for sampler in ("sampler_logp_far", "sampler_logp_nan"):
            for kind in ("grpo", "dapo", *(["vespo"] if mode.startswith("token") else [])):
                given = OFF | {"rollout_log_probs": sampler}
                cases.append(
                    loss(f"{kind}_vllm_{mode}_{sampler}", {"loss_type": kind, **sampling(mode, 3.0)}, given)
                )
        both = {
            "loss_type": "grpo",
            "importance_sampling_level": "sequence",
            "beta": 0.04,
            **sampling(mode, 1.2),
        }
        cases.append(loss(f"gspo_{mode}_kl", both, OFF | REF | SAMPLED))
    old = {**sampling("token_mask", 3.0), "vllm_importance_sampling_cap": 1.1}
    cases.append(loss("cap_by_its_old_name", {"loss_type": "grpo", **old}, OFF | SAMPLED))
    for most, least in ((0.8, None), (5.0, 1.1)):
        for mode in MODES[:2]:
            config = {"loss_type": "vespo", **sampling(mode, most, least)}
            cases.append(loss(f"vespo_{mode}_without_1_{most}", config, OFF | SAMPLED))
    return cases + [weights(mode, mask, sampler) for mode in MODES for mask, sampler in WEIGHED]


def sampling(mode: str, most: float | None, least: float | None = None) -> dict[str, Any]:
    """The keys of a correction."""
    key = "vllm_importance_sampling"
    return {"use_vllm": True, f"{key}_mode": mode, f"{key}_clip_max": most, f"{key}_clip_min": least}


WEIGHED = (
    ("mask", "sampler_logp"),
    ("mask_empty", "sampler_logp_nan"),
    ("mask_holes", "sampler_logp_far"),
    ("mask_single", "sampler_logp"),
)


def weights(mode: str, mask: str, sampler: str) -> dict[str, Any]:
    """A case of the correction alone."""
    given = {"old_log_probs": "old_logp", "rollout_log_probs": sampler, "mask": mask}
    config = BASE | sampling(mode, 1.3, 0.8 if mask == "mask" else None)
    return {"id": f"trl_grid_weights_{mode}_{mask}", "call": "correction", "config": config, "given": given}


def of_filters() -> list[dict[str, Any]]:
    """The entropy mask and the off-policy mask, alone, together, and with everything else."""
    cases = []
    for kind in LOSSES:
        config = {**clips(kind, "token"), "top_entropy_quantile": 0.4, "beta": 0.04}
        cases.append(loss(f"{kind}_entropy_kl", config, OFF | REF | ENTROPIES | {"mask": "mask_holes"}))
        config = {**clips(kind, "token"), "off_policy_mask_threshold": 0.02}
        for sampler in ("sampler_logp", "sampler_logp_nan"):
            given = OFF | {"rollout_log_probs": sampler}
            cases.append(loss(f"{kind}_off_policy_{sampler}", config, given))
        everything = {**config, "top_entropy_quantile": 0.6, "beta": 0.04, **sampling("token_mask", 1.3, 0.8)}
        cases.append(loss(f"{kind}_everything", everything, OFF | REF | SAMPLED | ENTROPIES))
    for share in (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99):
        config = {"loss_type": "grpo", "top_entropy_quantile": share}
        for mask in ("mask", "mask_holes", "mask_none"):
            cases.append(loss(f"entropy_{share}_{mask}", config, OFF | ENTROPIES | {"mask": mask}))
        given = OFF | {"entropies": "entropy_equal"}
        cases.append(loss(f"entropy_{share}_all_equal", config, given))
    for threshold in (0.0, 0.1, 0.5, -0.1):
        config = {"loss_type": "dapo", "off_policy_mask_threshold": threshold}
        cases.append(loss(f"off_policy_{threshold}_old", config, OFF | {"mask": "mask_empty"}))
        given = OFF | {"rollout_log_probs": "sampler_logp_far", "advantages": "token_advantages"}
        cases.append(loss(f"off_policy_{threshold}_per_token", config, given))
    return cases + of_quantiles()


def of_quantiles() -> list[dict[str, Any]]:
    """Numbers of tokens at which the place of the quantile is a whole number, but for rounding."""
    cases = []
    for tokens, share in ((19, 0.5), (11, 0.7), (21, 0.7), (31, 0.7), (41, 0.7), (51, 0.7), (11, 0.2)):
        mask = [[1 if 7 * row + place < tokens else 0 for place in range(7)] for row in range(12)]
        config = {"loss_type": "grpo", "top_entropy_quantile": share}
        given = OFF | ENTROPIES | {"mask": f"first_{tokens}"}
        cases.append(loss(f"entropy_{share}_of_{tokens}", config, given, inputs={f"first_{tokens}": mask}))
    return cases


def of_bounds() -> list[dict[str, Any]]:
    """A delta at every place, and bounds that are out of the usual."""
    cases = []
    for kind in CLIPPING:
        for level in LEVELS:
            for delta in (1.02, 1.1, 2.0):
                config = {**clips(kind, level), "delta": delta}
                given = OFF | {"log_probs": "logp_at_bounds" if delta == 2.0 else "logp"}
                cases.append(loss(f"{kind}_{level}_delta_{delta}", config, given))
    given = OFF | {"log_probs": "logp_at_bounds"}
    cases.append(loss("clip_of_10", {"loss_type": "grpo", "epsilon": 10.0, "delta": 4.0}, given))
    cases.append(
        loss("clip_of_10_far", {"loss_type": "grpo", "epsilon": 10.0}, OFF | {"log_probs": "logp_limited"})
    )
    cases.append(loss("clip_of_0", {"loss_type": "grpo", "epsilon": 0.0}, given))
    config = {"loss_type": "cispo", "delta": 1.1, "epsilon_high": 1.3}
    cases.append(loss("cispo_delta", config, given))
    cases.append(loss("cispo_without_a_cap", {"loss_type": "cispo"}, given))
    for sharp in (0.5, 4.0):
        config = {"loss_type": "sapo", "sapo_temperature_pos": sharp, "sapo_temperature_neg": 2 * sharp}
        cases.append(loss(f"sapo_of_{sharp}", config, OFF | {"log_probs": "logp_limited"}))
    bumps = {"vespo_k_pos": 0.0, "vespo_lambda_pos": 0.0, "vespo_k_neg": 1.5, "vespo_lambda_neg": -1.0}
    cases.append(loss("vespo_without_a_bump", {"loss_type": "vespo", **bumps}, OFF))
    bumps = {"vespo_k_pos": 1.0, "vespo_lambda_pos": 0.5, "vespo_k_neg": 0.5, "vespo_lambda_neg": 0.25}
    cases.append(loss("vespo_of_its_own", {"loss_type": "vespo", **bumps}, OFF | {"mask": "mask_holes"}))
    for length in (7, 100):
        config = {"loss_type": "dr_grpo", "max_completion_length": length}
        cases.append(loss(f"dr_grpo_length_{length}", config, OFF | {"mask": "mask_empty"}))
    return cases


ODD = {
    "delta_0.9": {"delta": 0.9},
    "delta_1": {"delta": 1.0},
    "delta_0": {"delta": 0.0},
    "delta_below_0": {"delta": -0.5},
    "high_below_0": {"epsilon_high": -0.1},
    "low_below_0": {"epsilon": -0.1, "epsilon_high": 0.3},
    "both_below_0": {"epsilon": -0.1},
    "high_below_0_with_delta": {"epsilon_high": -0.3, "delta": 0.8},
}
"""Bounds and caps on the wrong side of 1 or of 0, which TRL takes as they are."""


def of_odd_bounds() -> list[dict[str, Any]]:
    """What TRL accepts though it makes little sense."""
    cases = []
    for name, keys in ODD.items():
        for kind in ("grpo", "luspo"):
            for level in LEVELS:
                config = {"loss_type": kind, "importance_sampling_level": level, **keys}
                cases.append(
                    loss(f"odd_{kind}_{level}_{name}", config, OFF | {"log_probs": "logp_at_bounds"})
                )
        cases.append(loss(f"odd_dapo_{name}_on_policy", keys, PLAIN))
        cases.append(loss(f"odd_dapo_{name}_float32", keys, OFF, dtype="float32", rtol=1e-5))
        if "delta" not in keys:
            cases.append(loss(f"odd_gmpo_{name}", {"trainer": "GMPOTrainer", **keys}, OFF))
    cases.append(loss("odd_cispo_cap", {"loss_type": "cispo", "epsilon_high": -0.1}, OFF))
    for pair in ((-1.0, 1.05), (0.7, -2.0), (-0.5, -3.0)):
        config = {"loss_type": "sapo", "sapo_temperature_pos": pair[0], "sapo_temperature_neg": pair[1]}
        cases.append(loss(f"odd_sapo_{pair[0]}_{pair[1]}", config, OFF, **FLOAT32["sapo"]))
    for mode in MODES:
        for name, window in {"cap": (-1.0, None), "floor": (3.0, -1.0), "window": (-0.5, -1.0)}.items():
            config = {"loss_type": "grpo", **sampling(mode, *window)}
            cases.append(loss(f"odd_{mode}_{name}_below_0", config, OFF | SAMPLED))
    return cases


def of_pairs() -> list[dict[str, Any]]:
    """The level of the sequence with what is decided token by token, and corrections in pairs."""
    cases = []
    parts = {
        "entropy": ({"top_entropy_quantile": 0.4}, ENTROPIES),
        "off_policy": ({"off_policy_mask_threshold": 0.02}, SAMPLED),
        "sampler": (sampling("token_truncate", 1.2, 0.8), SAMPLED),
        "bonus": ({"entropy_coef": 0.02}, ENTROPIES),
        "kl": ({"beta": 0.04}, REF),
    }
    for kind in LOSSES:
        for name, (keys, fields) in parts.items():
            config = {**clips(kind, "sequence"), **keys}
            cases.append(loss(f"{kind}_sequence_with_{name}", config, OFF | fields | {"mask": "mask_holes"}))
    for one, other in itertools.combinations(parts, 2):
        for level in LEVELS:
            config = {**clips("grpo", level), **parts[one][0], **parts[other][0]}
            fields = parts[one][1] | parts[other][1]
            cases.append(loss(f"{level}_{one}_and_{other}", config, OFF | fields | {"mask": "mask_empty"}))
    return cases


def of_bonuses() -> list[dict[str, Any]]:
    """The entropy bonus, constant and adaptive, with and without an entropy mask."""
    cases = []
    for kind in LOSSES:
        config = {**clips(kind, "token"), "entropy_coef": 0.02}
        cases.append(loss(f"{kind}_bonus", config, OFF | ENTROPIES | {"mask": "mask_holes"}))
    for share in (1.0, 0.3):
        for target in (0.2, 0.9, 3.0):
            for coefficient in (0.0, 0.01, 0.998):
                config = {"loss_type": "grpo", "use_adaptive_entropy": True, "entropy_target": target}
                config |= {"entropy_coef": coefficient, "top_entropy_quantile": share}
                named = f"adaptive_{share}_{target}_{coefficient}"
                cases.append(loss(named, config, OFF | ENTROPIES))
                cases.append(
                    {**loss(f"{named}_next", config, OFF | ENTROPIES), "call": "loss of the next step"}
                )
        config = {"loss_type": "dapo", "entropy_coef": -0.05, "top_entropy_quantile": share, "beta": 0.04}
        cases.append(loss(f"bonus_below_0_{share}", config, OFF | REF | ENTROPIES))
    config = {"loss_type": "grpo", "use_adaptive_entropy": True, "entropy_coef": 0.2, "entropy_target": 5.0}
    config |= {"entropy_coef_delta": 0.1, "entropy_coef_max": 0.25, "entropy_coef_min": 0.15}
    cases.append({**loss("adaptive_limits", config, OFF | ENTROPIES), "call": "loss of the next step"})
    config |= {"entropy_target": 0.1}
    cases.append({**loss("adaptive_lower_limit", config, OFF | ENTROPIES), "call": "loss of the next step"})
    return cases


def of_accumulation() -> list[dict[str, Any]]:
    """The sum over micro-batches; of bnpo it depends on how TRL shuffles, so it is left out."""
    return [
        loss(
            f"{kind}_accumulated_{steps}",
            {**clips(kind, "token"), "gradient_accumulation_steps": steps},
            given,
        )
        for kind in LOSSES
        if kind != "bnpo"
        for steps, given in ((2, OFF), (3, OFF | {"mask": "mask_holes"}))
    ]


WINDOWS = ((1, 3), (4, 2), (2, 2), (3, 1))
"""Gradient accumulation steps, and steps of a generation."""
PIECE = {"num_generations": 4, "epsilon_high": 0.28}


def of_micro_batches() -> list[dict[str, Any]]:
    """Every loss as the sum over a generation batch, as one of its micro-batches, and in evaluation."""
    cases = []
    for kind in (*LOSSES, "gmpo"):
        own = {"trainer": "GMPOTrainer"} if kind == "gmpo" else {"loss_type": kind}
        given = OFF | REF | ENTROPIES | {"mask": "mask_holes"}
        for accumulated, steps in WINDOWS:
            config = own | PIECE | {"beta": 0.04, "gradient_accumulation_steps": accumulated}
            config |= {"steps_per_generation": steps, "entropy_coef": 0.02, "top_entropy_quantile": 0.7}
            named = f"{kind}_{accumulated}_{steps}"
            whole = loss(f"generation_batch_{named}", config, given)
            part = loss(f"micro_batch_{named}", config, given | {"num_items_in_batch": "items"})
            cases.append(whole | {"call": "loss of a generation batch"})
            cases.append(part | {"call": "loss of a micro-batch", "inputs": {"items": 101}})
            alone = loss(f"evaluation_{named}", config, given)
            cases.append(alone | {"call": "loss in evaluation"})
    for mask in ("mask_none", "mask_empty"):
        for kind in LOSSES:
            config = {"loss_type": kind, **PIECE, "gradient_accumulation_steps": 2}
            case = loss(f"micro_batch_{kind}_{mask}", config, OFF | {"mask": mask})
            cases.append(case | {"call": "loss of a micro-batch"})
    return cases


def of_coefficients() -> list[dict[str, Any]]:
    """The coefficient of the bonus after a step of one micro-batch or several, fixed and adaptive."""
    cases = []
    given = OFF | ENTROPIES | {"mask": "mask_holes"}
    for steps in (1, 2, 3):
        for target in (None, 0.2, 3.0):
            config = {"loss_type": "grpo", "entropy_coef": 0.02, "gradient_accumulation_steps": steps}
            adaptive = {"use_adaptive_entropy": True, "entropy_target": target}
            for share in (1.0, 0.7):
                own = config | {"top_entropy_quantile": share} | ({} if target is None else adaptive)
                whole = loss(f"coefficient_{steps}_{target}_{share}", own, given)
                cases.append(whole | {"call": "loss of a generation batch"})
                if steps == 1 or target is None:
                    part = loss(f"coefficient_part_{steps}_{target}_{share}", own, given)
                    cases.append(part | {"call": "loss of a micro-batch"})
    return cases


def of_single_tokens() -> list[dict[str, Any]]:
    """Completions of one token, some of them masked, which TRL counts in what it logs."""
    given = OFF | REF | ENTROPIES | {"mask": "mask_empty"}
    own = {
        f"{source}_first": [row[:1] for row in given_array(source)]
        for source in given.values()
        if source != "advantages"
    }
    first = {name: source if source == "advantages" else f"{source}_first" for name, source in given.items()}
    cases = []
    for kind in (*LOSSES, "gmpo"):
        for level in LEVELS:
            config = {"trainer": "GMPOTrainer"} if kind == "gmpo" else clips(kind, level)
            config |= {"beta": 0.04}
            cases.append(loss(f"single_tokens_{kind}_{level}", config, first, inputs=own))
    return cases


def of_gmpo() -> list[dict[str, Any]]:
    """The experimental GMPOTrainer, which takes GRPOConfig's keys and ignores many."""
    own = {"trainer": "GMPOTrainer"}
    cases = [loss(f"gmpo_{mask}", own, OFF | ENTROPIES | {"mask": mask}) for mask in MASKS]
    narrow = own | {"epsilon": 0.1, "epsilon_high": 0.2}
    for name in ("logp", "logp_at_bounds", "logp_limited", "logp_extreme"):
        cases.append(loss(f"gmpo_narrow_{name}", narrow, OFF | {"log_probs": name}))
    for weighted in (True, False):
        config = {**narrow, "beta": 0.04, "use_bias_correction_kl": weighted}
        cases.append(loss(f"gmpo_kl_{weighted}", config, OFF | REF | {"mask": "mask_empty"}))
    for share in (0.2, 0.5, 0.7):
        for mask in ("mask", "mask_holes", "mask_empty"):
            config = {**narrow, "top_entropy_quantile": share, "beta": 0.04}
            cases.append(loss(f"gmpo_entropy_{share}_{mask}", config, OFF | REF | ENTROPIES | {"mask": mask}))
    ignored = {"delta": 1.5, "off_policy_mask_threshold": 0.01, "entropy_coef": 0.1, "loss_type": "dr_grpo"}
    ignored |= {"importance_sampling_level": "sequence", **sampling("token_mask", 1.1)}
    cases.append(loss("gmpo_ignores", own | ignored, OFF | SAMPLED | ENTROPIES))
    cases.append(loss("gmpo_on_policy", own, PLAIN))
    cases.append(loss("gmpo_float32", narrow, OFF, dtype="float32", rtol=1e-5))
    cases.append(loss("gmpo_accumulated", narrow | {"gradient_accumulation_steps": 2}, OFF))
    return cases


def of_advantages() -> list[dict[str, Any]]:
    """Every scale on every kind of rewards, and several functions with and without unknown scores."""
    cases = []
    scales = [{"scale_rewards": scale} for scale in ("group", "batch", "none", True, False)]
    kinds = [*scales, {"multi_objective_aggregation": "normalize_then_sum"}]
    for kind in kinds:
        named = "_".join(str(value) for value in kind.values())
        for rewards in ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied", "rewards_huge"):
            given = {"rewards": rewards, "mask": "mask"}
            cases.append(scores(f"{named}_{rewards}", kind, given, dtype="float32", rtol=1e-5))
            cases.append(scores(f"{named}_{rewards}_float64", kind, given))
        for rewards in ("rewards_per_func", "rewards_per_func_unknown"):
            given = {"components": rewards, "weights": "reward_weights", "mask": "mask"}
            weighed = kind | {"reward_weights": [1.0, 0.5, 2.0]}
            cases.append(scores(f"{named}_{rewards}", weighed, given))
            cases.append(scores(f"{named}_{rewards}_float32", weighed, given, dtype="float32", rtol=1e-5))
        nothing = [["nan"] * 3 if row % 3 == 0 else [0.5, row, "nan"] for row in range(12)]
        nothing[4:7] = [["nan"] * 3] * 3
        given = {"components": "some_unscored", "weights": "reward_weights", "mask": "mask"}
        own = {"some_unscored": [[float(x) for x in row] for row in nothing]}
        weighed = kind | {"reward_weights": [1.0, 0.5, 2.0]}
        cases.append(scores(f"{named}_unscored", weighed, given, inputs=own))
    return cases


def scores(name: str, config: dict[str, Any], given: dict[str, str], **others: Any) -> dict[str, Any]:
    """A case of the advantages."""
    case = {"id": f"trl_grid_advantages_{name}", "call": "advantages", "config": BASE | config}
    return {**case, "given": given, **others}


REFUSED = {
    "one_completion": {"num_generations": 1},
    "loss_type": {"loss_type": "ppo"},
    "loss_type_gmpo": {"loss_type": "gmpo"},
    "level": {"importance_sampling_level": "sequence_token"},
    "level_typo": {"importance_sampling_level": "tokens"},
    "window": {**sampling("token_mask", 1.0, 2.0)},
    "window_closed": {**sampling("sequence_truncate", 2.0, 2.0)},
    "window_without_bounds": {**sampling("token_truncate", None)},
    "window_without_bounds_or_vllm": {**sampling("sequence_truncate", None), "use_vllm": False},
    "window_upside_down_without_vllm": {**sampling("sequence_mask", 1.0, 2.0), "use_vllm": False},
    "vespo_default_mode": {"loss_type": "vespo", "use_vllm": True},
    "vespo_sequence_truncate": {"loss_type": "vespo", **sampling("sequence_truncate", 2.0)},
    "sync_without_reference": {"sync_ref_model": True},
    "both_sizes": {"generation_batch_size": 24, "steps_per_generation": 2},
    "parts_of_groups": {"generation_batch_size": 6, "per_device_train_batch_size": 3, "loss_type": "grpo"},
    "groups_do_not_divide": {"num_generations": 5},
    "auto_batch_size": {"auto_find_batch_size": True},
    "hub_without_log": {"log_completions_hub_repo": "user/name"},
    "entropy_share": {"top_entropy_quantile": -0.5},
    "mode": {**sampling("token_clip", 3.0)},
    "gmpo_one_completion": {"trainer": "GMPOTrainer", "num_generations": 1},
    "gmpo_vespo": {"trainer": "GMPOTrainer", "loss_type": "vespo", "use_vllm": True},
}
REFUSED_SCORES = {
    "scale": {"scale_rewards": "std"},
    "aggregation": {"multi_objective_aggregation": "sum"},
    "weights": {"reward_weights": [1.0, 2.0]},
}


def of_refusals() -> list[dict[str, Any]]:
    """What TRL refuses, with its error."""
    given = OFF | SAMPLED | ENTROPIES
    cases = [loss(f"refused_{name}", config, given) for name, config in REFUSED.items()]
    given = {"components": "rewards_per_func", "weights": "reward_weights", "mask": "mask"}
    return cases + [scores(f"refused_{name}", config, given) for name, config in REFUSED_SCORES.items()]


FAMILIES = (
    of_masks,
    of_ratios,
    of_penalties,
    of_samplers,
    of_filters,
    of_bounds,
    of_pairs,
    of_bonuses,
    of_accumulation,
    of_micro_batches,
    of_coefficients,
    of_single_tokens,
    of_odd_bounds,
    of_gmpo,
    of_advantages,
)


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    warnings.filterwarnings("ignore")
    import torch
    import trl

    torch.set_num_threads(1)
    if trl.__version__ != VERSION:
        sys.exit(f"this records TRL {VERSION}, not {trl.__version__}")
    found = [recorded(case) for family in FAMILIES for case in family()]
    cases = [case for case in found if case is not None]
    refused = [recorded(case) for case in of_refusals()]
    for case in cases + refused:
        if ("refused" in case) != (case in refused):
            print(f"{case['id']}: {case.get('refused', 'not refused')}")
    about = {"versions": f"TRL {VERSION} (PyPI), PyTorch {torch.__version__.split('+')[0]}, CPU"}
    path = writing.write("trl", cases + [case for case in refused if "refused" in case], about)
    print(f"wrote {len(cases) + len(refused)} cases to {path.name}; {found.count(None)} were not finite")


if __name__ == "__main__":
    main()
