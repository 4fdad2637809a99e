"""The forms with compiled loops, imported when somebody asks for them: Numba takes half a second."""

from typing import Any


def compiled_forms() -> Any:
    """The module `compiled`, for whoever asked for it.

    Raises:
      ImportError: if Numba is not there.
    """
    try:
        from grpo_ref.fast import compiled
    except ImportError as error:
        raise ImportError(
            f"compiled: Numba cannot be imported ({error}); install it with: pip install 'grpo-ref[compiled]'"
        ) from error
    return compiled
