"""The report as text says how much was tested, and its remarks lead to sections of the page on symptoms."""

import re
from pathlib import Path

import grpo_ref
from grpo_ref.diagnose import expected, patterns
from grpo_ref.diagnose.advice import Answer, answer, settings
from grpo_ref.diagnose.text import summary
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.report import explain

ROOT = Path(__file__).parents[2]


def test_a_report_without_a_finding_says_whether_anything_was_tested():
    nothing = {"step": 1.0, "Avg Reward": 0.5}
    share = {"step": 1.0, "reward": 0.25, "reward_std": 0.5, "completions/clipped_ratio": 0.25}
    end = ", and no pattern was found. This does not show that the run is healthy."
    assert summary(grpo_ref.diagnose([nothing])) == f"No exact relation could be tested{end}"
    assert re.fullmatch(
        r"1 of \d\d exact relations was tested, and holds" + re.escape(end),
        summary(grpo_ref.diagnose([share])),
    )


def test_every_remark_and_pattern_leads_to_a_section():
    page = (ROOT / "docs/howto/symptoms.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    source = Path(expected.__file__).read_text(encoding="utf-8")
    made = re.findall(r"Remark\((.*?)\n +\)", source, re.DOTALL)
    assert len(made) >= 7
    named = {each.rstrip(", \n").rsplit('"', 2)[1] for each in made}
    named |= {kind.page for kind in patterns.KINDS.values()}
    assert named <= anchors


def test_every_key_of_the_advice_is_one_of_its_trainer():
    for keys in settings().values():
        for trainer, key in keys.items():
            assert DIALECTS[trainer].key(key.partition(" ")[0]) is not None, (trainer, key)


def test_every_pattern_has_an_answer():
    assert [name for name in patterns.KINDS if answer(name, "trl") is None] == []


def test_the_keys_of_an_answer_have_their_values(tmp_path):
    path = tmp_path / "run.sh"
    path.write_text(
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo critic.optim.lr=1"
        " actor_rollout_ref.actor.optim.lr=2e-6 actor_rollout_ref.rollout.n=4\n",
        encoding="utf-8",
    )
    keys = ("actor_rollout_ref.actor.grad_clip", "actor_rollout_ref.actor.optim.lr (now 2e-06)")
    found = answer("spikes", "verl", explain(path))
    assert isinstance(found, Answer)
    assert found.keys == keys
    assert found.price.startswith("A lower limit")
    assert answer("spikes", "a fork").keys == ()
    assert answer("no such pattern", "trl") is None
