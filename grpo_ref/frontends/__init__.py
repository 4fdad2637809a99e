"""Front ends: they read arguments and render results; they compute nothing."""
