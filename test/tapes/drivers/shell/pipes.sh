#!/bin/sh
# Programs that read a log from a pipe and rotate it: pipes.sh <program> <lines>
# The programs come from Debian packages unpacked in build/debian (see setup.sh).
set -e
debian="$TAPES/build/debian/usr"
export LD_LIBRARY_PATH="$debian/lib/x86_64-linux-gnu"

lines() {
  env -u LD_LIBRARY_PATH "$TAPES/build/python/bin/python" "$TAPES/build/python/pipe_lines.py" "$@"
}

case "$1" in
  svlogd) # rotates the file "current" of a log folder; its config sets the size and the number of kept files
    mkdir app
    printf 's2000\nn3\n' > app/config
    lines "$2" 0.35 0 | "$debian/bin/svlogd" app
    ;;
  s6-log) # 4096 bytes is the smallest size it takes
    lines "$2" 0.35 400 | "$debian/bin/s6-log" n3 s4096 ./app
    ;;
  multilog)
    lines "$2" 0.35 400 | "$debian/bin/multilog" n3 s4096 ./app
    ;;
  rotatelogs-time) # a new file every second
    lines "$2" 1.1 0 | "$debian/bin/rotatelogs" app.log 1
    ;;
  rotatelogs-number) # three files in a circle, by size
    lines "$2" 0.35 0 | "$debian/bin/rotatelogs" -n 3 app.log 1K
    ;;
  cronolog) # a new file every second, with a link to it; it ends with status 3 when its input ends
    lines "$2" 1.1 0 | "$debian/bin/cronolog" --symlink=app.log app-%Y%m%d-%H%M%S.log || [ $? = 3 ]
    ;;
esac
