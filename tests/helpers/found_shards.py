"""The shard of a folder that holds one."""

from pathlib import Path

from board.sources import shards
from board.sources.shards import Shard


def only_shard(folder: Path) -> Shard:
    """The one shard of a folder."""
    (shard,) = shards.find_shards(folder)[0]
    return shard
