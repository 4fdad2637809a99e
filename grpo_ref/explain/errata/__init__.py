"""Errata: behaviours of trainers that surprise, and the launch files that they touched.

Each trainer's entries are in a TOML file here; `schema.json` describes the fields. `effects.json` is made by
`python docs/errata.py`.
"""
