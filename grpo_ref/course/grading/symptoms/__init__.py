"""Symptoms: a sentence that is true of every call on which an answer is wrong, if no known mistake explains
it.

calls, each judged -> features of calls and of entries -> a rule that separates wrong from right ones
"""
