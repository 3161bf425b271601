"""`python -m benchmarks [names…]`: runs every benchmark (or those named) and prints one JSON object."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import benchmarks
from stethoscope.discover import discover


def main() -> int:
    """Returns 1 when a claim does not hold."""
    found = discover(benchmarks, "BENCHMARK", "id")
    names = sys.argv[1:] or list(found)
    if unknown := [name for name in names if name not in found]:
        print(f"No benchmark {', '.join(unknown)}. There are: {', '.join(sorted(found))}.", file=sys.stderr)
        return 2
    report = {"machine": {"platform": platform.platform(), "cores": os.cpu_count()}, "benchmarks": {}}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        start, load = time.monotonic(), os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="stethoscope-bench-") as folder:
            result = found[name].run(Path(folder))
        report["benchmarks"][name] = result | {
            "claim": found[name].claim,
            "took_s": round(time.monotonic() - start, 1),
            "load_before": round(load, 2),
        }
        print(f"  {'holds' if result['holds'] else 'DOES NOT HOLD'}: {found[name].claim}", file=sys.stderr, flush=True)
    print(json.dumps(report, indent=2))
    return 0 if all(result["holds"] for result in report["benchmarks"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
