"""Record understand-r1-zero dfca49d: `python tests/data/record/record_understand_r1_zero.py SOURCES OAT`.

SOURCES is a checkout; OAT is the folder of its framework, the unpacked wheel of oat-llm 0.1.3.post1. What is
run is theirs: the arguments, their parser and checks; `ZeroMathActor.step`, which makes rewards of verdicts;
and `PPOLearner.learning_step` with `ZeroMathLearner.compute_monte_carlo_advantages`. Stubs take the place of
vLLM, the verifier, DeepSpeed and the model, whose log-probabilities are those of the case. Torch 2.13.0, CPU;
tyro is needed beside it.
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
    *(
        "deepspeed",
        "flash_attn",
        "launchpad",
        "latex2sympy2_extended",
        "llm_blender",
        "math_verify",
        "peft",
        "pylatexenc",
    ),
    *(
        "einops",
        "msgspec",
        "httpx",
        "scipy",
        "openai",
        "Levenshtein",
        "ray",
        "tree",
        "understand_r1_zero",
        "vllm",
        "wandb",
    ),
)
GROUP = 4
COMMIT = "understand-r1-zero dfca49d (2025-08-27), oat-llm 0.1.3.post1"


def parsed(config: dict[str, Any]) -> Any:
    """Their arguments after parser and checks; one GPU is said to be there."""
    told = []
    for key, value in ({"algo": "PPO", "gpus": 0, "eval_data": "none"} | config).items():
        told += [f"--{'no-' * (value is False)}{key}", *([] if isinstance(value, bool) else [str(value)])]
    sys.argv = ["train_zero_math", *told]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            args = OAT_ARGS.get_default_args(THEIRS.ZeroMathArgs)
        except SystemExit as stopped:
            raise ValueError(" ".join(said.getvalue().replace("│", " ").split())) from stopped
    return OAT_ARGS.default_args_validation(args)


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.to(getattr(torch, case.get("dtype", "float64")))


def trajectories(case: dict[str, Any], args: Any) -> list[Any]:
    """What `ZeroMathActor.step` makes of the verdicts."""
    rewards, mask, size = tensor(case, "rewards"), tensor(case, "mask"), args.num_samples
    ended = tensor(case, "ended") if "ended" in case["given"] else torch.ones(len(rewards))
    count = len(rewards) // size
    outputs = [
        SimpleNamespace(
            prompt_token_ids=[0],
            outputs=[
                SimpleNamespace(
                    text="",
                    finish_reason="stop" if ended[row] else "length",
                    token_ids=[1] * int(mask[row].sum()),
                    logprobs=[{1: SimpleNamespace(logprob=0.0)}] * int(mask[row].sum()),
                )
                for row in range(group * size, (group + 1) * size)
            ],
        )
        for group in range(count)
    ]
    actor = object.__new__(THEIRS.ZeroMathActor)
    actor.eval_mode, actor.args = False, args
    actor.sampling_params = SimpleNamespace(n=size, max_tokens=1, temperature=1.0)
    actor.generate = lambda *_: outputs
    told = [{"formatted": True}] * len(rewards)
    actor.oracle = SimpleNamespace(get_reward=lambda *_: (rewards, told))
    actor.ipc_client = SimpleNamespace(serialize_ipc=lambda data: data)
    return actor.step([""] * count, [""] * count, [""] * count)


def learn(case: dict[str, Any]) -> dict[str, Any]:
    """One `learning_step` of one mini-batch, with the advantages of the case if it has any."""
    torch.set_default_dtype(getattr(torch, case.get("dtype", "float64")))
    usual = {"train_batch_size_per_device": 12, "num_samples": GROUP}
    args = parsed(usual | case["config"])
    mask = tensor(case, "mask")
    has = {name: tensor(case, name) for name in case["given"]}
    policy = has.get("log_probs", torch.zeros_like(mask)).clone().requires_grad_()
    zeros = torch.zeros_like(mask)
    arrays = {0: has.get("old_log_probs", policy.detach()), 1: policy, 2: has.get("ref_log_probs", zeros)}
    learner = object.__new__(THEIRS.ZeroMathLearner)
    learner._init(args, [])
    learner.get_batch_logps = lambda logits, ids, masks: arrays[_which(logits)][ids[:, 0]][
        :, : ids.shape[1] - 1
    ]
    learner.model = lambda ids, attention_mask: {"logits": torch.ones(*ids.shape, 1)}
    penalized = args.beta > 0 or args.kl_penalty_coef > 0
    learner.ref_model = (
        (lambda ids, attention_mask: {"logits": torch.full((*ids.shape, 1), 2.0)}) if penalized else None
    )
    learner.args.temperature, learner.optimizer, learner.scheduler = 1.0, None, None
    losses: list[torch.Tensor] = []
    learner.strategy = SimpleNamespace(
        backward=lambda total, *_: total.backward() or losses.append(total.detach()),
        optimizer_step=lambda *_: None,
        get_gradient_norm=lambda *_: 0.0,
        grad_acc_step=1,
    )
    if "advantages" in has:
        learner.compute_monte_carlo_advantages = lambda rewards, masks: has["advantages"]
    else:
        real = learner.compute_monte_carlo_advantages
        learner.compute_monte_carlo_advantages = lambda *given: found.append(real(*given)) or found[0]
    found: list[torch.Tensor] = []
    entropy = has.get("entropies", zeros)
    order: list[Any] = []
    permutation = PPO.np.random.permutation
    PPO.np.random.permutation = lambda count: order.append(permutation(count)) or order[0]
    PPO.entropy_from_logits = lambda logits: entropy[order[0]][:, : logits.shape[1]]
    ids = torch.arange(len(mask))[:, None].expand(-1, mask.shape[1] + 1)
    if "rewards" in has:
        made = trajectories(case, args)
    else:
        ended = has.get("ended", torch.ones(len(mask)))
        made = [
            SimpleNamespace(rewards=[0.5], loss_mask=bool(end) or not args.ignore_no_eos) for end in ended
        ]
    infos = learner.learning_step(
        {
            "input_ids": ids,
            "attention_mask": torch.cat([torch.ones(len(mask), 1), mask], dim=1).long(),
            "rewards": [each.rewards for each in made],
            "loss_masks": [each.loss_mask for each in made],
            "prompt_ids_lens": [1] * len(mask),
        }
    )
    PPO.np.random.permutation = permutation
    logged = {name: value.item() for name, value in infos.items() if name in NAMES}
    return {"loss": losses[0].item(), "grad": policy.grad, "metrics": logged, "advantages": found}


NAMES = (
    *("pg_loss", "reg_loss", "kl3", "entropy", "logprobs_diff_max", "logprobs_diff_min", "pg_clipfrac"),
    *(
        "zero_pg_loss_count",
        "adv_mean",
        "adv_min",
        "adv_max",
        "all_zero_rewards_count",
        "all_one_rewards_count",
    ),
)
OF_ADVANTAGES = tuple(name for name in NAMES if name.startswith(("adv", "all")))


def _which(logits: torch.Tensor) -> int:
    """0 for the policy before the update, 1 for the policy, 2 for the reference."""
    return 2 if logits[0, 0, 0] == 2.0 else int(torch.is_grad_enabled())


def loss(case: dict[str, Any]) -> dict[str, Any]:
    found = learn(case)
    logged = {name: value for name, value in found["metrics"].items() if name not in OF_ADVANTAGES}
    logged = {
        name: value for name, value in logged.items() if name != "entropy" or "entropies" in case["given"]
    }
    return {"loss": found["loss"], "grad_logp": found["grad"].tolist(), "metrics": logged}


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    found = learn(case)
    logged = {name: found["metrics"][name] for name in OF_ADVANTAGES}
    rounding = {"adv_mean": logged.pop("adv_mean")}  # 0 but for rounding
    value = found["advantages"][0].tolist()
    return {"value": value, "axes": ["completion"], "metrics": logged, "other_metrics": rounding}


CALLS = {"loss": loss, "loss of what is admitted": loss, "advantages of shaped rewards": advantages}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
CRITICS = {name: {"critic_type": name, "beta": 0.0} for name in ("drgrpo", "grpo")}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"r1-zero, {name}", "call": call, "config": config, "given": given, **others}


def losses() -> Any:
    for name, c in CRITICS.items():
        for policy in ("logp", "logp_at_bounds", "logp_limited"):
            yield case(f"{name}, {policy}", "loss", c, PLAIN | {"log_probs": policy})
            clip = {"cliprange": 0.05}
            yield case(f"{name}, clip 0.05, {policy}", "loss", c | clip, PLAIN | {"log_probs": policy})
            plain = {"reinforce_update": True}
            yield case(f"{name}, reinforce, {policy}", "loss", c | plain, PLAIN | {"log_probs": policy})
        yield case(f"{name}, float32", "loss", c, PLAIN, dtype="float32", rtol=1e-5)
        given = {key: source for key, source in PLAIN.items() if key != "old_log_probs"}
        yield case(f"{name}, on policy", "loss", c, given)
        for width in (0.0, 1.0, 1.5, -0.1, -1.5):
            for policy in ("logp", "logp_at_bounds"):
                given = PLAIN | {"log_probs": policy}
                yield case(f"{name}, clip {width}, {policy}", "loss", c | {"cliprange": width}, given)
            given = {key: source for key, source in PLAIN.items() if key != "old_log_probs"}
            yield case(f"{name}, clip {width}, on policy", "loss", c | {"cliprange": width}, given)
        for length in (7, 3000):
            yield case(f"{name}, budget {length}", "loss", c | {"generate_max_length": length}, PLAIN)
        for ref in ("ref_logp", "ref_logp_far"):
            given = PLAIN | {"ref_log_probs": ref}
            for beta in (0.001, 0.04):
                yield case(f"{name}, beta {beta}, {ref}", "loss", c | {"beta": beta}, given)
        given = PLAIN | {"ref_log_probs": "ref_logp"}
        yield case(f"{name}, default beta", "loss", {"critic_type": name}, given)
        config = c | {"beta": 0.04, "reinforce_update": True}
        yield case(f"{name}, beta, reinforce", "loss", config, given)
        yield case(f"{name}, negative beta", "loss", c | {"beta": -0.1}, PLAIN)
        given = PLAIN | {"entropies": "entropy"}
        yield case(f"{name}, entropy", "loss", c, given)
        ended = {"inputs": {"ended": [int(row % 3 != 0) for row in range(12)]}}
        given = PLAIN | {"ref_log_probs": "ref_logp", "ended": "ended"}
        for ignored in (True, False):
            config = c | {"beta": 0.04, "ignore_no_eos": ignored}
            yield case(f"{name}, ignore {ignored}", "loss of what is admitted", config, given, **ended) | {}
    for mask in ("mask_empty", "mask_first_empty"):  # without any token theirs cannot take a maximum
        yield case(f"drgrpo, {mask}", "loss", CRITICS["drgrpo"], PLAIN | {"mask": mask})


SCORED = {"rewards": "rewards", "mask": "mask", "ended": "ended"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
CALL = "advantages of shaped rewards"


def advantage_cases() -> Any:
    ended = {"ended": [1] * 12}
    some = {"ended": [int(row % 3 != 0) for row in range(12)]}
    for name, c in CRITICS.items():
        for rewards in ("rewards", "rewards_some_equal", "rewards_tied", "rewards_all_equal"):
            given = SCORED | {"rewards": rewards}
            yield case(f"advantages: {name}, {rewards}", CALL, c, given, inputs=ended)
        yield case(f"advantages: {name}, cut off", CALL, c, SCORED, inputs=some)
        single = {"inputs": ended | {"group_size": 1}}
        yield case(f"advantages: {name}, groups of one", CALL, c | {"num_samples": 1}, SCORED, **single)
        for scale in (-1.0, 0.0):
            config = c | {"reward_scale": scale}
            yield case(f"advantages: {name}, scale {scale}", CALL, config, SCORED, inputs=some)
        for key in ({"reward_scale": 2.5}, {"non_stop_fixed_reward": -0.5}, {"non_stop_penalty": -1.0}):
            yield case(f"advantages: {name}, {key}", CALL, c | key, SCORED, inputs=some)
        for coef in (0.1, -0.1):
            config = c | {"kl_penalty_coef": coef}
            given = JUDGED if coef > 0 else SCORED
            yield case(f"advantages: {name}, kl in the reward {coef}", CALL, config, given, inputs=ended)
        config = c | {"kl_penalty_coef": -0.1, "beta": 0.04, "reward_scale": 2.0}
        yield case(f"advantages: {name}, kl bonus", CALL, config, JUDGED, inputs=some)


REFUSED = {
    "no such critic": {"critic_type": "rloo"},
    "no such template": {"prompt_template": "chat"},
    "no such verifier": {"verifier_version": "slow"},
    "words for a number": {"cliprange": "small"},
    "asynchronous and collocated": {"asynchronous": True, "collocate": True},
    "a reward model without exploration": {"learn_rm": True},
    "a reward model alone": {"learn_rm_only": True},
}


def refusals() -> Any:
    given = PLAIN | {"ref_log_probs": "ref_logp"}
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", CRITICS["drgrpo"] | config, given) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": str(error) or "AssertionError"}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


if __name__ == "__main__":
    stand_in_for(ABSENT)
    sys.path[1:1] = [str(Path(folder).resolve()) for folder in sys.argv[1:3]]
    import pyarrow

    pyarrow.plasma = MagicMock()
    import oat.algorithms.ppo as PPO
    import oat.args as OAT_ARGS
    import oat.learners
    import train_zero_math as THEIRS

    torch.cuda.current_device = lambda: "cpu"
    oat.learners.RLLearner._init = lambda self, args, actors: None
    THEIRS.load_from_disk = lambda path: {}
    done = [*map(recorded, itertools.chain(losses(), advantage_cases(), refusals()))]
    by = "tests/data/record/record_understand_r1_zero.py"
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": by}
    print(writing.write("understand_r1_zero", done, about), len(done))
