"""What serves a run to agents, by protocols made for them. The one wing that knows such a protocol's library."""
