"""Import the compiled loops only when they are asked for, because importing Numba takes half a second."""

from typing import Any


def compiled_forms() -> Any:
    """Return the module `compiled`.

    Raises:
      ImportError: if Numba is not installed.
    """
    try:
        from grpo_ref.fast import compiled
    except ImportError as error:
        raise ImportError(
            f"compiled: Numba cannot be imported ({error}); install it with: pip install 'grpo-ref[compiled]'"
        ) from error
    return compiled
