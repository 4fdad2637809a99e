"""`python -m grpo_conformance`: see `grpo_conformance.command`."""

import sys

from grpo_conformance.command import main

if __name__ == "__main__":
    sys.exit(main())
