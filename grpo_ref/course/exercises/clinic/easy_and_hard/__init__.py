"""Exercise clinic/easy_and_hard."""
