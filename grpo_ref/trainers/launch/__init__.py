"""What a launch file says, read without running it."""
