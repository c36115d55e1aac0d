"""What several wings ask of the operating system in the same way."""
