"""The public names of `grpo_ref.diagnose`."""

from .diagnosis import Diagnosis as Diagnosis, diagnose as diagnose, read_log as read_log
from .live import trl_callback as trl_callback
from .two_runs import Comparison as Comparison, compare as compare
