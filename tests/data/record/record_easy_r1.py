"""Record EasyR1 b44b311b: `python tests/data/record/record_easy_r1.py SOURCES`, a checkout of it.

What runs is theirs: `PPOConfig` with OmegaConf's checks, `RayPPOTrainer.__init__` and
`FSDPWorker._init_dist_mesh` with theirs, `DataParallelPPOActor.update_policy` up to the optimizer step,
`apply_kl_penalty`, `compute_advantage`, `compute_data_metrics`, and `_make_batch_data` with its filter. Stubs
take the place of ray, vLLM, the reward function and the model, whose log-probabilities are those of the case.
Torch 2.13.0 on the CPU; the KL is float32 as they cast it. OmegaConf 2.3: with 2.4 their own default of
trainer.logger is refused, as its type has one text and its value two.
"""

import contextlib
import io
import itertools
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import writing
from absent import stand_in_for

ABSENT = (
    *("PIL", "accelerate", "av", "codetiming", "cv2", "datasets", "einops", "flash_attn", "liger_kernel"),
    *("mathruler", "mlflow", "msgspec", "numba", "peft", "pylatexenc", "qwen_vl_utils", "ray", "swanlab"),
    *("torchdata", "torchvision", "transformers", "vllm", "wandb"),
)
GROUP = 4
COMMIT = "EasyR1 b44b311b (2026-07-30)"
SIZES = {
    "data.rollout_batch_size": 3,
    "worker.actor.global_batch_size": 3,
    "worker.actor.micro_batch_size_per_device_for_update": 12,
    "worker.actor.micro_batch_size_per_device_for_experience": 12,
    "worker.rollout.n": GROUP,
    "worker.rollout.tensor_parallel_size": 1,
    "trainer.n_gpus_per_node": 1,
}
"""All twelve rows are one micro-batch of one device, unless a case says otherwise."""


def checked(config: dict[str, Any]) -> Any:
    """Their configuration after their checks, of the trainer and of a worker, or their error."""
    given = THEIRS.OmegaConf.create()
    for key, value in (SIZES | config).items():
        THEIRS.OmegaConf.update(given, key, value)
    merged = THEIRS.OmegaConf.merge(THEIRS.OmegaConf.structured(THEIRS.CONFIG.PPOConfig()), given)
    found = THEIRS.OmegaConf.to_object(merged)
    found.deep_post_init()
    nobody = {name: [] for name in ("tokenizer", "processor", "train_dataloader", "val_dataloader")}
    nobody |= {"role_worker_mapping": {}, "resource_pool_manager": MagicMock()}
    with contextlib.redirect_stdout(io.StringIO()):
        trainer = THEIRS.RAY.RayPPOTrainer(config=found, **nobody)
    workers = THEIRS.WORKERS
    workers.dist.get_world_size = lambda: found.trainer.nnodes * found.trainer.n_gpus_per_node
    workers.init_device_mesh = workers.FSDPUlyssesShardingManager = MagicMock()
    stub = SimpleNamespace(config=found.worker, print_rank0=lambda text: None)
    workers.FSDPWorker._init_dist_mesh(stub, found.worker.actor, "actor")
    if found.worker.rollout.tensor_parallel_size > 1:
        stub.world_size = workers.dist.get_world_size()
        stub._is_lora = False
        workers.FSDPWorker._build_rollout(stub)
    if not found.worker.hybrid_engine:
        trainer.init_workers()
    return found


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.long() if name == "mask" else array.to(getattr(torch, case.get("dtype", "float64")))


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """One `update_policy` of one mini-batch."""
    config = checked(case["config"]).worker.actor
    has = {name: tensor(case, name) for name in case["given"]}
    policy, mask = has["log_probs"].clone().requires_grad_(), has["mask"]
    advantages = has["advantages"]
    rows = torch.arange(len(mask))[:, None].expand_as(mask)
    fields = {
        **{name: rows for name in ("input_ids", "attention_mask", "position_ids", "responses")},
        "response_mask": mask,
        "old_log_probs": has.get("old_log_probs", policy.detach()),
        "advantages": advantages[:, None] * torch.ones_like(policy) if advantages.ndim == 1 else advantages,
    }
    if "ref_log_probs" in has and not config.disable_kl:
        fields["ref_log_probs"] = has["ref_log_probs"]
    fields["attention_mask"] = torch.ones_like(mask)
    data = THEIRS.PROTOCOL.DataProto.from_single_dict(fields, meta_info={"temperature": 1.0})
    actor = object.__new__(THEIRS.ACTOR.DataParallelPPOActor)
    actor.config, actor.rank, actor.world_size = config, 1, 1
    actor.actor_module = SimpleNamespace(train=lambda: None)
    actor._forward_micro_batch = lambda inputs, temperature: policy[inputs["input_ids"][:, 0]]
    actor._optimizer_step = lambda: torch.tensor(0.0)
    losses: list[torch.Tensor] = []
    backward = torch.Tensor.backward
    torch.Tensor.backward = lambda self: losses.append(self.detach()) or backward(self)
    try:
        logged = actor.update_policy(data)
    finally:
        torch.Tensor.backward = backward
    means = {name: sum(each) / len(each) for name, each in logged.items() if isinstance(each, list)}
    of_last = {name: each for name, each in logged.items() if not isinstance(each, list)}
    means.pop("actor/grad_norm")
    found = {"loss": sum(losses).item(), "grad_logp": policy.grad.tolist()}
    one = len(losses) == 1
    return (
        found | {"metrics": means | of_last if one else means} | ({} if one else {"other_metrics": of_last})
    )


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """The advantages as `fit` computes them, the penalty in the reward first."""
    config = checked(case["config"])
    rewards, mask = tensor(case, "rewards"), tensor(case, "mask")
    scores = torch.zeros(mask.shape, dtype=rewards.dtype)
    for row, length in enumerate(mask.sum(-1).tolist()):
        scores[row, length - 1] = rewards[row]
    fields = {"token_level_scores": scores, "response_mask": mask, "responses": mask, "attention_mask": mask}
    for name in ("old_log_probs", "ref_log_probs"):
        if name in case["given"]:
            fields[name] = tensor(case, name)
    data = THEIRS.PROTOCOL.DataProto.from_single_dict(fields)
    uids = [str(row // GROUP) for row in range(len(mask))]
    data.non_tensor_batch["uid"] = THEIRS.NUMPY.array(uids, dtype=object)
    algorithm, logged = config.algorithm, {}
    if not algorithm.use_kl_loss and not algorithm.disable_kl:
        control = THEIRS.CORE.get_kl_controller(algorithm)
        data.batch.setdefault("ref_log_probs", torch.zeros_like(scores))
        data.batch.setdefault("old_log_probs", torch.zeros_like(scores))
        data, logged = THEIRS.RAY.apply_kl_penalty(data, control, algorithm.kl_penalty)
    else:
        data.batch["token_level_rewards"] = data.batch["token_level_scores"]
    data = THEIRS.RAY.compute_advantage(data, algorithm.adv_estimator, algorithm.gamma, algorithm.lam)
    names = ("score/mean", "rewards/mean", "rewards/max", "rewards/min", "advantages/max", "advantages/min")
    found = THEIRS.METRICS.compute_data_metrics(data)
    logged |= {f"critic/{name}": found[f"critic/{name}"] for name in names}
    value = data.batch["advantages"].tolist()
    return {"value": value, "axes": ["completion", "token"], "metrics": logged}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups `_make_batch_data` keeps, each asked on its own."""
    config, rewards = checked(case["config"]), tensor(case, "rewards")
    config.data.rollout_batch_size = config.trainer.max_try_make_batch = 1
    kept = []
    for group in rewards.reshape(-1, GROUP):
        trainer = object.__new__(THEIRS.RAY.RayPPOTrainer)
        trainer.config = config
        ids = {name: torch.zeros(1, 1) for name in ("input_ids", "attention_mask", "position_ids")}
        texts = {name: THEIRS.NUMPY.array([None], object) for name in ("raw_prompt_ids", "multi_modal_data")}
        trainer.data_iterator = iter([ids | texts])
        made = THEIRS.PROTOCOL.DataProto.from_single_dict({"responses": torch.zeros(GROUP, 1)})
        trainer.actor_rollout_ref_wg = SimpleNamespace(generate_sequences=lambda batch, made=made: made)
        judged = (torch.zeros(GROUP, 1), {config.algorithm.filter_key: group.tolist()})
        trainer.reward_fn = SimpleNamespace(compute_reward=SimpleNamespace(remote=lambda batch, j=judged: j))
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                kept.append(float(len(trainer._make_batch_data({})) == GROUP))
        except RuntimeError:
            kept.append(0.0)
    return {"value": kept}


CALLS = {
    "loss": loss,
    "loss of a mini-batch": loss,
    "advantages": advantages,
    "kept groups": kept_groups,
}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
TYPES = ("default", "gspo", "gspo_token", "cispo", "sapo")
PENALTIES = ("kl", "abs", "mse", "low_var_kl")
NO_KL = {"algorithm.disable_kl": True}
WHOLE = {"worker.rollout.n": GROUP}


def actor(**config: Any) -> dict[str, Any]:
    """Keys of the actor."""
    return WHOLE | {f"worker.actor.{key}": value for key, value in config.items()}


def algorithm(**config: Any) -> dict[str, Any]:
    """Keys of the algorithm."""
    return WHOLE | {f"algorithm.{key}": value for key, value in config.items()}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"EasyR1, {name}", "call": call, "config": config, "given": given, **others}


SINGLE = {"dtype": "float32", "rtol": 1e-5}


def losses() -> Any:
    for kind in TYPES:
        for average in ("token", "seq"):
            config = NO_KL | actor(loss_type=kind, loss_avg_mode=average)
            yield case(f"{kind} by {average}", "loss", config, PLAIN)
            for mask in (
                ("mask_holes", "mask_empty") if average == "token" else ("mask_first_empty", "mask_single")
            ):
                yield case(f"{kind} by {average}, {mask}", "loss", config, PLAIN | {"mask": mask})
        config = NO_KL | actor(loss_type=kind)
        for policy in ("logp_at_bounds", "logp_extreme"):
            yield case(f"{kind}, {policy}", "loss", config, PLAIN | {"log_probs": policy})
        yield case(f"{kind}, float32", "loss", config, PLAIN, **SINGLE)
        given = {key: source for key, source in PLAIN.items() if key != "old_log_probs"}
        yield case(f"{kind}, on policy", "loss", config, given)
        yield case(
            f"{kind}, an advantage per token", "loss", config, PLAIN | {"advantages": "token_advantages"}
        )
        clips = {"clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4, "clip_ratio_dual": 1.01}
        yield case(f"{kind}, tiny clips", "loss", NO_KL | actor(loss_type=kind, **clips), PLAIN)
        clips = {"clip_ratio_low": 1.0, "clip_ratio_high": 4.0, "clip_ratio_dual": 10.0}
        given = PLAIN | {"log_probs": "logp_at_bounds"}
        yield case(f"{kind}, wide clips", "loss", NO_KL | actor(loss_type=kind, **clips), given)
        penalty = algorithm(use_kl_loss=True, kl_penalty="low_var_kl", kl_coef=0.1)
        yield case(f"{kind}, penalty", "loss", actor(loss_type=kind) | penalty, REFERENCE, rtol=1e-5)
    yield case("sapo, other sharpness", "loss", NO_KL | actor(loss_type="sapo", tau_positive=2.0), PLAIN)
    yield case("sapo, one sharpness", "loss", NO_KL | actor(loss_type="sapo", tau_negative=0.5), PLAIN)
    yield case("a loss that is not known", "loss", NO_KL | actor(loss_type="dapo"), PLAIN)
    for penalty in PENALTIES:
        for ref, average in (("ref_logp", "seq"), ("ref_logp_far", "token")):
            config = actor(loss_avg_mode=average)
            config |= algorithm(use_kl_loss=True, kl_penalty=penalty, kl_coef=0.05)
            given = REFERENCE | {"ref_log_probs": ref}
            yield case(f"{penalty} by {average}, {ref}", "loss", config, given, rtol=1e-5)
    config = algorithm(use_kl_loss=True, disable_kl=True, kl_coef=0.5)
    yield case("a penalty that is off", "loss", config, REFERENCE)
    config = algorithm(use_kl_loss=True, kl_coef=0.5, kl_type="adaptive", kl_penalty="mse")
    yield case("an adaptive weight in the loss", "loss", config, REFERENCE, rtol=1e-5)
    config = actor(use_kl_loss=True, kl_coef=0.5, kl_penalty="mse")
    yield case("a penalty in the wrong group", "loss", config, REFERENCE)


def steps() -> Any:
    for size in (1, 2, 6):
        for average in ("token", "seq"):
            for kind, mask in (("default", "mask_empty"), ("gspo_token", "mask")):
                config = SIZES | NO_KL | actor(loss_avg_mode=average, loss_type=kind, dynamic_batching=False)
                config |= actor(micro_batch_size_per_device_for_update=size)
                given = PLAIN | {"mask": mask}
                name = f"{kind} by {average} in micro-batches of {size}, {mask}"
                yield case(name, "loss of a mini-batch", config, given)
        config = SIZES | actor(loss_avg_mode="seq", dynamic_batching=False)
        config |= actor(micro_batch_size_per_device_for_update=size)
        config |= algorithm(use_kl_loss=True, kl_penalty="low_var_kl", kl_coef=0.1)
        yield case(
            f"penalty by seq in micro-batches of {size}", "loss of a mini-batch", config, REFERENCE, rtol=1e-5
        )


SCORED = {"rewards": "rewards", "mask": "mask"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
ESTIMATORS = ("grpo", "grpo_passk", "rloo", "reinforce_plus_plus")


def advantage_cases() -> Any:
    for kind in ESTIMATORS:
        config = algorithm(adv_estimator=kind, disable_kl=True)
        for rewards in ("rewards", "rewards_tied"):
            given = SCORED | {"rewards": rewards}
            yield case(f"{kind}, {rewards}", "advantages", config, given)
        yield case(f"{kind}, float32", "advantages", config, SCORED, **SINGLE)
        if kind != "reinforce_plus_plus":
            given = SCORED | {"rewards": "rewards_all_equal"}
            yield case(f"{kind}, rewards_all_equal", "advantages", config, given)
        yield case(f"{kind}, mask_empty", "advantages", config, SCORED | {"mask": "mask_empty"})
        yield case(
            f"{kind}, the penalty by default", "advantages", algorithm(adv_estimator=kind), JUDGED, rtol=1e-5
        )
        for penalty in PENALTIES:
            config = algorithm(adv_estimator=kind, kl_penalty=penalty, kl_coef=0.1)
            yield case(f"{kind}, {penalty} in the reward", "advantages", config, JUDGED, rtol=1e-5)
        given = JUDGED | {"mask": "mask_empty"}
        config = algorithm(adv_estimator=kind, kl_coef=-0.2)
        yield case(f"{kind}, a bonus in the reward, mask_empty", "advantages", config, given, rtol=1e-5)
        yield case(f"{kind}, no weight", "advantages", algorithm(adv_estimator=kind, kl_coef=0.0), JUDGED)
    for gamma in (0.9, 0.0):
        config = algorithm(adv_estimator="reinforce_plus_plus", gamma=gamma)
        yield case(f"discount {gamma}", "advantages", config | NO_KL, SCORED)
        yield case(f"discount {gamma}, penalty", "advantages", config, JUDGED, rtol=1e-5)
    config = NO_KL | algorithm(gamma=0.5)
    yield case("grpo, a discount that is not read", "advantages", config, SCORED)


def filters() -> Any:
    for rewards in ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied"):
        given = {"rewards": rewards}
        yield case(f"filter, {rewards}", "kept groups", algorithm(online_filtering=True), given)
        config = algorithm(online_filtering=True, filter_low=0.3, filter_high=0.9, filter_key="accuracy")
        yield case(f"filter by accuracy, {rewards}", "kept groups", config, given)
        yield case(f"no filter, {rewards}", "kept groups", algorithm(online_filtering=False), given)


REFUSED = {
    "no such estimator": {"algorithm.adv_estimator": "gpg"},
    "a group of one": {"worker.rollout.n": 1},
    "a group of one, rloo": {"worker.rollout.n": 1, "algorithm.adv_estimator": "rloo"},
    "no such average": actor(loss_avg_mode="sequence"),
    "no such penalty": algorithm(use_kl_loss=True, kl_penalty="k3"),
    "the penalty of two shapes": algorithm(use_kl_loss=True, kl_penalty="full"),
    "no such weight": algorithm(kl_type="linear"),
    "a weight without horizon": algorithm(use_kl_loss=True, kl_type="adaptive", kl_horizon=0),
    "batches that do not fit": {"data.rollout_batch_size": 5, "worker.actor.global_batch_size": 2},
    "micro-batches that do not fit": {"worker.actor.micro_batch_size_per_device_for_experience": 7},
    "updates that do not fit": {"worker.actor.micro_batch_size_per_device_for_update": 5},
    "more devices than completions": {"trainer.n_gpus_per_node": 1000},
    "an offload with several micro-batches": {
        "worker.actor.fsdp.enable_cpu_offload": True,
        "worker.actor.micro_batch_size_per_device_for_update": 2,
    },
    "devices that do not fit": {"worker.rollout.tensor_parallel_size": 2, "trainer.n_gpus_per_node": 3},
    "another engine": {"worker.hybrid_engine": False},
    "a word for a number": actor(clip_ratio_low="small"),
    "a word for a truth value": algorithm(online_filtering="perhaps"),
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", SIZES | config, REFERENCE) | {"refused": ""}
    config = SIZES | algorithm(adv_estimator="grpo_passk") | {"worker.rollout.n": 1}
    alone = {"rewards": "rewards", "mask": "mask", "old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
    yield case("refused: no second best", "advantages", config, alone) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError, NotImplementedError, RuntimeError, *ERRORS) as error:
        if "refused" not in case:
            raise
        return case | {"refused": (str(error) or type(error).__name__).splitlines()[0]}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def prepare(sources: Path) -> Any:
    """Their modules; ray.get gives what it is given."""
    sys.path.insert(1, str(sources))
    sys.modules["torch.utils.tensorboard"] = MagicMock()
    stand_in_for(ABSENT)
    sys.meta_path.insert(0, sys.meta_path.pop())  # also for those that are installed, in other versions
    import numpy
    from omegaconf import OmegaConf
    from verl import protocol
    from verl.trainer import config, core_algos, metrics, ray_trainer
    from verl.workers import fsdp_workers
    from verl.workers.actor import dp_actor

    ray_trainer.ray.get = lambda given: given
    dp_actor.dist.all_reduce = lambda *given, **others: None
    return SimpleNamespace(
        CONFIG=config,
        RAY=ray_trainer,
        CORE=core_algos,
        METRICS=metrics,
        WORKERS=fsdp_workers,
        ACTOR=dp_actor,
        PROTOCOL=protocol,
        NUMPY=numpy,
        OmegaConf=OmegaConf,
    )


if __name__ == "__main__":
    THEIRS = prepare(Path(sys.argv[1]).resolve())
    from omegaconf.errors import OmegaConfBaseException

    ERRORS = (OmegaConfBaseException,)
    done = [*map(recorded, itertools.chain(losses(), steps(), advantage_cases(), filters(), refusals()))]
    by = "tests/data/record/record_easy_r1.py"
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": by}
    print(writing.write("easy_r1", done, about), len(done))
