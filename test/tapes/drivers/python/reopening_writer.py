"""A program that is rotated from outside, and what rotates it.

    reopening_writer.py logrotate create|copytruncate|dateext|olddir
    reopening_writer.py nginx      nginx's documented way: mv, USR1, sleep, gzip
    reopening_writer.py savelog

The writer appends to app.log (nginx: access.log) and opens it again on SIGUSR1.
While a rotation runs it goes on writing, but not with copytruncate: that loses
what is written between its copy and its truncation.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from lines import line

ROTATIONS = 5
tool = sys.argv[1]
mode = sys.argv[2] if len(sys.argv) > 2 else None
log_name = "access.log" if tool == "nginx" else "app.log"
asked = False  # whether a signal has asked to open the log again
reopened = False


def open_log():
    return open(log_name, "a", buffering=1)


def ask(*_):
    global asked
    asked = True


def reopen_if_asked():
    """Opens the log again. The line that the writer is busy with still goes to the old file."""
    global log, asked, reopened
    if asked:
        asked = False
        write()
        log.close()
        log = open_log()
        reopened = True


LOGROTATE_MODES = {
    "create": "create 0644 root root\n compress",
    "copytruncate": "copytruncate",
    "dateext": "create 0644 root root\n dateext\n compress\n delaycompress",
    "olddir": "create 0644 root root\n createolddir 0755 root root\n olddir old",
}
# The script waits a little, as many do: what is written before the writer has opened app.log again must still be compressed.
POSTROTATE = f" postrotate\n  kill -USR1 {os.getpid()}; sleep 0.2\n endscript\n"


def rotation_command(number):
    """Returns the command of one rotation and its environment."""
    if tool == "nginx":
        move = f"mv access.log access.log.{number}; kill -USR1 {os.getpid()}; sleep 0.5; gzip access.log.{number}"
        return ["sh", "-c", move], None
    if tool == "savelog":
        return ["sh", "-c", f"savelog -q -c 3 app.log; kill -USR1 {os.getpid()}"], None
    environment = dict(os.environ)
    if mode == "dateext":
        # The names hold the day, so every rotation happens on a later day.
        environment["LD_PRELOAD"] = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
        environment["FAKETIME"] = f"+{number}d"
    return ["/usr/sbin/logrotate", "-f", "-s", f"{settings}/state", f"{settings}/conf"], environment


settings_folder = tempfile.TemporaryDirectory()
settings = settings_folder.name
with open(f"{settings}/conf", "w") as file:
    script = "" if mode == "copytruncate" else POSTROTATE
    file.write(f"{os.getcwd()}/app.log {{\n size 1\n rotate 3\n {LOGROTATE_MODES.get(mode)}\n{script}}}\n")

signal.signal(signal.SIGUSR1, ask)
log = open_log()
n = 0


def write():
    global n
    log.write(line(n) + "\n")
    n += 1


for number in range(1, ROTATIONS + 1):
    for _ in range(4):
        write()
        time.sleep(0.015)
    time.sleep(0.3)
    reopened = False
    command, environment = rotation_command(number)
    rotation = subprocess.Popen(command, env=environment)
    while rotation.poll() is None:
        reopen_if_asked()
        if mode != "copytruncate" and n < number * 7 - (0 if reopened else 2):
            write()
        time.sleep(0.005)
    reopen_if_asked()
    if rotation.returncode != 0:
        sys.exit(f"the rotation ended with {rotation.returncode}")
    while n < number * 7:
        write()
    time.sleep(0.3)
