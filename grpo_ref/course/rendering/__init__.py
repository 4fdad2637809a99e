"""Reports on answers and classes as text, JSON, HTML and the formats of learning platforms."""
