"""Exercise clinic/falling_reward."""
