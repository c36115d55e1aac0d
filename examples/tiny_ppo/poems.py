"""The text this example makes for itself: quatrains whose lines rhyme only now and then.

A line is `[opener] subject verb ending`; the ending fixes its rhyme. Knows nothing of models, rewards or files.
"""

import random
import re
import zlib
from typing import Final

OPENERS: Final = ("and", "while", "but", "then", "so", "where", "still", "yet")
SUBJECTS: Final = (
    "the fox",
    "the old grey owl",
    "a little bird",
    "the shepherd's child",
    "the silver moon",
    "a weary king",
    "the miller's cat",
    "the autumn wind",
    "a sleepy mouse",
    "the village girl",
    "my brother John",
    "the morning star",
    "an honest thief",
    "the gentle queen",
    "a wandering knight",
    "the nightingale",
    "a snow-white swan",
    "the baker's dog",
    "the thunder cloud",
    "every sailor",
    "the winter wolf",
    "our grandmother",
)
VERBS: Final = (
    "was waiting",
    "came walking",
    "went dancing",
    "sang sweetly",
    "lay dreaming",
    "stood watching",
    "was singing",
    "ran laughing",
    "turned slowly",
    "was sleeping",
    "kept wandering",
    "was hiding",
    "went searching",
    "grew silent",
    "wept quietly",
    "whispered",
    "rested",
    "vanished",
    "travelled",
    "lingered",
)
ENDINGS: Final[dict[str, tuple[str, ...]]] = {
    "night": ("in the night", "by candle light", "out of sight", "all dressed in white", "in sudden flight", "with delight"),
    "day": ("at break of day", "along the way", "across the bay", "upon the hay", "in skies of grey", "far away", "in early May"),
    "sea": ("beside the sea", "beneath the tree", "wild and free", "along with me", "with a golden key", "over bread and tea"),
    "ground": ("upon the ground", "without a sound", "round and round", "upon the mound", "with her hound", "homeward bound"),
    "snow": ("in the snow", "in the evening glow", "far below", "long ago", "soft and low", "to and fro", "beside the crow"),
    "air": ("in the air", "on the stair", "here and there", "without a care", "with silver hair", "by the bear", "at a fair"),
    "stone": ("on the stone", "all alone", "beside the throne", "in lands unknown", "with a broken bone", "fully grown"),
    "rain": ("in the rain", "across the plain", "once again", "on the train", "along the lane", "in fields of grain"),
    "hill": ("on the hill", "cold and still", "in the winter chill", "beside the mill", "on the window sill", "by the daffodil"),
    "gold": ("in the cold", "in robes of gold", "in days of old", "brave and bold", "as stories told", "in the fold"),
}
"""Rhyme class, named after one of its words, to the ways a line of it may end."""

RHYME: Final[dict[str, str]] = {ending.split()[-1]: name for name, endings in ENDINGS.items() for ending in endings}
"""Last word of a line to its rhyme class."""

LINES: Final = 4
CHANCE_OF_RHYME: Final = 0.35
"""How often a later line is made to rhyme with the first: the pretrained model rhymes about as little, so PPO has work to do."""

_PATTERN: Final = re.compile(
    rf"(?:(?:{'|'.join(OPENERS)}) )?(?:{'|'.join(SUBJECTS)}) (?:{'|'.join(VERBS)}) "
    rf"(?:{'|'.join(ending for endings in ENDINGS.values() for ending in endings)})[,.]",
    re.IGNORECASE,
)


def make_line(rng: random.Random, rhyme: str, *, opener: bool, stop: str) -> str:
    """One line of a rhyme class, capitalised, closed by `stop`."""
    words = [rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(ENDINGS[rhyme])]
    if opener and rng.random() < 0.7:
        words.insert(0, rng.choice(OPENERS))
    line = " ".join(words) + stop
    return line[0].upper() + line[1:]


def make_poem(rng: random.Random) -> str:
    """A quatrain. Its first line is the prompt; the other three rhyme with it only by `CHANCE_OF_RHYME` or by luck."""
    first = rng.choice(list(ENDINGS))
    lines = [make_line(rng, first, opener=False, stop=",")]
    for number in range(1, LINES):
        rhyme = first if rng.random() < CHANCE_OF_RHYME else rng.choice(list(ENDINGS))
        lines.append(make_line(rng, rhyme, opener=True, stop="." if number == LINES - 1 else ","))
    return "\n".join(lines)


def split_poem(poem: str) -> tuple[str, str]:
    """Prompt (the first line with its newline) and the rest."""
    first, rest = poem.split("\n", 1)
    return first + "\n", rest


def is_held_out(prompt: str) -> bool:
    """Whether a first line is kept for evaluation: one in ten, by its checksum, whatever the seed."""
    return zlib.crc32(prompt.encode()) % 10 == 0


def make_poems(rng: random.Random, count: int, *, held_out: bool = False) -> list[str]:
    """`count` poems whose first lines are all kept for evaluation, or all not."""
    poems: list[str] = []
    while len(poems) < count:
        poem = make_poem(rng)
        if is_held_out(split_poem(poem)[0]) == held_out:
            poems.append(poem)
    return poems


def last_word(line: str) -> str:
    """The word a line ends on, without punctuation; empty if it has none."""
    words: list[str] = re.findall(r"[\w'-]+", line)
    return words[-1] if words else ""


def is_grammatical(line: str) -> bool:
    """Whether the line is one this grammar can make."""
    return _PATTERN.fullmatch(line) is not None
