"""The modules of this folder that commands use when they run, and not when they are asked for help."""

from . import (
    autograder as autograder,
    class_formats as class_formats,
    class_report as class_report,
    class_work as class_work,
    explanation as explanation,
    in_process as in_process,
    latex as latex,
    launched as launched,
    progress as progress,
    report_json as report_json,
    sweeping as sweeping,
    training as training,
    web as web,
    yaml_values as yaml_values,
)
