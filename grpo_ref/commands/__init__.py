"""The commands of the core: train, plot, recipes, check and notebooks, one file each."""
