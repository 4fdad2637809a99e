"""The faults that are put into simulated runs, and the statements that name each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from simulated_runs.setting import HEALTHY_WORLDS, Setting, healthy
from simulated_runs.worlds import WORLDS

Change = Callable[[Setting, np.random.Generator], Setting]


@dataclass(frozen=True)
class Fault:
    """A fault of a run.

    Attributes:
      about: the fault in one sentence.
      named_by: the statements that name it: codes of relations, names of facts or of patterns.
      change: function that changes the settings. The loop and the log read the name of the fault.
      trainers: the trainers whose logs show it.
      worlds: parts of the names of the worlds in which it shows; () for all.
    """

    about: str
    named_by: frozenset[str]
    change: Change = lambda setting, rng: setting
    trainers: tuple[str, ...] = ("trl", "verl")
    worlds: tuple[str, ...] = ()


def sets(**changes) -> Change:
    """Return the change that sets some settings."""
    return lambda setting, rng: replace(setting, **changes)


def named(text: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(text.split())


def _visible_loss(setting: Setting, rng: np.random.Generator) -> Setting:
    """TRL logs no advantages: its loss tells something if it is a mean per completion. verl's is 0 then."""
    return replace(setting, loss="grpo" if setting.trainer == "trl" else "dapo")


def _another_size(setting: Setting, rng: np.random.Generator) -> Setting:
    other = int(rng.choice([size for size in (2, 4, 8, 16) if size != setting.group_size]))
    return replace(setting, in_file={"group_size": other})


def _with_kl(setting: Setting, rng: np.random.Generator) -> Setting:
    return replace(setting, kl_coef=float(rng.choice([0.01, 0.04, 0.1])))


def _faster(setting: Setting, rng: np.random.Generator) -> Setting:
    return replace(setting, learning_rate=WORLDS[setting.world].learning_rate * 300.0, kl_coef=0.0)


def _slower(setting: Setting, rng: np.random.Generator) -> Setting:
    return replace(
        setting, learning_rate=WORLDS[setting.world].learning_rate / float(rng.choice([300.0, 1000.0]))
    )


def _usual_rate(setting: Setting, rng: np.random.Generator) -> Setting:
    return replace(setting, learning_rate=WORLDS[setting.world].learning_rate)


def _fivefold_rate(setting: Setting, rng: np.random.Generator) -> Setting:
    return replace(setting, learning_rate=5.0 * WORLDS[setting.world].learning_rate)


def _several_steps(setting: Setting, rng: np.random.Generator) -> Setting:
    epochs, minibatches = ((2, 1), (4, 1), (1, 4), (2, 2))[rng.integers(4)]
    return replace(setting, epochs=epochs, minibatches=minibatches)


ONE_STEP = sets(epochs=1, minibatches=1)


def together(*changes: Change) -> Change:
    """Return the change that makes several."""

    def change(setting: Setting, rng: np.random.Generator) -> Setting:
        for each in changes:
            setting = each(setting, rng)
        return setting

    return change


# Faults of code, data and files. A relation or a contradiction should name each.
OF_CODE = {
    "groups mixed": Fault(
        "The rewards of a group are of different prompts.", named("R4 R7 R8"), trainers=("trl",)
    ),
    "another group size": Fault(
        "The file has another group size.", named("group_size completions R4 R6 R18 R19 R24"), _another_size
    ),
    "wrong reference": Fault("The KL is measured to another model.", named("R30 reference_moves"), _with_kl),
    "reference moves": Fault(
        "The reference is updated with the policy.", named("R29 reference_moves"), _with_kl
    ),
    "KL not in the loss": Fault(
        "β is in the file, and not in the loss.",
        named("R11a R23 kl_coef"),
        together(_with_kl, ONE_STEP, sets(loss="grpo")),
        ("trl",),
    ),
    "sign of the KL": Fault(
        "The KL is subtracted from the loss.",
        named("R11a R23 kl_coef"),
        together(_with_kl, ONE_STEP, sets(loss="grpo")),
        ("trl",),
    ),
    "loss divided by N": Fault(
        "The loss is divided by the number of completions once too often.",
        named("R11a R21 kl_coef loss_scaled"),
        together(_with_kl, ONE_STEP, _visible_loss),
    ),
    "nothing is updated": Fault(
        "The optimizer never changes the parameters.", named("R29 R12 nothing_learned")
    ),
    "rewards weighted otherwise": Fault(
        "The rewards have other weights than the file says.", named("R1 weights"), trainers=("trl",)
    ),
    "good advantages times 1.4": Fault(
        "A clip range multiplies positive advantages.",
        named("R11a R18 R19 R22 R21"),
        together(ONE_STEP, sets(loss="grpo")),
    ),
    "ratio not recomputed": Fault(
        "Several steps per batch, and the ratio stays 1.", named("ratio_fixed"), _several_steps, ("verl",)
    ),
    "old log-probabilities are stale": Fault(
        "The old log-probabilities are those of the step before.",
        named("R9b loss_apart"),
        together(ONE_STEP, sets(logs_sampler=False)),
    ),
    "padding in the mask": Fault(
        "The mask has the padding too.",
        named("R21 R22 R11a R11b loss_apart"),
        together(ONE_STEP, sets(loss="dapo")),
        ("verl",),
    ),
    "last token lost": Fault(
        "The mask ends one token too early.",
        named("R21 R22 R11a R11b loss_apart"),
        together(ONE_STEP, sets(loss="dapo")),
        ("verl",),
    ),
    "prompt counted in the length": Fault("Lengths have the prompt too.", named("budget R24 R31")),
    "truncation counted inversely": Fault(
        "The share of truncated completions is that of the others.", named("R14b R26")
    ),
    "std with divisor G": Fault(
        "Standard deviations have the divisor G.", named("R4 R18 R19 R3 R5"), sets(loss="grpo")
    ),
    "advantages of the batch": Fault(
        "Advantages are standardized over the batch.",
        named("R18 R19 R11a R22 R25"),
        sets(loss="dapo"),
        ("verl",),
    ),
    "no baseline": Fault(
        "Advantages are the rewards.", named("R34 R18 R19 R11a R25"), sets(loss="dapo"), ("verl",)
    ),
    "sign of the advantages": Fault(
        "Bad completions are reinforced.", named("R21 reward_falls reward_drops")
    ),
    "KL in the reward": Fault(
        "A KL that the file does not have is in the reward.", named("R17"), _with_kl, ("verl",)
    ),
}

# Faults of settings and data. A pattern should name each.
OF_SETTINGS = {
    "learning rate too high": Fault(
        "The learning rate is 300 times too high.",
        named("collapse reward_falls reward_drops dead spikes never_solved"),
        _faster,
        worlds=("MLP", "transformer"),
    ),
    "learning rate too low": Fault(
        "The learning rate is 300 or 1000 times too low.", named("nothing_learned"), _slower
    ),
    "KL too strong": Fault("β is 5.", named("kl_pulls nothing_learned"), sets(kl_coef=5.0)),
    "prompts too hard": Fault(
        "Hardly any prompt is ever solved.",
        named("dead never_solved constant_reward"),
        sets(world="hopeless sums in a table", weights=(0.0, 1.0)),
    ),
    "prompts too easy": Fault(
        "Nearly all prompts are always solved.",
        named("dead solved_at_start"),
        sets(world="solved sums in a table"),
    ),
    "proxy reward": Fault(
        "A reward pays for long answers, at the cost of right ones.",
        named("hacking"),
        sets(kl_coef=0.0),
        ("trl",),
        ("sums",),
    ),
    "reward for length": Fault(
        "The reward grows with the length.",
        named("truncation hacking"),
        together(sets(kl_coef=0.0, updates=160), _usual_rate),
        worlds=("names",),
    ),
    "entropy bonus too strong": Fault(
        "The entropy bonus has the weight 2.",
        named("entropy_rises"),
        together(sets(entropy_coef=2.0, updates=160), _usual_rate),
        ("verl",),
    ),
    "only the format can be learned": Fault(
        "The format is rewarded, and answers are hardly ever right.",
        named("format_first never_solved"),
        sets(world="hopeless sums in a table"),
        ("trl",),
    ),
    "sampler not synchronized": Fault(
        "From some update on, the sampler keeps its weights.", named("sampler_apart"), sets(logs_sampler=True)
    ),
    "temperature of the sampler": Fault(
        "Sampler and learner have different temperatures.",
        named("sampler_apart sampler_differs R27"),
        sets(logs_sampler=True),
    ),
    "too many steps per batch": Fault(
        "Each batch is used 16 times, at five times the learning rate.",
        named("clips_much reward_falls reward_drops collapse"),
        together(sets(epochs=16, minibatches=1), _fivefold_rate),
    ),
    "spikes": Fault("Five batches have advantages that are 1000 times too large.", named("spikes")),
    "not a number": Fault("From some update on, loss and gradient are NaN.", named("nan")),
}
FAULTS = OF_CODE | OF_SETTINGS


def with_faults(seed: int, names: tuple[str, ...]) -> Setting:
    """Return the settings of a run with faults: those of a healthy run, changed.

    Raises:
      ValueError: if no trainer logs all of them.
    """
    rng = np.random.default_rng([seed, 9])
    faults = [FAULTS[name] for name in names]
    trainers = [name for name in ("trl", "verl") if all(name in fault.trainers for fault in faults)]
    if not trainers:
        raise ValueError(f"no trainer shows {names}")
    setting = replace(healthy(seed), trainer=str(rng.choice(trainers)), faults=frozenset(names))
    worlds = [
        world
        for world in HEALTHY_WORLDS
        if all(not fault.worlds or any(part in world for part in fault.worlds) for fault in faults)
    ]
    if setting.world not in worlds:
        world = str(rng.choice(worlds))
        setting = replace(setting, world=world, learning_rate=WORLDS[world].learning_rate)
    for fault in faults:
        setting = fault.change(setting, rng)
    return setting
