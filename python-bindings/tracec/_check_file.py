"""What dump() runs in a child process: load a file, run its test vectors in every section, print a JSON report.

Usage: `python -m tracec._check_file model.trc`. Exit status 0 if everything agrees bit for bit.
"""

import json
import resource
import sys

from . import _core


def main(path: str) -> int:
    model = _core.Model(path, "best", True)
    report = model.verify()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"sections": report, "peak_bytes": peak}))
    return 1 if any(report.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
