"""Make docs/parity_live.md: what each release computed, beside what `explain` says and the paper's form.

python docs/parity_live.py      (a few minutes)
"""

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from grpo_ref.parity.live.stored import recorded, verdicts

PAGE = Path(__file__).with_name("parity_live.md")
# The releases at which the numbers of a trainer change, and the newest one.
SHOWN = {
    "trl": "0.15.2 0.16.1 0.18.0 0.20.0 0.21.0 0.22.0 0.22.2 0.26.0 1.8.0 1.9.0 1.10.0 1.16.0",
    "verl": "0.2 0.5.0 0.7.0 0.7.1 0.8.0 0.9.1",
}
TITLES = {"trl": "TRL", "verl": "verl"}
HEAD = """# Every release, beside what explain says of it

Each row compares the gradients that a release computed with two predictions: the one of
[`explain`](practitioner.md) for that release, and the paper's form of the algorithm that the configuration
names. A case agrees if all five batches agree to 1e-4. `grpo-ref parity --live trl` makes the same comparison
with the release that you have installed. `conformance/grpo_conformance/releases/README.md` describes how the
gradients were recorded.

The paper's form is the recipe of that name, at the numbers of the case: the widths of the clip and the weight
of the penalty. A case that switches something on that the paper does not have, such as a correction for the
sampler, differs from it on purpose. A case does not run if the release lacks its key, or stops with an error.

`python docs/parity_live.py` makes this page.
"""


def row(trainer: str, release: str) -> str:
    """Return the row of one release."""
    cases = list(verdicts(recorded(trainer), release))
    counts = Counter(each.status for each in cases)
    named = [each for each in cases if each.paper]
    apart = [each.paper_change for each in named if each.paper_change]
    largest = max((change for change in apart if change != float("inf")), default=0.0)
    compared = counts["agrees"] + counts["differs"]
    outside = f"{counts['not run'] + counts['stops'] + counts['not explained']}"
    return (
        f"| {TITLES[trainer]} {release} | {compared} | {counts['agrees']} | {counts['differs']} | {outside} |"
        f" {len(apart)} of {len(named)} | {100 * largest:.0f} % |"
    )


def main() -> None:
    """Write the page."""
    pairs = [(trainer, release) for trainer, releases in SHOWN.items() for release in releases.split()]
    with ProcessPoolExecutor(2) as pool:
        rows = pool.map(row, *zip(*pairs, strict=True))
        table = [
            "| release | cases compared | agree with explain | differ from explain | do not run"
            " | differ from the paper | largest difference from the paper |",
            "|---|---|---|---|---|---|---|",
        ]
        for line in rows:
            print(line, file=sys.stderr, flush=True)
            table.append(line)
    PAGE.write_text(f"{HEAD}\n" + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
