"""Proper names of the recipes, for readers."""

TITLES = {
    "dr_grpo": "Dr. GRPO",
    "lite_ppo": "Lite PPO",
    "two_grpo": "2-GRPO",
    "intellect_2": "INTELLECT-2",
    "gspo_token": "GSPO-token",
    "dppo_tv": "DPPO, binary TV",
    "dppo_kl": "DPPO, binary KL",
    "dppo_top_tv": "DPPO, top-k TV",
    "dppo_top_kl": "DPPO, top-k KL",
    "clip_cov": "Clip-Cov",
    "kl_cov": "KL-Cov",
    "high_entropy": "High-entropy tokens",
    "remax": "ReMax",
    "otb": "Optimal token baseline",
    "reinforce_pp": "REINFORCE++",
    "reinforce_pp_baseline": "REINFORCE++ with baseline",
    "process_grpo": "GRPO with process rewards",
    "maxrl": "MaxRL",
    "pass_at_k": "Pass@k training",
    "gigpo": "GiGPO",
    "mt_grpo": "MT-GRPO",
    "icepop": "IcePop",
    "glm_5": "GLM-5",
    "decoupled_ppo": "Decoupled PPO",
    "opd": "On-policy distillation",
    "opd_rl": "On-policy distillation with rewards",
}
"""Titles of the recipes whose title is not the name in capitals."""


def title_of(name: str) -> str:
    """Return the title of a recipe.

    >>> title_of("dr_grpo"), title_of("dapo"), title_of("book_dapo")
    ('Dr. GRPO', 'DAPO', 'DAPO, textbook form')
    """
    common = name.removeprefix("book_")
    title = TITLES.get(common, common.upper())
    return title if common == name else f"{title}, textbook form"
