"""What several wings ask of the operating system in the same way. Knows nothing of what they need it for."""
