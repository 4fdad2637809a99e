"""The table of contents: the chapters and exercises in the order of the course, and what each counts.

Nothing of an exercise is imported here, so that the course can be listed at once. The exercises themselves
are in `problems`, where each is imported when it is asked for by its id.
"""

from typing import NamedTuple

CHAPTERS = {
    "probabilities": "Probabilities and log-probabilities",
    "advantages": "Groups and advantages",
    "ratios": "Ratios and clipping",
    "kl": "How far from the reference",
    "aggregation": "How much each token counts",
    "objective": "The whole objective",
    "training": "Training",
    "clinic": "The clinic",
}
"""The chapters in order: folder name -> title."""

NOTEBOOKS = {
    "probabilities": "02_from_bandit_to_language",
    "advantages": "08_several_rewards",
    "ratios": "04_gallery_of_surrogates",
    "kl": "06_kl_and_reward_hacking",
    "aggregation": "05_three_pictures_of_W",
    "objective": "01_the_objective",
    "training": "02_from_bandit_to_language",
    "clinic": "09_the_clinic",
}
"""Chapter -> the notebook that shows its idea at work."""

HINTS = 3
"""How many hints every exercise has: a question, the tool that helps, nearly the line."""


class Exercise(NamedTuple):
    """One line of the table of contents.

    Attributes:
      id: "chapter/name", also the path of its files.
      difficulty: "easy", "medium" or "hard".
      points: what it counts.
    """

    id: str
    difficulty: str
    points: int

    @property
    def chapter(self) -> str:
        """The first part of the id, a key of `CHAPTERS`."""
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        """The last part of the id."""
        return self.id.split("/")[1]


_LISTED = (
    Exercise("probabilities/log_softmax", "easy", 1),
    Exercise("probabilities/token_log_probs", "easy", 1),
    Exercise("probabilities/entropy", "easy", 1),
    Exercise("probabilities/sampling", "medium", 2),
    Exercise("advantages/group_normalized", "easy", 2),
    Exercise("advantages/centered", "easy", 1),
    Exercise("advantages/leave_one_out", "easy", 1),
    Exercise("advantages/mixed_groups", "easy", 1),
    Exercise("advantages/gdpo", "medium", 2),
    Exercise("advantages/ranks", "medium", 2),
    Exercise("ratios/token_ratio", "easy", 1),
    Exercise("ratios/scenarios", "medium", 2),
    Exercise("ratios/clipped", "medium", 2),
    Exercise("ratios/clipped_slope", "medium", 2),
    Exercise("ratios/dual_clip", "medium", 2),
    Exercise("ratios/cispo", "medium", 2),
    Exercise("ratios/sapo", "medium", 2),
    Exercise("ratios/sequence_ratio", "medium", 2),
    Exercise("kl/exact_kl", "easy", 1),
    Exercise("kl/estimators", "easy", 1),
    Exercise("kl/k3", "medium", 2),
    Exercise("kl/k3_slope", "medium", 2),
    Exercise("kl/normalized_kl", "medium", 2),
    Exercise("kl/expected_gradient", "medium", 2),
    Exercise("aggregation/completion_mask", "easy", 1),
    Exercise("aggregation/token_mean", "easy", 1),
    Exercise("aggregation/sequence_mean", "easy", 1),
    Exercise("aggregation/fixed_length", "easy", 1),
    Exercise("aggregation/soft_overlong", "medium", 2),
    Exercise("objective/grpo_objective", "hard", 3),
    Exercise("objective/grpo_loss", "hard", 3),
    Exercise("objective/grpo_gradient", "hard", 3),
    Exercise("objective/dapo_loss", "hard", 3),
    Exercise("training/policy_gradient", "medium", 2),
    Exercise("training/scatter_add", "easy", 1),
    Exercise("training/update", "medium", 3),
    Exercise("training/train_bandit", "medium", 3),
    Exercise("training/train_language", "hard", 5),
    Exercise("clinic/read_the_curve", "medium", 3),
    Exercise("clinic/falling_reward", "easy", 2),
    Exercise("clinic/easy_and_hard", "easy", 2),
    Exercise("clinic/large_groups", "medium", 2),
    Exercise("clinic/idle_clip", "medium", 2),
    Exercise("clinic/walking_away", "medium", 2),
    Exercise("clinic/talking_on", "medium", 2),
)
EXERCISES: dict[str, Exercise] = {exercise.id: exercise for exercise in _LISTED}
"""Every exercise by id, in the order of the course."""

FORMER_NAMES = {"advantages/centred": "advantages/centered"}
"""Ids of earlier versions, which stand in students' progress files -> what they are called now."""


def exercises_in(chapter: str) -> list[Exercise]:
    """The exercises of a chapter, in order."""
    return [exercise for exercise in EXERCISES.values() if exercise.chapter == chapter]
