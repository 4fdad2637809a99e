"""Does the cost of training grow linearly with seeds, prompts and completions? Milliseconds an update.

Each number is doubled four times with the others held; the exponent is the slope of log time over log number
between the last two, where the fixed cost of an update weighs least: at most 1 is linear or better.
"""

import numpy as np
from measure import heading, interleaved, last_of, spread

from grpo_ref import GRPO, TASKS, config_for, train

UPDATES, ROUNDS, DOUBLINGS = 5, 5, 4
START = {"seeds": 16, "prompts": 8, "group_size": 8}


def main() -> None:
    """Time each series and print its exponent."""
    task = TASKS["arithmetic"]()
    heading("growth of training with seeds, prompts and completions a prompt (arithmetic), ms an update")
    for name, start in START.items():
        numbers = [start * 2**power for power in range(DOUBLINGS + 1)]
        actions = {
            str(number): lambda given=START | {name: number}: last_of(
                train(task, GRPO, config_for(task, updates=UPDATES, **given))
            )
            for number in numbers
        }
        seconds = interleaved(actions, ROUNDS)
        print(f"  {name}, the others {', '.join(f'{k} {v}' for k, v in START.items() if k != name)}")
        for number, values in seconds.items():
            print(f"    {number:>5} {spread([1e3 * value / UPDATES for value in values], 2)}")
        middle = [np.median(values) for values in seconds.values()]
        print(f"    exponent of the last doubling {np.log2(middle[-1] / middle[-2]):.2f}")


if __name__ == "__main__":
    main()
