"""NeMo-RL at 7ea279ab (August 2026), `ClippedPGLossFn`, the advantage estimators and `grpo_train`."""

from grpo_ref.explain.dialects.nemo_rl.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
