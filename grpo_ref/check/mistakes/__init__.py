"""Every known way to get it wrong, each with the sentence that says what is wrong with it.

| file | holds |
|---|---|
| kernels | wrong kernels: what somebody writes who means the right one |
| slips | recipes one slip away from a given one |
| patients | training runs with one fault each, to learn to diagnose |
| toy_loop | the small training loop of the exercises that train, in exchangeable stages |
| stages | stages of the toy loop that are wrong |
| released | faults that trainers were released with, and have mended |
"""
