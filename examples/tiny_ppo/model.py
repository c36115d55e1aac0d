"""A tiny decoder-only transformer, and a critic of the same shape. Knows nothing of text, rewards or PPO.

Batches are padded on the left, so that every row's last prompt token stands in the same column; `start` (batch,) counts the pads.
"""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of the tokens already seen, one pair per layer, each (batch, heads, seen, width)."""


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the transformer."""

    vocabulary: int
    context: int = 128
    width: int = 96
    heads: int = 4
    layers: int = 2


class Block(nn.Module):
    """Pre-norm attention and feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        """Weights of one layer."""
        super().__init__()
        self.heads = config.heads
        self.attention_norm = nn.LayerNorm(config.width)
        self.query_key_value = nn.Linear(config.width, 3 * config.width, bias=False)
        self.output = nn.Linear(config.width, config.width, bias=False)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(config.width),
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(),
            nn.Linear(4 * config.width, config.width),
        )

    def forward(self, x: Tensor, mask: Tensor, seen: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """`x` (batch, new, width), `mask` (batch, 1, new, seen + new); returns the same shape and all keys and values."""
        batch, new, width = x.shape
        projected = self.query_key_value(self.attention_norm(x)).view(batch, new, 3, self.heads, width // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        if seen is not None:
            key, value = torch.cat((seen[0], key), 2), torch.cat((seen[1], value), 2)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, new, width))
        return x + self.feed_forward(x), (key, value)


class Transformer(nn.Module):
    """Tokens to one hidden vector per position, and from there to logits over the next token."""

    def __init__(self, config: ModelConfig) -> None:
        """Small normal initial weights, output layer tied to the token embedding."""
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)

    def hidden(self, ids: Tensor, start: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Hidden vectors (batch, new, width) of the new tokens `ids` (batch, new), which follow those in `cache`."""
        past = cache[0][0].shape[2] if cache else 0
        column = torch.arange(past + ids.shape[1])
        rows = column[past:]
        # the diagonal stays open, so that a pad attends to itself rather than to nothing (whose softmax is NaN)
        visible = (column >= start[:, None, None]) | (column == rows[:, None])
        mask = (visible & (column <= rows[:, None]))[:, None]
        x = self.tokens(ids) + self.positions((rows - start[:, None]).clamp(min=0))
        grown: Cache = []
        for number, block in enumerate(self.blocks):
            x, pair = block(x, mask, cache[number] if cache else None)
            grown.append(pair)
        return self.norm(x), grown

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores over the next token."""
        return functional.linear(hidden, self.tokens.weight)

    def forward(self, ids: Tensor, start: Tensor) -> Tensor:
        """Logits (batch, length, vocabulary) of whole sequences."""
        return self.logits(self.hidden(ids, start)[0])


class Critic(nn.Module):
    """A transformer of its own whose every position says what return to expect from there."""

    def __init__(self, trunk: Transformer) -> None:
        """`trunk` is taken over, usually a copy of the pretrained policy; the head starts at 0, so the first values are 0."""
        super().__init__()
        self.trunk = trunk
        self.head = nn.Linear(trunk.config.width, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, start: Tensor) -> Tensor:
        """Values (batch, length), in units of reward."""
        return cast(Tensor, self.head(self.trunk.hidden(ids, start)[0]).squeeze(-1))
