"""Every plant by its kind."""

from typing import Final

from benchmarks.findings.plants import numbers, rewards, texts
from benchmarks.findings.plants.plant import Plant

PLANTS: Final[dict[str, type[Plant]]] = {
    plant.kind: plant
    for module in (rewards, texts, numbers)
    for plant in vars(module).values()
    if isinstance(plant, type) and issubclass(plant, Plant) and plant.__module__ == module.__name__ and plant.kind != Plant.kind
}
