"""Run the cases with the release of TRL on PYTHONPATH.

    python -m grpo_conformance.releases.trl_run OUT.json [CASE ...]

A case runs the real GRPOConfig, GRPOTrainer and `train()` for five batches of twelve completions.
Recorded are the gradient by the policy's log-probabilities, summed over the optimizer steps of one
batch, the loss of each call, and the advantages. `on_policy` says that the trainer gave the loss no old
log-probabilities, so the ratio is 1. The learning rate is 0, so the policy stays as scripted. Cases that
OUT.json has already are kept.
"""

import contextlib
import dataclasses
import gc
import importlib
import inspect
import io
import json
import logging
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {
    "TRL_EXPERIMENTAL_SILENCE": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "ACCELERATE_USE_CPU": "true",
    "CUDA_VISIBLE_DEVICES": "",
}
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402  after the environment is set

from grpo_conformance.releases import scripted  # noqa: E402
from grpo_conformance.releases.trl_cases import CASES, PINS, Keys  # noqa: E402

ALWAYS: Keys = {
    "num_generations": scripted.GENERATIONS,
    "max_completion_length": scripted.LENGTH,
    "learning_rate": 0.0,
    "lr_scheduler_type": "constant",
    "report_to": [],
    "logging_steps": 1,
    "save_strategy": "no",
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "seed": 42,
    "disable_tqdm": True,
    "remove_unused_columns": False,
}


def keys_for(case: Keys, fields: set[str]) -> tuple[Keys, list[str]]:
    """Return the keys for GRPOConfig, and the keys of the case that this release does not have."""
    asked = {key: value for key, value in case.items() if not key.startswith("_")}
    pins = PINS if case.get("_pins", True) else {}
    renamed = ("vllm_importance_sampling_cap", "vllm_importance_sampling_clip_max")
    if renamed[1] in fields:  # the same bound under its newer name
        pins = {key: value for key, value in pins.items() if key != renamed[0]}
        if renamed[0] in asked:
            asked[renamed[1]] = asked.pop(renamed[0])
    # Before `loss_type` existed there was one loss, and the cases of "grpo" ran it.
    without_key = {"loss_type": "grpo", "num_iterations": 1}
    missing = [key for key, value in asked.items() if key not in fields and without_key.get(key) != value]
    keys = {**ALWAYS, **{key: value for key, value in {**pins, **asked}.items() if key in fields}}
    if not case.get("_max_completion_length", True):
        del keys["max_completion_length"]
    return keys, missing


def run_case(case: Keys) -> dict[str, Any]:
    """Run one case. The result has `batches`, or `absent` with the missing keys, or `error`."""
    from trl import GRPOConfig, GRPOTrainer

    keys, missing = keys_for(case, {field.name for field in dataclasses.fields(GRPOConfig)})
    if case.get("_holes") and not hasattr(GRPOTrainer, "_tool_call_loop"):
        missing.append("tools")
    if missing:
        return {"absent": missing}
    folder = tempfile.mkdtemp(dir=".")
    try:
        return {"batches": train(case, GRPOConfig(output_dir=folder, **keys))}
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = " ".join(str(error).split())[:200]
        return {"error": f"{type(error).__name__}: {message} [{Path(where.filename).name}:{where.lineno}]"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def train(case: Keys, args: Any) -> list[dict[str, Any]]:
    """Train on all batches and return what each batch's optimizer steps saw."""
    import trl.trainer.grpo_trainer as module
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, TrainerCallback

    generation_steps = getattr(args, "steps_per_generation", None) or args.gradient_accumulation_steps
    steps_per_batch = getattr(args, "num_iterations", 1) * max(
        1, generation_steps // args.gradient_accumulation_steps
    )
    args.max_steps = steps_per_batch * scripted.BATCHES
    batches = [scripted.make_tables(seed, case.get("_tables", "")) for seed in range(scripted.BATCHES)]
    policies = [tables.policy.clone().requires_grad_() for tables in batches]
    recorded: list[dict[str, Any]] = [
        {
            "gradient": torch.zeros(scripted.ROWS, scripted.LENGTH),
            "advantages": [None] * scripted.ROWS,
            "losses": [],
            "on_policy": True,
        }
        for _ in batches
    ]
    step = 0

    def at() -> int:
        return min(step // int(steps_per_batch), scripted.BATCHES - 1)

    def tables() -> scripted.Tables:
        return batches[at()]

    class ReadGradients(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            nonlocal step
            policy = policies[at()]
            if policy.grad is not None:
                recorded[at()]["gradient"] += policy.grad
                policy.grad = None
            step = state.global_step

    drop_argument_of_sampler(module.GRPOTrainer)
    model = AutoModelForCausalLM.from_pretrained(scripted.TINY_MODEL)
    trainer = module.GRPOTrainer(
        model=model,
        reward_funcs=[
            reward_function(i, tables, case.get("_unscored")) for i in range(case.get("_functions", 1))
        ],
        args=args,
        train_dataset=Dataset.from_dict(
            {"prompt": [f"p{i}" for i in range(case.get("_prompts", scripted.GROUPS))]}
        ),
        processing_class=PreTrainedTokenizerFast.from_pretrained(scripted.TINY_MODEL, padding_side="left"),
        callbacks=[ReadGradients()],
    )
    # Releases shuffle the rows of a generation; in order, every release has the same micro-batches.
    for name in ("shuffle_tensor_dict", "shuffle_sequence_dict"):
        if hasattr(module, name):
            setattr(module, name, lambda rows: rows)
    scripted.script_forward(
        trainer.model, lambda: policies[at()] if torch.is_grad_enabled() else tables().old
    )
    if getattr(trainer, "ref_model", None) is not None:
        scripted.script_forward(trainer.ref_model, lambda: tables().reference)
    trainer.model.generate = scripted.scripted_generate(tables)
    if case.get("_vllm"):
        script_vllm(trainer, tables, none=case.get("_none", False))
    if case.get("_holes"):
        script_tools(trainer, tables)

    compute_loss = trainer.compute_loss

    def compute_loss_and_record(model: Any, inputs: Any, *others: Any, **named: Any) -> Any:
        if (
            isinstance(inputs, dict) and "advantages" in inputs
        ):  # 0.14 and 0.15 compute the advantages in the loss
            rows = (inputs["completion_ids"][:, 0] - scripted.FIRST_ROW).tolist()
            for row, advantage in zip(rows, inputs["advantages"], strict=True):
                recorded[at()]["advantages"][row] = advantage.reshape(-1)[0].item()
            recorded[at()]["on_policy"] = inputs.get("old_per_token_logps") is None
        loss = compute_loss(model, inputs, *others, **named)
        recorded[at()]["losses"].append(loss.item())
        return loss

    trainer.compute_loss = compute_loss_and_record
    with contextlib.redirect_stdout(io.StringIO()):
        trainer.train()
    return [{**batch, "gradient": batch["gradient"].tolist()} for batch in recorded]


def reward_function(i: int, tables: Callable[[], scripted.Tables], unscored: Any) -> Callable[..., Any]:
    """Return a function that reads the scripted rewards.

    Args:
      i: number of the function.
      tables: returns the current batch.
      unscored: as in `scripted.is_scored`.
    """

    def reward(completions: list[str], **_: Any) -> list[float | None]:
        rows = [int(completion.split()[0][1:]) for completion in completions]
        return [
            tables().rewards[row, i].item() if scripted.is_scored(unscored, row, i) else None for row in rows
        ]

    reward.__name__ = f"reward_{i}"
    return reward


def drop_argument_of_sampler(cls: Any) -> None:
    """Let the sampler of TRL 0.16 to 0.18 ignore the data set that newer versions of transformers pass."""
    sampler = vars(cls).get("_get_train_sampler")
    if sampler is not None and len(inspect.signature(sampler).parameters) == 1:
        cls._get_train_sampler = lambda self, *dataset: sampler(self)


def script_vllm(trainer: Any, tables: Callable[[], scripted.Tables], none: bool) -> None:
    """Pretend that vLLM generated the completions, with the sampler's log-probabilities.

    Args:
      trainer: the trainer to change.
      tables: returns the current batch.
      none: write None for a token that could not be scored, as newer releases' vLLM client does, and not NaN.
    """
    import trl.trainer.grpo_trainer as module

    def log_probs(completions: list[list[int]]) -> list[list[float | None]]:
        rows = [tables().sampler[ids[0] - scripted.FIRST_ROW][: len(ids)].tolist() for ids in completions]
        return [[None if none and value != value else value for value in row] for row in rows]

    trainer.use_vllm = True
    if hasattr(trainer, "_generate_single_turn"):  # 0.24 and later
        single_turn = trainer._generate_single_turn

        def generate(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
            trainer.use_vllm = False
            out = list(single_turn(*args, **kwargs))
            trainer.use_vllm = True
            # The log-probabilities, None without vLLM, follow the completions.
            place = next(i for i, value in enumerate(out) if value is None and i)
            out[place] = log_probs(out[place - 1])
            return tuple(out)

        trainer._generate_single_turn = generate
        return

    class Client:
        def generate(self, prompts: list[str], n: int, **_: Any) -> Any:
            given = [int(prompt[1]) % scripted.GROUPS for prompt in prompts]
            rows = [
                group * scripted.GENERATIONS + k % scripted.GENERATIONS for group in given for k in range(n)
            ]
            ids = [tables().ids[row][: int(tables().lengths[row])].tolist() for row in rows]
            if '["logprobs"]' not in inspect.getsource(module):
                return ids
            return {"completion_ids": ids, "logprobs": log_probs(ids), "prompt_ids": None}

    trainer.vllm_mode, trainer.vllm_client, trainer.args.vllm_mode = "server", Client(), "server"
    trainer._move_model_to_vllm = lambda: None
    trainer._last_loaded_step, trainer.guided_decoding_regex = -1, None


def script_tools(trainer: Any, tables: Callable[[], scripted.Tables]) -> None:
    """Pretend that some tokens are the answers of a tool, which makes holes in the mask (0.26 and later)."""
    with_images = "tool_images" in inspect.getsource(trainer._tool_call_loop)  # 1.1 and later

    def loop(
        prompts: Any, prompt_ids: Any, completion_ids: Any, completions: Any, logprobs: Any, *_: Any
    ) -> Any:
        mask = [
            (~tables().holes[ids[0] - scripted.FIRST_ROW][: len(ids)]).int().tolist()
            for ids in completion_ids
        ]
        out = (mask, completions, completion_ids, logprobs, 0, 0)
        return (*out, [None] * len(mask)) if with_images else out

    trainer.tools, trainer._tool_call_loop = ["scripted"], loop


class PlainLogProbs:
    """Replacement of a Triton kernel. TRL 1.15.0 alone has no other code for the head's log-probabilities."""

    @staticmethod
    def apply(
        hidden: Any,
        weight: Any,
        bias: Any,
        labels: Any,
        temperature: float,
        chunk: int,
        softcap: Any,
        scale: float,
        outputs: tuple[str, ...] = (),
    ) -> tuple[Any, ...]:
        """Return log-probabilities, and entropies if they are among the outputs."""
        logits = torch.nn.functional.linear(hidden, weight, bias) * scale / temperature
        log_probs = logits.log_softmax(-1)
        entropies = -(log_probs.exp() * log_probs).sum(-1) if "entropy" in outputs else None
        return log_probs.gather(-1, labels[:, None]).squeeze(-1), entropies, None, None, None


def main() -> None:
    """Run the cases that the file lacks, and write the file."""
    import trl.trainer.utils as utils

    importlib.import_module("trl.trainer.grpo_trainer")
    gc.freeze()  # Accelerate collects garbage after each training run, which took two thirds of the time
    torch.set_num_threads(1)
    if getattr(utils, "_ChunkedLogProbFunction", 0) is None:
        utils._ChunkedLogProbFunction = PlainLogProbs
    path = Path(sys.argv[1])
    results = json.loads(path.read_text()) if path.exists() else {}
    wanted = sys.argv[2:] or [name for name in CASES if name not in results]
    if wanted and not (scripted.TINY_MODEL / "config.json").exists():
        scripted.make_tiny_model()
    for place, name in enumerate(wanted, 1):
        results[name] = run_case(CASES[name])
        print(f"{place}/{len(wanted)} {name}", file=sys.stderr, flush=True)
    path.write_text(json.dumps({name: results[name] for name in CASES if name in results}))


if __name__ == "__main__":
    main()
