"""What belongs to the reader, outside any run: settings, pins, saved queries."""
