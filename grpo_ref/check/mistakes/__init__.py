"""Known mistakes in losses and training runs, each with a sentence that describes the mistake.

| module | contents |
|---|---|
| kernels | wrong kernels that are easily mistaken for right ones |
| recipes | recipes that differ from a given recipe by one mistake |
| faulty_runs | training runs with one fault each, to diagnose from their curves |
| toy_loop | the small training loop of the course's training exercises, made of exchangeable stages |
| stages | wrong stages of the toy loop |
| released | faults of released trainers that were fixed later |
"""
