"""The course of a run: means over the first and the last tenth, and the best of the reward."""

from grpo_ref.diagnose.course_of_run import course_of_run
from grpo_ref.diagnose.log import log_of


def test_start_end_and_best():
    rewards = [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, *[0.2] * 10]  # tenths are two rows
    rows = [
        {"step": step, "reward": reward, "completions/clipped_ratio": 0.25, "kl": float("nan")}
        for step, reward in enumerate(rewards, 1)
    ]
    assert course_of_run(log_of(rows, "trl")) == (
        "Start to end: reward 0 to 0.2, best 1 at steps 3 to 4; cut off at the budget 25% to 25%."
    )
    assert course_of_run(log_of(rows[:9], "trl")) == ""
