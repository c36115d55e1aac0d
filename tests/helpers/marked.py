"""Which tests need a browser, or a server and the like: by folder, or by file where a folder has both kinds."""

MARKED: dict[str, tuple[str, ...]] = {
    "browser": ("browser",),
    "server": (
        "analysis/test_logged_curves.py",
        "checks/test_faults.py",
        "cli",
        "examples",
        "formats/test_damage.py",
        "formats/test_mutants.py",
        "pages",
        "push",
        "recorder/test_processes.py",
        "recorder/test_tracking.py",
        "runs/test_cache_crashes.py",
        "runs/test_store.py",
        "runs/test_store_random.py",
        "serving",
        "sources/test_bounds.py",
        "sources/test_file_kinds.py",
        "sql",
        "test_benchmarks.py",
        "test_packaging.py",
        "test_packaging_beside.py",
        "trackers",
        "ui",
    ),
}
"""Marker → the folders and files whose tests have it; what has none is fast."""
