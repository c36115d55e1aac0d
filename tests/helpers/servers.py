"""The real server, as tests ask for it."""

from collections.abc import Callable

Serve = Callable[..., str]
"""Called with a root folder and options, gives the address the server printed; `first` is Python that its process runs before all else."""
