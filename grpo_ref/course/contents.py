"""The table of contents: the chapters and exercises in the order of the course, with their points.

grpo_ref's own exercises come first, then those of packages, which are searched when the table is first used.
No exercise is imported here, so that the course can be listed quickly. The exercises themselves are in
`problems`; each one is imported when it is requested by its id.
"""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.packages import named_in, packages
from grpo_ref.course.source import BrokenPackage, Exercise, Source
from grpo_ref.listing import LateMapping

HINTS = 3
"""Number of hints of every exercise: a question, the tool that helps, nearly the solution."""
CHECKOUTS: list[Path] = []
"""Folders whose packages are part of the course in this process, whether they are installed or not."""

_CHAPTERS = {
    "probabilities": "Probabilities and log-probabilities",
    "advantages": "Groups and advantages",
    "ratios": "Ratios and clipping",
    "kl": "How far from the reference",
    "aggregation": "How much each token counts",
    "objective": "The whole objective",
    "training": "Training",
    "clinic": "The clinic",
    "network": "A neural policy",
}
_NOTEBOOKS = {
    "probabilities": "02_from_bandit_to_language",
    "advantages": "08_several_rewards",
    "ratios": "04_gallery_of_surrogates",
    "kl": "06_kl_and_reward_hacking",
    "aggregation": "05_three_pictures_of_W",
    "objective": "01_the_objective",
    "training": "02_from_bandit_to_language",
    "clinic": "09_the_clinic",
    "network": "11_a_transformer_by_hand",
}
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
    Exercise("advantages/process", "medium", 2),
    Exercise("advantages/gigpo", "medium", 2),
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
    Exercise("kl/distillation", "medium", 2),
    Exercise("aggregation/completion_mask", "easy", 1),
    Exercise("aggregation/token_mean", "easy", 1),
    Exercise("aggregation/sequence_mean", "easy", 1),
    Exercise("aggregation/fixed_length", "easy", 1),
    Exercise("aggregation/soft_overlong", "medium", 2),
    Exercise("aggregation/group_token_mean", "easy", 1),
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
    Exercise("network/attention", "medium", 2),
    Exercise("network/attention_slope", "hard", 3),
    Exercise("network/norm_slope", "medium", 2),
    Exercise("network/cross_entropy", "medium", 2),
    Exercise("network/next_token", "hard", 3),
    Exercise("network/imitation_step", "medium", 3),
    Exercise("network/grpo_step", "hard", 5),
    Exercise("network/unmoved_end", "medium", 2),
    Exercise("network/two_policies", "medium", 2),
)
OURS = Source("grpo_ref.course", Path(__file__).parent, _CHAPTERS, _LISTED, _NOTEBOOKS)
"""The exercises of grpo_ref itself."""


class Course(NamedTuple):
    """The exercises of all sources together.

    Attributes:
      sources: grpo_ref itself first, then the packages.
      chapters: folder name -> title, in order.
      exercises: exercises by id, in order.
      notebooks: chapter -> notebook that demonstrates its idea; not every chapter has one.
    """

    sources: tuple[Source, ...]
    chapters: Mapping[str, str]
    exercises: Mapping[str, Exercise]
    notebooks: Mapping[str, str]


@cache
def course() -> Course:
    """Search for packages, once, and combine all sources.

    Raises:
      BrokenPackage: if a package cannot be read, or uses a name that is taken.
    """
    sources = (OURS, *packages(CHECKOUTS))
    _require_names_of_their_own(sources)
    return Course(
        sources,
        {chapter: title for source in sources for chapter, title in source.chapters.items()},
        {exercise.id: exercise for source in sources for exercise in source.exercises},
        {chapter: notebook for source in sources for chapter, notebook in source.notebooks.items()},
    )


def _require_names_of_their_own(sources: tuple[Source, ...]) -> None:
    """Check that no two sources have the same chapter, or exercises with the same last part of the id.

    Submitted files are identified by this last part.
    """
    owners: dict[str, str] = {}
    for source in sources:
        chapters = [f"chapter {chapter!r}" for chapter in source.chapters]
        for thing in (*chapters, *(f"exercise {exercise.name!r}" for exercise in source.exercises)):
            if thing in owners:
                raise BrokenPackage(
                    f"the package of exercises {source.package!r} has the {thing}, and so has"
                    f" {owners[thing]!r}: rename it, or uninstall one of the two"
                )
            owners[thing] = source.package


CHAPTERS = LateMapping(lambda: course().chapters)
"""The chapters in order: folder name -> title."""
EXERCISES = LateMapping(lambda: course().exercises)
"""Every exercise by id, in the order of the course."""
NOTEBOOKS = LateMapping(lambda: course().notebooks)
"""Chapter -> notebook that demonstrates its idea; a package's chapter may have none."""


def source_of(name: str) -> Source:
    """Return the source of a chapter, or of an exercise by its chapter; grpo_ref itself if the chapter is
    unknown.
    """
    chapter = name.split("/")[0]
    return next((source for source in course().sources if chapter in source.chapters), OURS)


def source_at(root: Path) -> Source:
    """Return the source whose checkout a folder is: its own package, or grpo_ref itself if it has none.

    From then on, the package is part of the course in this process, whether it is installed or not.

    Raises:
      BrokenPackage: if the package cannot be read.
    """
    root = root.resolve()
    if not named_in(root):
        return OURS
    if root not in CHECKOUTS:
        CHECKOUTS.append(root)
        sys.path.insert(0, str(root))
        course.cache_clear()
    for source in course().sources:
        if source.checkout.resolve() == root:
            return source
    raise BrokenPackage(f"{root / 'pyproject.toml'} names a package that does not lie beside it")


def exercise_called(name: str) -> str:
    """Return the id of the exercise with this id, or with this last part of its id; "" if there is none.

    >>> exercise_called("k3"), exercise_called("kl/k3"), exercise_called("k4")
    ('kl/k3', 'kl/k3', '')
    """
    return next((each.id for each in EXERCISES.values() if name in (each.id, each.name)), "")


def exercises_in(chapter: str) -> list[Exercise]:
    """Return the exercises of a chapter, in order."""
    return [exercise for exercise in EXERCISES.values() if exercise.chapter == chapter]
