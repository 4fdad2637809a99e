"""The domain of an exercise: which inputs its statement allows, as data.

From one declaration come the statement's Input and Constraints sections, random draws, and the search for
inputs that tell a wrong answer from a right one.
"""
