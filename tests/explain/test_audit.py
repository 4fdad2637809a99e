"""Audit: an entry touched a launch certainly only if the release and all values that decide are known."""

import json

import pytest

from grpo_ref.explain.errata.audit import Given, audit, line_of
from grpo_ref.explain.errata.folder import (
    LARGEST,
    MOST_FILES,
    Request,
    audit_file,
    audit_folder,
    launch_files,
)
from grpo_ref.explain.launch import Launch, launches

TRL = "trl grpo --model_name_or_path m --num_generations 8 "
PINNED = "pip install trl=={}\n" + TRL
VERL = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=8 "
ACTOR = "actor_rollout_ref.actor."
SWAPPED, DIVIDES = "trl-scale-rewards-does-not-divide", "trl-scale-rewards-none-divides"
TRUNCATED = "trl-truncated-tokens-in-the-denominator"
STEPS, LENGTH = "trl-steps-per-generation-denominator", "trl-dr-grpo-default-length"
TEXT = "trl-scale-rewards-text-is-true"
FILTER = "verl-filter-groups-only-in-the-recipe"
NO_STD, GSPO = "trl-dr-grpo-divides-by-std", "verl-gspo-clip-width"
DUAL, MEANS, BYPASS = (
    "verl-dual-clip-by-default",
    "verl-token-mean-of-micro-batches",
    "verl-bypass-mode-does-not-change-the-loss",
)
MASKED = "--loss_type dapo --mask_truncated_completions true"


def touches(text, name="train.sh", release=""):
    """Return the status and the conditions of each entry that touched the first launch of a text."""
    found = audit(launches(text, name)[0], text, release)
    return {each.entry.id: (each.status, each.conditions) for each in found.touches}


# launch -> entry, status, condition; the releases are those of the trainers' own change logs
STATUS = {
    "a stated release inside": (PINNED.format("0.22.1"), SWAPPED, "certain", ()),
    "a stated release outside": (PINNED.format("0.22.2"), SWAPPED, "no", ()),
    "the release is not stated": (TRL + MASKED, SWAPPED, "possible", ("TRL 0.22.0 to 0.22.1",)),
    "all releases that accept the file are inside": (
        f"{TRL}--loss_type cispo",
        "trl-cispo-default-cap",
        "certain",
        (),
    ),
    "some of the releases that accept the file": (
        TRL + MASKED,
        TRUNCATED,
        "possible",
        ("TRL 0.22.0 to 1.8.0",),
    ),
    "a given value avoids it": (f"{PINNED.format('1.8.0')}--loss_type dapo", TRUNCATED, "no", ()),
    "the value decides": (f"{PINNED.format('0.22.0')}--scale_rewards none", DIVIDES, "certain", ()),
    "another value": (f"{PINNED.format('0.22.0')}--scale_rewards none", SWAPPED, "no", ()),
    "a gap in the releases": (f"{PINNED.format('0.22.1')}--loss_type dr_grpo", NO_STD, "no", ()),
    "a range of the requirement": (f"pip install 'trl>=1.9.1'\n{TRL}{MASKED}", TRUNCATED, "no", ()),
    "a text for a choice that came later": (
        f"{PINNED.format('0.21.0')}--scale_rewards none",
        TEXT,
        "certain",
        (),
    ),
    "a text for another std": (f"{PINNED.format('0.20.0')}--scale_rewards batch", TEXT, "certain", ()),
    "a text that asks for what it gets": (f"{PINNED.format('0.20.0')}--scale_rewards group", TEXT, "no", ()),
    "a default of verl": (VERL, DUAL, "possible", ("verl 0.4.0 to 0.9.1",)),
    "a default at the first release": (f"pip install verl==0.4.0\n{VERL}", DUAL, "certain", ()),
    "a default before the key": (
        f"pip install trl==0.16.0\n{TRL}",
        "trl-token-mean-without-a-key",
        "certain",
        (),
    ),
    "a dual clip that was chosen": (f"{VERL}{ACTOR}clip_ratio_c=10", DUAL, "no", ()),
    "a release that nobody examined": (
        f"{VERL}algorithm.rollout_correction.bypass_mode=True algorithm.rollout_correction.rollout_is=token",
        BYPASS,
        "possible",
        (
            "verl 1dda039b (2026-08-22) to 0.9.1",
            "verl 0.7.0 to 0.9.0 behaves as the later releases do, which was not examined",
        ),
    ),
}


@pytest.mark.parametrize(("text", "entry", "status", "conditions"), STATUS.values(), ids=STATUS)
def test_the_status_of_a_touch(text, entry, status, conditions):
    assert touches(text).get(entry, ("no", ())) == (status, conditions)


def test_a_key_that_the_trainer_never_reads_touches_the_launch():
    launch = Launch("torchtune", "the name", {"reward_functions": ["f"], "loss.epsilon": 0.2}, is_sure=True)
    found = {each.entry.id: each for each in audit(launch).touches}
    assert [key for key, _, _ in found["torchtune-reward-functions-not-read"].keys] == ["reward_functions"]


def test_the_data_of_a_run_are_a_condition():
    status, conditions = touches(VERL, release="0.7.1")[MEANS]
    assert status == "possible"
    assert conditions[0].startswith("the FSDP actor cuts a mini-batch into several micro-batches")


def test_the_users_release_decides():
    assert touches(TRL, release="0.22.0")[SWAPPED] == ("certain", ())
    assert SWAPPED not in touches(PINNED.format("0.22.0"), release="1.16.0")


PINNED_VERL = (
    "pip install verl==0.7.1\npython3 {} algorithm.adv_estimator=grpo algorithm.filter_groups.enable=True"
)
PROGRAMS = {
    "-m verl.trainer.main_ppo": "certain",
    "-m recipe.dapo.main_dapo": "no",
    "-m recipe.dapo.src.main_dapo": "no",
    "-m verl_recipe.dapo.main_dapo": "no",
    "recipe/dapo/main_dapo.py": "no",
    "/data/verl/recipe/dapo/src/main_dapo.py": "no",
    "-m recipe.entropy.main_entropy": "no",
}


@pytest.mark.parametrize(("program", "status"), PROGRAMS.items(), ids=PROGRAMS)
def test_the_recipes_that_filter_groups_are_not_touched(program, status):
    """`dapo_ray_trainer.py` and `entropy_ray_trainer.py` of verl read filter_groups; its trainer does not."""
    assert touches(PINNED_VERL.format(program)).get(FILTER, ("no", ()))[0] == status


def test_a_missing_file_does_not_choose_the_program():
    text = PINNED_VERL.format("-m verl.trainer.main_ppo --config-name mine")
    assert touches(text)[FILTER][0] == "certain"


DROPPED = {
    "null and false": ({"reward_norm": None, "reward_shift": False, "reward_scale": False}, "no"),
    "a norm": ({"reward_norm": "batch", "reward_shift": False}, "certain"),
    "a scale": ({"reward_norm": None, "reward_scale": True}, "certain"),
}


@pytest.mark.parametrize(("keys", "status"), DROPPED.values(), ids=DROPPED)
def test_keys_that_do_nothing_are_not_dropped(keys, status):
    """ROLL until August 2025 normalizes nothing if reward_norm is null. False neither shifts nor scales."""
    launch = Launch("roll", "the name", {"adv_estimator": "reinforce", **keys}, is_sure=True)
    found = {each.entry.id: each for each in audit(launch, release="2025-10").touches}
    touch = found.get("roll-reward-norm-dropped")
    assert (touch.status if touch else "no") == status
    assert not touch or keys.items() <= {key: value for key, value, _ in touch.keys}.items()


UNKNOWN = {
    "a value that decides": ("--loss_type dapo --mask_truncated_completions $MASK", TRUNCATED),
    "a key that may be given": ("--loss_type dr_grpo --max_completion_length $LENGTH", LENGTH),
    "a value that would avoid it": ("--loss_type dr_grpo --scale_rewards $SCALE", NO_STD),
}


@pytest.mark.parametrize(("flags", "entry"), UNKNOWN.values(), ids=UNKNOWN)
def test_no_touch_rests_on_an_unknown_value(flags, entry):
    text = PINNED.format("1.8.0") + flags
    found = audit(launches(text, "train.sh")[0], text)
    assert entry not in {each.entry.id for each in found.touches}
    reasons = {each.id: told for each, told in found.undecided}
    assert "$" in reasons[entry][0]


def test_no_touch_rests_on_a_file_that_is_missing():
    text = "pip install trl==0.22.1\ntrl grpo --config missing.yaml --loss_type dr_grpo"
    found = audit(launches(text, "train.sh")[0], text)
    decided = {each.entry.id for each in found.touches}
    assert not {SWAPPED, LENGTH} & decided
    assert any("missing.yaml" in reason for _, told in found.undecided for reason in told)


def test_a_custom_script_may_set_what_is_not_given():
    text = "pip install trl==0.22.1\naccelerate launch train_mine.py --loss_type dapo --num_generations 8"
    text += " --beta 0.04 --max_completion_length 512 --reward_funcs f --use_vllm true --vllm_mode colocate"
    status, conditions = touches(text)[SWAPPED]
    assert status == "possible"
    assert conditions == ("train_mine.py trains as TRL does and does not set scale_rewards or trainer",)


def test_other_releases_of_a_trainer_with_one_described_release_are_unknown():
    text = "trainer:\n  x: 1\nactor:\n  use_decoupled_loss: true\n  kl_ctl: 0.0\n  ppo_n_minibatches: 1\n"
    launch = launches(text, "a.yaml", trainer="areal")[0]
    found = {each.entry.id: each for each in audit(launch, text).touches}
    assert found["areal-one-mini-batch-never-clips"].status == "possible"
    assert found["areal-one-mini-batch-never-clips"].conditions[0] == "AReaL cbff54d64 (2026-08-22)"


def test_a_release_that_only_the_keys_tell_is_a_condition():
    """`vllm_max_model_len` is gone in 0.18 and `loss_type` came with 0.17. A fork may have both."""
    text = TRL + "--vllm_max_model_len 1024 --loss_type bnpo"
    assert touches(text)["trl-default-temperature-0-9"] == ("possible", ("TRL 0.17.0",))
    notes = audit(launches(text, "train.sh")[0], text).notes
    assert notes == ("Later releases do not have vllm_max_model_len.",)


SUBCLASS = """
from trl import GRPOConfig, GRPOTrainer
from trl import GRPOTrainer as Trainer
class Base(Trainer):
    def {0}(self, *args):
        return super().{0}(*args)
class Mine(Base):
    def log(self, *args):
        return super(Mine, self).log(*args)
{1}(args=GRPOConfig(num_generations=8, beta=0.0, loss_type="dapo", mask_truncated_completions=True))
"""
# method that is overridden, class that is used, entry in TRL 0.22.1 -> name of the method in the condition
OVERRIDDEN = {
    "advantages": ("_generate_and_score_completions", "Mine", SWAPPED, True),
    "the base itself": ("_generate_and_score_completions", "Base", SWAPPED, True),
    "advantages, not the loss": ("_compute_loss", "Mine", SWAPPED, False),
    "the loss": ("_compute_loss", "Mine", TRUNCATED, True),
    "a class that is not used": ("_compute_loss", "GRPOTrainer", TRUNCATED, False),
    "another method": ("training_step", "Mine", TRUNCATED, False),
}


@pytest.mark.parametrize(("method", "used", "entry", "is_doubtful"), OVERRIDDEN.values(), ids=OVERRIDDEN)
def test_a_subclass_that_overrides_a_method_may_compute_something_else(method, used, entry, is_doubtful):
    """TRL divides by the std in `_generate_and_score_completions`, and by the tokens in `_compute_loss`."""
    status, conditions = touches(SUBCLASS.format(method, used), "a.py", "0.22.1")[entry]
    doubt = f"your subclass {used}, which overrides {method}, still does so"
    assert (status, conditions[:1]) == (("possible", (doubt,)) if is_doubtful else ("certain", ()))


LACKING = {
    "a flag": (
        f"{PINNED.format('0.17.0')}--importance_sampling_level sequence",
        ("TRL 0.17.0 does not have importance_sampling_level, so this release does not accept the file.",),
    ),
    "a flag of this release": (f"{PINNED.format('0.20.0')}--importance_sampling_level sequence", ()),
    "an override": (
        f"pip install verl==0.4.0\n{VERL}{ACTOR}policy_loss.loss_mode=gspo",
        (f"verl 0.4.0 does not have {ACTOR}policy_loss.loss_mode. It ignores the file's key, or stops.",),
    ),
    "an override that is added": (f"pip install verl==0.4.0\n{VERL}+{ACTOR}policy_loss.loss_mode=gspo", ()),
}


@pytest.mark.parametrize(("text", "notes"), LACKING.values(), ids=LACKING)
def test_a_release_that_lacks_a_key_does_not_accept_the_file(text, notes):
    """TRL 0.20.0 brought `importance_sampling_level`; verl 0.4.1 brought `policy_loss.loss_mode`."""
    assert audit(launches(text, "train.sh")[0], text).notes == notes


def test_a_long_list_of_missing_keys_is_shortened():
    """A pin of 0.14.0 and nine keys that came later."""
    keys = ("loss_type", "delta", "scale_rewards", "top_p", "top_k", "min_p", "repetition_penalty")
    flags = "".join(f"--{key} 1 " for key in (*keys, "importance_sampling_level", "top_entropy_quantile"))
    (note,) = audit(launches(PINNED.format("0.14.0") + flags, "train.sh")[0]).notes
    assert "loss_type, delta, scale_rewards, top_p, top_k and 4 more" in note


def test_the_program_that_reads_a_file_of_keys_may_set_defaults():
    text = "loss_type: dr_grpo\nnum_generations: 8\nbeta: 0.04\n"
    status, conditions = touches(text, "a.yaml", "0.22.0")[SWAPPED]
    assert status == "possible"
    assert conditions == ("the program that reads this file does not set scale_rewards or trainer",)


def test_a_fork_may_compute_something_else():
    """No release has both keys: `n_agent` is of forks of verl 0.2, and `rollout_is` came with 0.6.1."""
    text = f"{VERL}actor_rollout_ref.rollout.n_agent=8 algorithm.rollout_correction.rollout_is=token"
    found = touches(text)
    assert found
    for status, conditions in found.values():
        assert status == "possible"
        assert conditions[0].startswith("the fork computes as verl")


LINES = {
    "a flag": ("--loss_type", "x\ny --loss_type dapo \\\n", 2),
    "a flag with =": ("loss_type", "--loss_type=dapo", 1),
    "a hyphen": ("loss_type", "\n--loss-type dapo", 2),
    "an override": ("actor.clip_ratio", "a\nactor.clip_ratio=0.1", 2),
    "YAML": ("beta", "loss_type: grpo\nbeta: 0.1", 2),
    "Python": ("beta", "GRPOConfig(\n  beta=0.1,\n)", 2),
    "JSON": ("beta", '{\n"beta": 0.1}', 2),
    "a comment": ("beta", "# beta: 1", 0),
    "twice": ("beta", "beta: 1\nbeta: 2", 0),
    "a longer name": ("type", "loss_type: dapo", 0),
}


@pytest.mark.parametrize(("key", "text", "line"), LINES.values(), ids=LINES)
def test_the_line_of_a_key(key, text, line):
    assert line_of(key.lstrip("-"), text) == line


def test_the_keys_that_a_condition_asks_for_are_noted():
    given = Given({"a"})
    assert {"a", "b"} & given == {"a"}
    assert "c" not in given
    assert given.asked == {"a", "b", "c"}


@pytest.fixture
def folder(tmp_path):
    """A folder with six files that are read, and others that are not."""
    root = tmp_path / "runs"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "old.sh").write_text(PINNED.format("0.22.1"))
    (root / "new.sh").write_text(f"{PINNED.format('1.16.0')}--loss_type grpo\n")
    (root / "sub" / "unknown.yaml").write_text("loss_type: dr_grpo\nnum_generations: 8\nbeta: 0.04\n")
    (root / "broken.yaml").write_text("a: [1")
    (root / "hello.py").write_text("print('hello')\n")
    (root / "large.json").write_text(" " * (LARGEST + 1))
    (root / "notes.txt").write_text(TRL)
    (root / ".git" / "hook.sh").write_text(TRL)
    (tmp_path / "elsewhere.sh").write_text(PINNED.format("0.22.1"))
    (root / "link.sh").symlink_to(tmp_path / "elsewhere.sh")
    (root / "linked").symlink_to(tmp_path)
    return root


def test_the_files_of_a_folder(folder):
    names = [str(path.relative_to(folder)) for path in launch_files(folder)]
    assert names == ["broken.yaml", "hello.py", "large.json", "new.sh", "old.sh", "sub/unknown.yaml"]


def test_each_file_has_a_status(folder):
    found, left = audit_folder(folder, Request())
    assert left == 0
    assert {each.path: each.status for each in found} == {
        "broken.yaml": "unread",
        "hello.py": "no launch",
        "large.json": "unread",
        "new.sh": "untouched",
        "old.sh": "certain",
        "sub/unknown.yaml": "possible",
    }


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(folder):
    found, _ = audit_folder(folder, Request())
    problems = {each.path: each.problem for each in found}
    assert problems["large.json"] == "it is larger than 1,000,000 bytes"
    assert "flow sequence" in problems["broken.yaml"]


def test_the_number_of_files_is_bounded(folder, monkeypatch):
    monkeypatch.setattr("grpo_ref.explain.errata.folder.MOST_FILES", 2)
    found, left = audit_folder(folder, Request())
    assert (len(found), left) == (2, 4)
    assert MOST_FILES == 20_000


def test_only_one_trainer(folder):
    (folder / "verl.sh").write_text(VERL)
    found, _ = audit_folder(folder, Request("verl"))
    assert [each.path for each in found if each.audits] == ["verl.sh"]


def test_the_trainer_may_be_named_if_no_key_tells_it(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("beta: 0.1\nscale_rewards: none\n")
    found = audit_file(path, "a.yaml", Request("trl", {"trl": "0.22.1"}))
    assert DIVIDES in {touch.entry.id for each in found.audits for touch in each.touches}


def test_several_launches_of_a_file(tmp_path):
    path = tmp_path / "two.sh"
    path.write_text(f"{PINNED.format('0.22.1')}--beta 0.1\n{TRL}--beta 0.2 --scale_rewards none\n")
    found = audit_file(path, "two.sh", Request())
    ids = [{touch.entry.id for touch in each.touches} for each in found.audits]
    assert len(ids) == 2
    assert all(ids)
    assert SWAPPED in ids[0] | ids[1]
    assert DIVIDES in ids[0] | ids[1]


def test_the_result_can_be_written_as_json(folder):
    from grpo_ref.explain.errata.audit import as_data

    found, _ = audit_folder(folder, Request())
    data = json.loads(json.dumps([as_data(one) for each in found for one in each.audits], default=str))
    assert {each["status"] for one in data for each in one["touched"]} == {"certain", "possible"}
