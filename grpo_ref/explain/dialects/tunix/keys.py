"""The configuration of Tunix c7d8950f (August 2026): its classes for GRPO, and the YAML sections of its command line."""

from typing import Any

NOT_SET = ""
"""Mark for a key that is refused, or does nothing, unless it is given. None is a value of some keys."""
BUFFER = "overlong_buffer."
OVERLONG: dict[str, Any] = {
    "enable": True,
    "overlong_buffer_length": 4096,
    "overlong_buffer_penalty": 1.0,
    "max_response_length": 20480,
}
"""Default of DAPOConfig's overlong_buffer."""
SINCE = "0.1.7"
SECTIONS = {
    "grpo_config": ("training_mode", "grpo"),
    "agentic_grpo_config": ("training_mode", "agentic_grpo"),
}
