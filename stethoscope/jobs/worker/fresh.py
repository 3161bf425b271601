"""One job in a fresh Python: `python -m stethoscope.jobs.worker.fresh KIND FOLDER LOG PROGRESS`, started by the server."""

from __future__ import annotations

import sys
from pathlib import Path

from stethoscope.jobs.worker import child
from stethoscope.jobs.worker.containment import die_with_parent
from stethoscope.jobs.worker.server import import_for


def main() -> None:
    """Imports what the job needs, then runs it; never returns."""
    kind, folder, log, progress = sys.argv[1:]
    die_with_parent()
    import_for(kind)
    child.run(Path(folder), int(log), int(progress))


if __name__ == "__main__":
    main()
