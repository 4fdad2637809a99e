"""The sentences around the text of an exercise, in each language of the statements."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Phrases(NamedTuple):
    """The sentences of one language. Names in braces are replaced.

    Attributes:
      task: heading above the task.
      examples: heading above the examples.
      write: sentence below the first heading; {signature} is the function with its arguments.
      tolerance: sentence on an unusual tolerance.
      picture: sentence that names the file of the picture.
      worth: line below the title; {s} is the ending of a plural.
      graded: rest of this line; {rules} is the page on grading.
      difficulty: name of each difficulty.
      see_also: heading of the last section.
      source: {source} is the paper or trainer.
      library: {name} is the package's own function.
      derivation: {number} is the step, {step} its name.
      recipe: {name} is the recipe.
      claim: {name} is the experiment.
      notebook: {name} is the notebook.
      check: last line; {name} is the exercise.
      the_notebook: heading on a chapter's page.
      idea: sentence below it; {name} is the notebook.
      exercises: heading above a chapter's exercises.
      grade_all: sentence below them; {name} is the chapter.
    """

    task: str
    examples: str
    write: str
    tolerance: str
    picture: str
    worth: str
    graded: str
    difficulty: Mapping[str, str]
    see_also: str
    source: str
    library: str
    derivation: str
    recipe: str
    claim: str
    notebook: str
    check: str
    the_notebook: str
    idea: str
    exercises: str
    grade_all: str


ENGLISH = Phrases(
    task="Your task",
    examples="Examples",
    write="Write `{signature}`.",
    tolerance="The tolerance of this exercise is {tolerance}.",
    picture="The picture is in {file}.",
    worth="{difficulty}, {points} point{s}",
    graded=". {rules} says how answers are graded.",
    difficulty=MappingProxyType({"easy": "Easy", "medium": "Medium", "hard": "Hard"}),
    see_also="See also",
    source="Source: {source}.",
    library="`{name}` computes the same in this package. Look at it when you are done.",
    derivation="Step {number} of the derivation, {step}, explains the formula.",
    recipe="`grpo-ref recipes {name}` shows the whole algorithm.",
    claim="Does it help? `grpo-ref experiment run {name} --quick` tests a claim about it.",
    notebook="The notebook {name}.ipynb; `grpo-ref notebooks` opens it.",
    check="Check me: grpo-ref grade {name}",
    the_notebook="The notebook",
    idea="`{name}.ipynb` shows the idea at work; `grpo-ref notebooks` opens it.",
    exercises="The exercises",
    grade_all="Grade them all: `grpo-ref grade {name}`. A hint for the next one: `grpo-ref hint {name}`.",
)
CHINESE = Phrases(
    task="任务",
    examples="示例",
    write="编写 `{signature}`。",
    tolerance="本题的容差是 {tolerance}。",
    picture="图见 {file}。",
    worth="{difficulty}，{points} 分",
    graded="。评分规则见 {rules}。",
    difficulty=MappingProxyType({"easy": "容易", "medium": "中等", "hard": "困难"}),
    see_also="另见",
    source="出处：{source}。",
    library="本库中的 `{name}` 做同样的计算，完成之后再看。",
    derivation="推导的第 {number} 步解释这个公式。",
    recipe="`grpo-ref recipes {name}` 显示整个算法。",
    claim="它真的有用吗？`grpo-ref experiment run {name} --quick` 检验一个与它有关的论断。",
    notebook="notebook {name}.ipynb；用 `grpo-ref notebooks` 打开。",
    check="检查答案：grpo-ref grade {name}",
    the_notebook="notebook",
    idea="`{name}.ipynb` 演示本章的思想；用 `grpo-ref notebooks` 打开。",
    exercises="练习",
    grade_all="给全部练习评分：`grpo-ref grade {name}`。给下一题要一个提示：`grpo-ref hint {name}`。",
)
PHRASES: Mapping[str, Phrases] = {"en": ENGLISH, "zh": CHINESE}
"""Language -> its phrases, for every language of `statement_file.LANGUAGES`."""
