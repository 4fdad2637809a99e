"""Is everything as it was? Records what the package computes and says, and compares two such records.

    python snapshot.py record before.json --source CHECKOUT      with the Python of the one version
    python snapshot.py record after.json --source CHECKOUT       with the Python of the other one
    python snapshot.py compare before.json after.json

For a restructuring that must not change a digit. It uses only the public names of `grpo_ref` and its command
line, so modules may move. Numbers are kept to the last bit, and apart from sentences: a new wording is told,
but only a new number or a new structure makes the exit status 1. To record takes some minutes.
"""

import argparse
import difflib
import hashlib
import inspect
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import grpo_ref
from grpo_ref import DAPO, GRPO, RECIPES, TASKS, config_for, iter_train, policy_loss
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.claim_results import load
from grpo_ref.lab.framework.claim import claim_name
from grpo_ref.learning.optim import clip_by_norm
from grpo_ref.learning.policies.table import TABLE

SENTENCES = "text exhibit source says title name why wrong diagnosis printed warnings".split()
NAMESPACES = "rewards filters advantages levels surrogates penalties aggregation corrections diversity"
DECIMALS = r"-?\d+\.\d{4,}(?:e[+-]?\d+)?"
"""Numbers among sentences that were computed: nobody writes so many digits."""
REQUIRED = {"threshold": 0.1, "keep": 2, "beta": 0.5, "tokens": 7.0}
"""Settings of kernels that have no default."""
UPDATES, RUNS, SEEDS, SHOWN = 15, 3, 16, 60
STEPS = {"epochs": 2, "minibatches": 2}
CONFIGS = """
trl
trl loss_type=dr_grpo beta=0.04
trl importance_sampling_level=sequence use_vllm=true num_iterations=2
verl
verl loss_mode=gspo actor.entropy_coeff=0.01
verl use_kl_loss=true loss_agg_mode=seq-mean-token-mean
open_instruct
open_instruct loss_fn=cispo kl_estimator=1
rlinf
rlinf loss_agg_func=seq-mean-token-sum kl_penalty_type=k2
openrlhf
nemo_rl
nemo_rl use_dynamic_sampling=true use_importance_sampling_correction=true
slime
slime advantage_estimator=gspo use_tis=true use_opsm=true
openrlhf policy_loss_type=gspo use_kl_loss=true
understand_r1_zero
"""
PARTS = "advantage|level|surrogate|correction|penalty|aggregate|keep|admit|reward|kl_coef|bonus|limits"
EXPLAINED = (
    rf"^  ((?:{PARTS}) +[^\s,(]+(?:\(.*\))?)(?:.*(\[.*\]))?"  # a part with its settings or limits
    r"|^  (\S+ = [^:]+):|^(\d+) warning"  # a given key, and how many warnings follow
)
EXERCISE = r"^([* ] (\S+/\S+) .*) (\S+\.py)$"
LOSS = """import numpy as np
def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio, advantages = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0)), advantages[:, None]
    gain = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages)
    return -(gain * (mask > 0)).sum() / max((mask > 0).sum(), 1)
"""
Done = subprocess.CompletedProcess[str]
Call = Callable[..., Done]


class Snapshot:
    """Path -> number, plain value or list of texts; and path -> sentences."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.objective.phrases: dict[str, str] = {}

    def put(self, path: str, value: Any) -> None:
        """Take a value apart until every piece is an array, a number, a plain text or sentences."""
        if path.rpartition("/")[2] in SENTENCES and not isinstance(value, Mapping):
            self.objective.phrases[path] = text = value if isinstance(value, str) else "\n".join(value)
            self.values[path] = [f"given: {bool(text)}", *re.findall(DECIMALS, text)]
        elif isinstance(value, list | tuple) and any(not isinstance(item, str) for item in value):
            self.put(path, dict(enumerate(value)))
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self.put(f"{path}/{key}", item)
        elif isinstance(value, np.ndarray | np.generic | float):
            array = np.asarray(value)
            numbers = " ".join(float(number).hex() for number in array.ravel())
            self.values[path] = f"{array.dtype}{list(array.shape)}: {numbers}"
        else:
            self.values[path] = value

    def said(self, path: str, done: Done, facts: str = DECIMALS) -> None:
        """What a command printed; of that, what matches is a value, without its spaces."""
        text = done.stdout + done.stderr
        found = ["".join("".join(groups).split()) for groups in re.findall(facts, text, re.MULTILINE)]
        self.put(path, {"status": done.returncode, "facts": found, "text": text})


# ---- the names of the top level ----------------------------------------------------------------------


def everything() -> SimpleNamespace:
    """All that a kernel may read: 2 runs, 3 prompts, 4 completions of 1 to 5 tokens, 6 to choose from."""
    rng, shape = np.random.default_rng(20), (2, 3, 4, 5)
    ref_logits, *moves = rng.normal(size=(3, *shape, 6))
    logits = [ref_logits, *(ref_logits + 0.7 * move for move in moves)]
    every = [x - np.log(np.exp(x).sum(-1, keepdims=True)) for x in logits]
    tokens, lengths = rng.integers(0, 6, shape), rng.integers(1, 6, shape[:-1])
    ref, old, new = (np.take_along_axis(x, tokens[..., None], -1)[..., 0] for x in every)
    components, weights = rng.integers(0, 3, (*shape[:-1], 2)) / 2.0, np.array([1.0, 0.5])
    made = {"log_probs": new, "old_log_probs": old, "ref_log_probs": ref, "log_ratio": new - old}
    made |= {"rollout_log_probs": old + 0.3 * rng.normal(size=shape), "logits": logits[2], "tokens": tokens}
    made |= {"mask": (np.arange(5) < lengths[..., None]) * 1.0, "lengths": lengths, "max_length": 7}
    made |= {name: rng.random(shape) for name in ("noise", "correction", "step_rewards")}
    made |= {"entropies": -(np.exp(every[2]) * every[2]).sum(-1), "step_ends": rng.random(shape) < 0.4}
    made |= {"top_log_probs": every[2][..., :3], "top_rollout_log_probs": every[1][..., :3]}
    made |= {"turn_ids": np.where(made["mask"] > 0.0, rng.integers(-1, 2, shape), -1)}
    made |= {
        "turn_rewards": rng.random((*shape[:-1], 2)),
        "anchor_states": rng.integers(0, 2, (*shape[:-1], 2)),
    }
    made |= {"greedy_rewards": np.full(shape[:-1], 0.5), "score_norms": 1.0 - np.exp(made["old_log_probs"])}
    made |= {"group_ids": rng.integers(0, 3, shape[:-1])}
    made["teacher_log_probs"] = ref - 0.3 * np.random.default_rng(21).random(shape)
    made |= {"components": components, "weights": weights, "rewards": components @ weights}
    made |= {"advantages": rng.normal(size=shape), "ended": rng.random(shape[:-1]) < 0.7}
    made |= {"all_log_probs": every[2], "ref_all_log_probs": every[0], "gradient": every[2], "max_norm": 2.0}
    made |= dict(zip(("entropy", "distinct", "width"), np.sort(rng.random((3, 5)))[:, ::-1], strict=True))
    made |= dict(zip(("rhos", "A", "pi_theta_old", "pi_theta_ref"), rng.random((4, 4)), strict=True))
    return SimpleNamespace(**made, epsilon=0.2, beta=0.01)


def recipes(snapshot: Snapshot) -> None:
    """Every recipe on one batch: its parts, loss, gradient and metrics, also from logits."""
    fields = vars(everything())
    names = "old_log_probs ref_log_probs rollout_log_probs teacher_log_probs entropies noise"
    names += " top_log_probs top_rollout_log_probs"
    given = {name: fields[name] for name in names.split()}
    for name, recipe in RECIPES.items():
        batch, settings = SimpleNamespace(**fields), {"recipe": recipe, "max_length": fields["max_length"]}
        kept, admitted, batch.rewards = recipe.keep(batch), recipe.admit(batch), recipe.reward(batch)
        judged = {"kept": kept, "admitted": admitted, "advantages": recipe.advantage(batch)}
        arrays = (judged["advantages"], batch.mask)
        loss = policy_loss(batch.log_probs, *arrays, **settings, **given)
        first = (batch.logits[0], batch.tokens[0], *(array[0] for array in arrays))
        others = {key: array[0] for key, array in given.items()}
        logits = grpo_ref.policy_loss_from_logits(*first, **settings, **others)._asdict()
        found = {"parts": recipe.parts(), "judged": judged, "loss": loss._asdict(), "logits": logits}
        snapshot.put(f"recipes/{name}", found)


def kernels(snapshot: Snapshot) -> None:
    """Record every public function that finds all that it reads in the batch."""
    batch = everything()
    functions = {"grpo_objective": grpo_ref.grpo_objective, "clip_by_norm": clip_by_norm}
    for namespace in NAMESPACES.split():
        functions |= inspect.getmembers(import_module(f"grpo_ref.{namespace}"), inspect.isfunction)
    for name, kernel in functions.items():
        known = {*inspect.getfullargspec(kernel).kwonlyargs} & {*REQUIRED}
        part = grpo_ref.slot(kernel, **{key: REQUIRED[key] for key in known})
        if set(part.reads) <= set(vars(batch)):
            snapshot.put(f"kernels/{name}", part(batch))


def training(snapshot: Snapshot) -> None:
    """Curves of all metrics and the final logits: on every task, with every recipe, and of `train_many`."""

    def run(
        path: str, task: Any, recipe: Any, loop: Callable[..., Any] = iter_train, **settings: Any
    ) -> None:
        config = config_for(task, seeds=RUNS, **settings)
        teacher = {"teacher": TABLE.at(2.0 * TABLE.start(task, RUNS), 1.0)} if recipe.needs_teacher else {}
        every = list(loop(task, recipe, config, **teacher))
        curves = {name: np.array([update.metrics[name] for update in every]) for name in every[0].metrics}
        snapshot.put(f"training/{path}", {"metrics": curves, "logits": every[-1].state.params})

    bonus = {"entropy_coef": 0.01, "entropy_target": 2.0, "refilter_every": 5, "ref_refresh": 6}
    strong = replace(GRPO, kl_coef=0.2)
    for name, make in TASKS.items():
        task = make()
        run(f"{name}/grpo", task, GRPO, updates=UPDATES)
        run(f"{name}/dapo", task, DAPO, updates=UPDATES, max_grad_norm=0.1, **STEPS, **bonus)
        run(f"{name}/many", task, GRPO, train_many, updates=UPDATES)
        run(f"{name}/steps", task, strong, train_many, updates=UPDATES, optimizer="sgd", **STEPS)
    for name, recipe in RECIPES.items():
        small = {"updates": 3, "prompts": 8, "group_size": 4}
        run(f"recipes/{name}", TASKS["arithmetic"](largest=3), recipe, **small, **STEPS)


# ---- the command line --------------------------------------------------------------------------------


def experiments(snapshot: Snapshot, call: Call, folder: Path) -> None:
    """Every verdict, the numbers of every prediction, and hashes of all that the arms measured."""
    for command in ("run", "report --out report"):
        done = call("experiment", *command.split(), "--seeds", str(SEEDS), "--cache", "all")
        snapshot.said(f"experiments/{command}", done)
    for experiment in EXPERIMENTS.values():
        name = experiment.name
        one = load(folder / "report" / claim_name(experiment))[experiment.policy]
        hashes = []
        for path in folder.glob(f"all/{name}/*.npz"):
            with np.load(path) as file:
                content = b"".join(key.encode() + file[key].tobytes() for key in sorted(file))
            hashes.append(hashlib.sha256(content).hexdigest()[:16])
        samples = one["exhibit"].splitlines()[2:]
        snapshot.put(f"experiments/{name}", one | {"samples": samples, "measured": sorted(hashes)})


def grading(snapshot: Snapshot, call: Call, folder: Path) -> None:
    """All exercises as they come, solved, and with every sum turned into a difference."""
    call("init", "course")
    lines = re.findall(EXERCISE, call("list", "--folder", "course").stdout, re.MULTILINE)
    files = {name: folder / "course" / file for _, name, file in lines}
    answers = {name: call("solution", name, "--yes", "--folder", "course").stdout for name in files}
    starters = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    mistaken = {name: text.replace(" + ", " - ") for name, text in answers.items()}
    versions = {"starters": starters, "solutions": answers, "mistaken": mistaken}
    for version, texts in versions.items():
        for name, path in files.items():
            path.write_text(texts[name], encoding="utf-8")
        done = call("grade", "--folder", "course", "--json", "-")
        report = json.loads(done.stdout)
        report["exercises"] = {one["id"]: one for one in report["exercises"]}
        snapshot.put(f"grade/{version}", report | {"status": done.returncode, "text": done.stderr})
    snapshot.put("solution", {name: {"text": text} for name, text in answers.items()})
    for name in {name.partition("/")[0]: name for name in files}.values():  # one of each chapter
        hints = call("hint", name, "--steps", "99", "--folder", "course")
        snapshot.said(f"hint/{name}", hints, r"^(\d+ of \d+):")
    snapshot.said("list", call("list", "--folder", "course"), r"^[* ] \S+/\S+ .*(?= \S+\.py$)")


def trainers(snapshot: Snapshot, call: Call, folder: Path) -> None:
    """What is said of configurations, what they become elsewhere, and a loss function of one's own."""
    for config in CONFIGS.strip().splitlines():
        dialect, *keys = config.split()
        target = "trl" if dialect == "verl" else "verl"
        snapshot.said(f"explain/{config}", call("explain", dialect, *keys), EXPLAINED)
        converted = call("convert", "--from", dialect, "--to", target, *keys)
        snapshot.said(f"convert/{config}", converted, r"^(\w[\w.]*: .+)$|(\w+ = [^;\n]+)")
    (folder / "own.py").write_text(LOSS, encoding="utf-8")
    for other in ("--recipe lite_ppo", "--recipe dapo", "--recipe gspo", "--dialect trl", "--dialect verl"):
        checked = call("check", "own:loss", *other.split(), "--batches", "40")
        snapshot.said(f"check/{other}", checked, r"-?\d[\d.]*(?:e-?\d+)?")


def commands(snapshot: Snapshot, call: Call, folder: Path) -> None:
    """The options of every command, the table of recipes, and what `train` writes."""
    pending: list[list[str]] = [[]]
    while pending:
        path = pending.pop()
        done = call(*path, "--help")
        inner = re.findall(r"^  (\w+)  ", done.stdout.partition("\nCommands:")[2], re.MULTILINE)
        pending += [[*path, name] for name in inner]
        snapshot.said("/".join(["help", *path]), done, r"^  (?:-\w, )?(--[a-z-]+)")
    snapshot.said("table", call("recipes", "--markdown"), r"^\| `\w+` \| .*? \|")
    several = "--recipe dapo --updates 4 --seeds 2 --epochs 2 --minibatches 2 --entropy-coef 0.01".split()
    for name in TASKS:
        snapshot.said(f"train/{name}", call("train", name, *several, "--out", name))
        snapshot.put(f"train/{name}/config", json.loads((folder / name / "config.json").read_text()))
        snapshot.put(f"train/{name}/metrics", (folder / name / "metrics.csv").read_text().splitlines())


def proofs(snapshot: Snapshot, call: Call, source: Path, vectors: list[str]) -> None:
    """Which check of an exercise catches which wrong answer, and which recorded numbers are met."""
    done = call("dev", "check", "--table", "--root", str(source))
    snapshot.said("proofs", done, r"^\S+/\S+ +\d+ checks.*|(?:  [x.])+$|^\d+ exercises.*")
    compare = [str(Path(sys.executable).with_name("grpo-ref")), "parity", *vectors]
    done = subprocess.run(compare, cwd=source, capture_output=True, encoding="utf-8")
    cases = re.findall(r"^(PASS|FAIL)\s+(\S+)", done.stdout, re.MULTILINE)
    passed = {name: word == "PASS" for word, name in cases}
    snapshot.put("parity", {"status": done.returncode, "cases": len(cases), "passed": passed})


def calls(folder: Path, source: Path) -> Call:
    """Runs `grpo-ref`; places, addresses and remaining times are taken out of what it prints."""
    program = Path(sys.executable).with_name("grpo-ref")
    settings = {"cwd": folder, "env": os.environ | {"NO_COLOR": "1", "COLUMNS": "110"}}
    places = f"{re.escape(str(folder))}|{re.escape(str(source))}"
    varying = re.compile(rf"{places}|(?<=0x)[0-9a-f]{{6,}}|^.* s left\n", re.MULTILINE)

    def call(*arguments: str) -> Done:
        done = subprocess.run([program, *arguments], **settings, capture_output=True, encoding="utf-8")
        if done.returncode not in (0, 1):
            print(f"status {done.returncode}: {' '.join(arguments)}\n{done.stderr}", file=sys.stderr)
        done.stdout, done.stderr = (varying.sub("", text) for text in (done.stdout, done.stderr))
        return done

    return call


# ---- record and compare ------------------------------------------------------------------------------


def record(out: Path, source: Path, vectors: list[str]) -> None:
    """Do everything and write it down; two sections at a time, told on standard error."""
    snapshot, begun = Snapshot(), time.monotonic()

    def do(section: Callable[..., None], *arguments: Any) -> None:
        told = section.__name__
        try:
            section(snapshot, *arguments)
        except Exception as error:  # the other sections are worth having
            snapshot.put(f"{told}/failed", told := f"{told} failed: {error!r}")
        print(f"{time.monotonic() - begun:4.0f} s  {told}", file=sys.stderr)

    for section in (recipes, kernels, training):
        do(section)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name).resolve()
        call = calls(folder, source)
        sections = (experiments, grading, trainers, commands)
        work = [pool.submit(do, section, call, folder) for section in sections]
        for future in [*work, pool.submit(do, proofs, call, source, vectors)]:
            future.result()
    made = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    found = {"made with": made, "values": snapshot.values, "words": snapshot.words}
    out.write_text(json.dumps(found, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print the differences; 1 if one is more than a wording."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    if old["made with"] != new["made with"]:
        print(f"note: made with {old['made with']}, then with {new['made with']}")
    told = {kind: differences(kind, old[kind], new[kind]) for kind in ("words", "values")}
    sections = Counter(path.partition("/")[0] for path in new["values"])
    counts = ", ".join(f"{name} {count}" for name, count in sections.items())
    compared = f"{len(new['values'])} values ({counts}), {len(new['words'])} texts"
    if not any(told.values()):
        print(f"everything equal: {compared}")
    else:
        print(f"compared: {compared}")
        for kind, sections in told.items():
            print(f"{kind} that differ: {', '.join(f'{name} {n}' for name, n in sections.items()) or 'none'}")
    return 1 if told["values"] else 0


def differences(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Counter[str]:
    """Print what is different, not too much of each section, and count it by section."""
    told = Counter[str]()
    for path in sorted({*old, *new}):
        pair, section = (old.get(path, "absent"), new.get(path, "absent")), path.partition("/")[0]
        if repr(pair[0]) != repr(pair[1]):  # 1, 1.0 and True are not the same
            told[section] += 1
            if told[section] <= SHOWN:
                print(f"{kind}  {path}: {difference(*pair)}")
    return told


def difference(old: Any, new: Any) -> str:
    """Of arrays, how many numbers are different and by how much at most; of texts, the first such lines."""
    kinds, numbers = zip(*(str(value).partition(": ")[::2] for value in (old, new)), strict=True)
    if kinds[0] == kinds[1] and re.fullmatch(r"\w+\[[\d, ]*\]", kinds[0]):
        ours, theirs = (np.array([float.fromhex(number) for number in text.split()]) for text in numbers)
        apart = (ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs))
        most = np.abs(ours - theirs)[apart].max(initial=0.0)
        return f"{apart.sum()} of {ours.size} numbers, by up to {most:.3g}"
    texts = [value if isinstance(value, list) else str(value).splitlines() for value in (old, new)]
    lines = list(difflib.unified_diff(*texts, n=0, lineterm=""))[2:]
    return "".join(f"\n    {line:.160}" for line in lines if not line.startswith("@@"))[: 10 * SHOWN]


def main() -> int:
    """Read the command line."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    actions = parser.add_subparsers(dest="action", required=True)
    recording, comparing = (actions.add_parser(name) for name in ("record", "compare"))
    recording.add_argument("out", type=Path)
    recording.add_argument("--source", type=Path, default=Path(), help="the checkout")
    recording.add_argument("--vectors", type=Path, help="a file of recorded cases for parity")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.action == "compare":
        return compare(given.before, given.after)
    source = given.source.resolve()
    vectors = given.vectors or source / "tests" / "data" / "trainers.json"
    record(given.out, source, [str(vectors.resolve())] if vectors.is_file() else [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
