"""A byte-pair tokenizer over the poems: words with their leading space, pieces of rarer words, newline, <pad>, <eos>.

Merges by pair frequency after Sennrich et al. 2016 (https://arxiv.org/abs/1508.07909). Knows nothing of models.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

PAD: Final = "<pad>"
EOS: Final = "<eos>"
WORDS: Final = re.compile(r" ?[\w'-]+| ?[^\w\s]|\s")
"""How text is cut before merging: no token crosses a word's end, so joining the tokens gives the text back."""


class Tokenizer:
    """Text to token ids and back. `pieces[id]` is the text of a token."""

    def __init__(self, alphabet: Iterable[str], merges: Sequence[tuple[str, str]]) -> None:
        """The vocabulary is the special tokens, the alphabet, then one piece per merge, in order."""
        self.merges = {pair: rank for rank, pair in enumerate(merges)}
        self.pieces = [PAD, EOS, *sorted(set(alphabet)), *dict.fromkeys(left + right for left, right in merges)]
        self.ids = {piece: index for index, piece in enumerate(self.pieces)}
        self.pad, self.eos = self.ids[PAD], self.ids[EOS]
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """Size of the vocabulary."""
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """Token ids of the text. Raises KeyError for a character that is not in the alphabet."""
        return [token for word in WORDS.findall(text) for token in self._encode_word(word)]

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of the tokens, special ones left out."""
        return "".join(self.pieces[token] for token in tokens if token not in (self.pad, self.eos))

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Apply the earliest learned merge first until none is left; remembered, as words repeat."""
        if word not in self._known:
            parts = list(word)
            while len(parts) > 1:
                best = min(pairwise(parts), key=lambda pair: self.merges.get(pair, len(self.merges)))
                if best not in self.merges:
                    break
                parts = _merge(parts, best)
            self._known[word] = tuple(self.ids[part] for part in parts)
        return self._known[word]


def train_tokenizer(texts: Iterable[str], merges: int) -> Tokenizer:
    """Learn up to `merges` merges, most frequent pair first; ties by alphabet, so that it depends on the texts alone."""
    counts = Counter(word for text in texts for word in WORDS.findall(text))
    split = {word: list(word) for word in counts}
    learned: list[tuple[str, str]] = []
    for _ in range(merges):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        learned.append(best)
        split = {word: _merge(parts, best) for word, parts in split.items()}
    return Tokenizer((character for word in counts for character in word), learned)


def _merge(parts: list[str], pair: tuple[str, str]) -> list[str]:
    """Join every occurrence of the pair, from the left."""
    merged: list[str] = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged
