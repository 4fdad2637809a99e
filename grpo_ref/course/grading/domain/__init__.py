"""The domain of an exercise: the inputs that its statement allows, as data.

One declaration yields the Input and Constraints sections of the statement, random inputs, and the search for
inputs on which a wrong answer differs from a right one.
"""
