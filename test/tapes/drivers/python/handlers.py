"""Python's own handlers and concurrent-log-handler: size, time, watched or concurrent."""

import logging
import os
import sys
from logging.handlers import RotatingFileHandler, TimedRotatingFileHandler, WatchedFileHandler

from lines import write_lines

mode = sys.argv[1]
if mode == "size":
    handler = RotatingFileHandler("app.log", maxBytes=600, backupCount=3)
elif mode == "time":
    handler = TimedRotatingFileHandler("app.log", when="S", backupCount=3)
elif mode == "watched":
    handler = WatchedFileHandler("app.log")
else:
    from concurrent_log_handler import ConcurrentRotatingFileHandler

    handler = ConcurrentRotatingFileHandler("app.log", maxBytes=600, backupCount=3, use_gzip=mode == "concurrent-gzip")

handler.setFormatter(logging.Formatter("%(message)s"))
logger = logging.getLogger("app")
logger.setLevel(logging.INFO)
logger.addHandler(handler)

written = 0


def write(text):
    """Logs a line. With "watched", an outer mv takes the file away before every sixth line."""
    global written
    if mode == "watched" and written > 0 and written % 6 == 0:
        os.system(f"mv app.log app.log.{written // 6}")
    logger.info(text)
    written += 1


write_lines(36, write, rest=1.1 if mode == "time" else 0.35)
logging.shutdown()
