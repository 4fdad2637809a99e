"""Every known way to get it wrong: recipes one slip away, broken trainers, bugs that were released."""
