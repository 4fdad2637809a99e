"""The check that most trainers' refusals are made of."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not holds:
        raise ValueError(otherwise)
