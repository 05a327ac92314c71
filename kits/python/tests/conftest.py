"""Prints at the end how many vectors of each kind were run."""

from __future__ import annotations

from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        if "test_vectors.py" in report.nodeid:
            name = report.nodeid.split("::")[1].split("[")[0].removeprefix("test_")
            counts[name] += dict(report.user_properties).get("vectors", 1)
    for name, count in counts.items():
        terminalreporter.write_line(f"{count} vectors of {name}")
