"""Writes lines to standard output, for programs that read the log from a pipe: pipe_lines.py <count> <rest> <pad>"""

import os
import sys

from lines import write_lines

count, rest, pad = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
write_lines(count, lambda text: os.write(1, f"{text}\n".encode()), rest=rest, pad=pad)
