"""What belongs to the reader, outside any run: settings, pins, saved queries. Knows nothing of what they are for."""
