"""Symptoms: what is true of every call in which an answer is wrong, said where no known mistake explains it.

calls judged one by one -> features of calls and of entries -> the rule that sets the wrong ones apart
"""
