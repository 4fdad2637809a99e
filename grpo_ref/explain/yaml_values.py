"""Write values as YAML."""

from typing import Any

import yaml


def as_yaml(value: Any) -> str:
    """Write a value as YAML, on one line.

    >>> as_yaml([0.2, None])
    '[0.2, null]'
    """
    return str(yaml.safe_dump(value, default_flow_style=True).splitlines()[0])


def as_nested_yaml(config: dict[str, Any]) -> str:
    """Write groups as YAML, in the order of the keys.

    >>> print(as_nested_yaml({"actor": {"clip_ratio_low": 0.2}}))
    actor:
      clip_ratio_low: 0.2
    """
    return str(yaml.safe_dump(config, sort_keys=False)).rstrip("\n")
