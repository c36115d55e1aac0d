"""How much memory the trainer takes."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import Pair, metric, reading

FILLS = reading(
    "steady",
    (
        "If it rises step by step, it leaks or follows the longest response; near the limit, the next long batch fails.",
        "若逐步上升，要么在泄漏，要么随最长的回答增加；接近上限时，下一个长批次就会失败。",
    ),
    look="responses",
)
ROLL = "ROLL, Trackers and Metrics"
VERL = "verl, trainer/ppo/metric_utils.py"
GRPO = "re-grpo"

STATS: Final[tuple[tuple[str, str, Pair], ...]] = (
    ("allocated", "bytes", ("Memory in use on one GPU", "单张 GPU 已分配的显存")),
    ("reserved", "bytes", ("Memory reserved on one GPU", "单张 GPU 已预留的显存")),
    ("max_allocated", "bytes", ("Peak memory in use on one GPU", "单张 GPU 的显存分配峰值")),
    ("max_reserved", "bytes", ("Peak memory reserved on one GPU", "单张 GPU 的显存预留峰值")),
    (
        "max_allocated_frac",
        "share, 0 to 1",
        ("Share of a GPU's memory in use at its peak", "单张 GPU 的显存分配峰值占总显存的比例"),
    ),
    (
        "max_reserved_frac",
        "share, 0 to 1",
        ("Share of a GPU's memory reserved at its peak", "单张 GPU 的显存预留峰值占总显存的比例"),
    ),
)


def _gpu(stat: str, unit: str, words: Pair) -> Metric:
    """One number of the GPU's memory around a phase, with the states on the card or off it."""
    name = f"memory/{{phase}}/{{when}}/{{state}}/{stat}/{{device}}"
    return metric(
        name,
        unit,
        f"torch's {stat} of one device at the start or the end of a phase, with the model's states loaded or not",
        ROLL,
        (f"{words[0]} at the start or end of a phase.", f"某一阶段开始或结束时，{words[1]}。"),
        FILLS,
        names=(Name("roll", name),),
    )


METRICS: Final[tuple[Metric, ...]] = (
    *(_gpu(*stat) for stat in STATS),
    metric(
        "memory/cpu/{phase}/{when}/rss",
        "bytes",
        "resident memory of the process at the start or the end of a phase",
        ROLL,
        ("Memory of the process, around a phase.", "某一阶段前后进程占用的物理内存。"),
        FILLS,
        names=(Name("roll", "memory/cpu/{phase}/{when}/rss"),),
    ),
    metric(
        "memory/cpu/{phase}/{when}/vms",
        "bytes",
        "virtual memory of the process at the start or the end of a phase",
        ROLL,
        ("Virtual memory of the process, around a phase.", "某一阶段前后进程占用的虚拟内存。"),
        FILLS,
        names=(Name("roll", "memory/cpu/{phase}/{when}/vms"),),
    ),
    metric(
        "memory/gpu_allocated",
        "GiB",
        "GPU memory in use at the end of the step",
        GRPO,
        ("GPU memory in use.", "已分配的显存。"),
        FILLS,
        names=(Name("re-grpo", "system/gpu_memory_allocated_gb"),),
    ),
    metric(
        "memory/gpu_reserved",
        "GiB",
        "GPU memory reserved at the end of the step",
        GRPO,
        ("GPU memory reserved.", "已预留的显存。"),
        FILLS,
        names=(Name("re-grpo", "system/gpu_memory_reserved_gb"),),
    ),
    metric(
        "memory/gpu_peak_allocated",
        "GiB",
        "largest GPU memory in use so far",
        VERL,
        ("Peak GPU memory in use.", "显存分配峰值。"),
        FILLS,
        names=(Name("verl", "perf/max_memory_allocated_gb"),),
    ),
    metric(
        "memory/gpu_peak_reserved",
        "GiB",
        "largest GPU memory reserved so far",
        VERL,
        ("Peak GPU memory reserved.", "显存预留峰值。"),
        FILLS,
        names=(Name("verl", "perf/max_memory_reserved_gb"),),
    ),
    metric(
        "memory/cpu_used",
        "GiB",
        "memory in use on the machine",
        VERL,
        ("Memory in use on the machine.", "机器已使用的内存。"),
        FILLS,
        names=(Name("verl", "perf/cpu_memory_used_gb"),),
    ),
)
