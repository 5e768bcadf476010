"""The lines that every driver writes. The recorder gives the tape's name in NAME."""

import json
import os
import time
from datetime import datetime, timedelta


def line(n, pad=0):
    """Returns line n as JSON, with a pad of this many characters."""
    timestamp = datetime(2026, 11, 20, 10) + timedelta(seconds=n)
    fields = {"id": f"{os.environ['NAME']}-{n}", "timestamp": f"{timestamp.isoformat()}.000Z", "project": "p"}
    if pad:
        fields["pad"] = "x" * pad
    return json.dumps(fields, separators=(",", ":"))


def write_lines(count, write, pause=0.015, block=6, rest=0.35, pad=0):
    """Writes lines with short pauses, and a longer one after every block."""
    for n in range(count):
        write(line(n, pad))
        time.sleep(rest if n % block == block - 1 else pause)
