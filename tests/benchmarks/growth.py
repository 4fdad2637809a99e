"""Does the cost of training grow linearly with seeds, prompts, completions, tokens and vocabulary?

Each number is doubled four times with the others held; the exponent is the slope of log time over log number
between the last two, where the fixed cost of an update weighs least: at most 1 is linear or better. Printed
are milliseconds an update.
"""

from collections.abc import Mapping

import numpy as np
from measure import heading, interleaved, last_of, spread

from grpo_ref import GRPO, TASKS, Task, config_for, train

UPDATES, ROUNDS, DOUBLINGS = 5, 5, 4
START = {"seeds": 16, "prompts": 8, "group_size": 8}
TOKENS, ARMS = 3, 32
"""Where the budget of arithmetic and the number of arms of a bandit begin."""


def main() -> None:
    """Time each series and print its exponent."""
    heading("growth of training, ms an update")
    arithmetic = TASKS["arithmetic"]()
    for name, start in START.items():
        numbers = doubled(start)
        others = ", ".join(f"{other} {number}" for other, number in START.items() if other != name)
        grow(f"{name}, arithmetic with {others}", {n: (arithmetic, START | {name: n}) for n in numbers})
    lengths = {n: (TASKS["arithmetic"](largest=3, max_length=n), START) for n in doubled(TOKENS)}
    grow("tokens per completion (the budget of arithmetic)", lengths)
    arms = {n: (TASKS["bandit"](arms=n), START) for n in doubled(ARMS)}
    grow("vocabulary (arms of a bandit)", arms)


def doubled(start: int) -> list[int]:
    """A number and its doubles."""
    return [start * 2**power for power in range(DOUBLINGS + 1)]


def grow(title: str, cases: Mapping[int, tuple[Task, dict[str, int]]]) -> None:
    """One series."""
    actions = {
        str(number): lambda task=task, given=given: last_of(
            train(task, GRPO, config_for(task, updates=UPDATES, **given))
        )
        for number, (task, given) in cases.items()
    }
    seconds = interleaved(actions, ROUNDS)
    print(f"  {title}")
    for number, values in seconds.items():
        print(f"    {number:>5} {spread([1e3 * value / UPDATES for value in values], 2)}")
    middle = [np.median(values) for values in seconds.values()]
    print(f"    exponent of the last doubling {np.log2(middle[-1] / middle[-2]):.2f}")


if __name__ == "__main__":
    main()
