"""The grader: problems, checks, the judge and the sandbox. It knows nothing of GRPO."""
