"""Readers of samples for label.py. They know nothing of the server's code."""
import decimal
import json
import os
import re
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "samples")
SAMPLES = []
SEVERITIES = {
    "trace": "trace silly finest verbose trc",
    "debug": "debug fine config dbg debg debug1 fyi",
    "info": "info log success informational information notice note infolog inf",
    "warn": "warn warning wrn",
    "error": "error err severe erro eror",
    "fatal": "fatal critical crit alert emerg emergency panic dpanic ftl",
}
WORDS = {word: name for name, words in SEVERITIES.items() for word in words.split()}
LETTERS = {"T": "trace", "D": "debug", "I": "info", "W": "warn", "E": "error", "F": "fatal"}
TENS = {10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal"}
PRIORITIES = ["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def read(name):
    with open(os.path.join(FOLDER, name + ".log"), encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def lines_of(text):
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def moment(text, form, year=None):
    """Reads a local or zoned time; keeps the digits of its fraction as they are."""
    text = text.strip()
    digits = re.search(r"(?<=:\d\d)[.,](\d+)", text)
    if digits:
        text = text.replace(digits[0], "", 1)
    if year:
        text, form = f"{year} {text}", f"%Y {form}"
    when = datetime.strptime(text, form)
    if when.tzinfo:
        when = when.astimezone(timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%S") + (f".{digits[1]}" if digits else "") + "Z"


def seconds(value, digits=None):
    whole, _, fraction = str(value).partition(".")
    if digits:
        fraction = str(digits[0]).zfill(digits[1])
    when = datetime(1970, 1, 1) + timedelta(seconds=int(whole))
    return when.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def millis(value):
    return seconds(int(value) // 1000, (int(value) % 1000, 3))


def iso(text):
    form = "%Y-%m-%dT%H:%M:%S" if "T" in text else "%Y-%m-%d %H:%M:%S"
    zoned = re.search(r"([+-]\d\d:?\d\d|Z)$", text)
    return moment(text, form + ("%z" if zoned else ""))


def word(text):
    return WORDS[text.strip().lower()]


def at(path):
    """Takes a member by its path; a path is a list, so that names may have dots."""
    path = path if isinstance(path, list) else [path]

    def take(row):
        for name in path:
            if isinstance(row, list):
                row = row[name] if name < len(row) else None
            elif isinstance(row, dict):
                row = row.get(name)
            else:
                return None
        return row

    return take


def plain(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    return value


def sample(name, program, version, language, setting, form, rows, zone="UTC", made="run"):
    if not os.path.exists(os.path.join(FOLDER, name + ".log")):
        print("missing", name)
        return
    SAMPLES.append(
        {
            "name": name,
            "program": program,
            "version": version,
            "language": language,
            "setting": setting,
            "made": made,
            "format": form,
            "zone": zone,
            "rows": rows(read(name)),
        }
    )


# An error that nothing caught has no word of severity, and is an error; Go's panic is fatal.
UNCAUGHT = re.compile(r"""(Traceback \(most recent call last\):|Exception in thread "|thread '[^']*'( \(\d+\))? panicked at )|.*^[A-Z]\w*Error: [^\n]*\n    at """, re.M | re.S)


def uncaught(message):
    if message.startswith("panic: "):
        return "fatal"
    return "error" if UNCAUGHT.match(message) else None


def row(timestamp, message, severity=None, status=None, metadata=None, lines=1):
    return {
        "timestamp": timestamp,
        "message": message,
        "severity": severity or (uncaught(message) if status is None else None),
        "status": status,
        "metadata": metadata or {},
        "lines": lines,
    }


def entries(time, message, severity=None, status=None, metadata=(), split=None):
    """Rows of JSON lines. `metadata` lists the members that must be kept; dots part the names of a path."""

    def rows(text):
        found = []
        for chunk in split(text) if split else [[line] for line in lines_of(text)]:
            try:
                entry = json.loads("\n".join(chunk), parse_float=decimal.Decimal)
            except json.JSONDecodeError:
                # nginx without escape=json: \xHH for a byte, and - for a number that there is none of.
                repaired = re.sub(r'":-([,}])', r'":null\1', chunk[0])
                repaired = re.sub(r"\\x([0-9A-F]{2})", lambda m: f"\\u00{m[1]}", repaired)
                entry = json.loads(repaired, parse_float=decimal.Decimal)
                entry = {
                    key: value.encode("latin-1").decode("utf-8") if isinstance(value, str) else value
                    for key, value in entry.items()
                }
            kept = {}
            for path in metadata:
                value = at(path)(entry)
                if value is None:
                    continue
                inner = kept
                path = path if isinstance(path, list) else [path]
                for part in path[:-1]:
                    inner = inner.setdefault(part, {})
                inner[path[-1]] = plain(value)
            found.append(
                row(
                    time(entry) if time else None,
                    message(entry) or "",
                    severity(entry) if severity else None,
                    status(entry) if status else None,
                    kept,
                    len(chunk),
                )
            )
        return found

    return rows


def begins(start):
    """Parts a text into entries: a line that matches begins one, others belong to the one before."""
    pattern = re.compile(start)

    def split(text):
        found = []
        for line in lines_of(text):
            if not found or pattern.search(COLOURS.sub("", line)):
                found.append([])
            found[-1].append(line)
        return found

    return split


def text(pattern, time=None, severity=word, start=None, numbers=(), meta=(), year=None, more=None):
    """Rows of text. The groups of the pattern are time, level, status, message and members of metadata.

    Lines that do not fit begin a row of their own with no more than a message, when `start` makes them begin one.
    """
    fits = re.compile(pattern, re.S)
    split = begins(start or pattern)

    def rows(content):
        found = []
        for chunk in split(content):
            whole = COLOURS.sub("", "\n".join(chunk))
            match = fits.match(whole)
            if not match:
                found.append(row(None, whole.strip(), lines=len(chunk)))
                continue
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            kept = {}
            for name in groups.keys() - {"time", "level", "status", "message", "pairs"}:
                kept[name] = json.loads(groups[name]) if name in numbers else groups[name]
            if more:
                kept.update(more(groups, whole))
                kept = {name: value for name, value in kept.items() if value is not None}
            found.append(
                row(
                    time(groups["time"]) if time and "time" in groups else None,
                    groups["message"].strip(),
                    severity(groups["level"]) if severity and groups.get("level") else None,
                    int(groups["status"]) if "status" in groups else None,
                    dict(sorted(kept.items())),
                    len(chunk),
                )
            )
        return found

    return rows


def logfmt(time, message, severity, metadata=(), start=r"^\S"):
    pair = re.compile(r'([^\s="]+)=("(?:[^"\\]|\\.)*"|\S*)')

    def rows(content):
        found = []
        for chunk in begins(start)(content):
            members = {}
            for key, value in pair.findall("\n".join(chunk)):
                if value.startswith('"'):
                    value = json.loads(value, strict=False)
                members[key] = value
            kept = {
                key: json.loads(members[key]) if re.fullmatch(r"-?\d+(\.\d+)?", members[key]) else members[key]
                for key in metadata
                if key in members
            }
            found.append(row(time(members) if time else None, message(members), severity(members), None, kept, len(chunk)))
        return found

    return rows


def clf(value):
    return moment(value, "%d/%b/%Y:%H:%M:%S %z")


def unescaped(value):
    """Undoes the escapes of nginx and Apache: \\xHH for bytes, and those of C."""
    value = re.sub(r"\\x([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), value)
    value = value.replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


REQUEST = r'"(?P<message>[^"]*)" (?P<status>\d{3}) (?P<bytes>\d+|-)'
COMMON = r"(?:(?P<vhost>\S+:\d+) )?(?P<remote_addr>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] " + REQUEST
AGENT = r' "(?P<referer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)"'


def access(pattern):
    def rows(content):
        found = text(pattern, clf)(content)
        for entry in found:
            kept = {"remote_addr": entry["metadata"]["remote_addr"]}
            if entry["metadata"].get("bytes", "-") != "-":
                kept["bytes"] = int(entry["metadata"]["bytes"])
            if entry["metadata"].get("agent", "-") != "-":
                kept["user_agent"] = unescaped(entry["metadata"]["agent"])
            entry["metadata"] = kept
        return found

    return rows


def key(name):
    return lambda entry: entry.get(name)


def consola(content):
    """Rows of consola's basic reporter: an icon or a badge, and blank lines around the louder ones."""
    icons = {"ℹ": "info", "✔": "info", "WARN": "warn", "ERROR": "error", "FATAL": "fatal"}
    found = []
    for line in lines_of(content):
        begin = re.match(r" ?(?:\[(?P<tag>\w+)\] )?(?P<icon>ℹ|✔|WARN|ERROR|FATAL) +(?P<message>.*)", line)
        if begin:
            tag = {"tag": begin["tag"]} if begin["tag"] else {}
            found.append(row(None, begin["message"], icons[begin["icon"]], None, tag))
        elif line.startswith(" ╭"):
            found.append(row(None, line.strip()))
        else:
            found[-1]["message"] = (found[-1]["message"] + "\n" + line).rstrip()
            found[-1]["lines"] += 1
    return found


def structlog(content):
    """Rows of structlog's ConsoleRenderer: the message is padded, then come the members as key=value."""
    found = []
    for chunk in begins(r"^\d{4}-\d\d-\d\d \d\d:")(content):
        match = re.match(r"(\S+ \S+) \[(\w+) *\] (.*?)((?: +\w+=\S+)*)$", chunk[0])
        kept = dict(pair.split("=") for pair in match[4].split())
        kept = {name: json.loads(value) if re.fullmatch(r"[\d.]+", value) else value for name, value in kept.items()}
        message = "\n".join([match[3].rstrip(), *chunk[1:]]).rstrip()
        found.append(row(iso(match[1]), message, word(match[2]), None, kept, len(chunk)))
    return found


def rich(content):
    """Rows of rich's table: the time stands only where it changes, the place at the right end, further lines are indented."""
    found = []
    for line in lines_of(content):
        begin = re.match(r"(?:\[[\d:]+\]| {10}) ([A-Z]+) +(.*?) +(\w+\.py:\d+)\s*$", line)
        if begin:
            found.append(row(None, begin[2], word(begin[1])))
        else:
            found[-1]["message"] += "\n" + line.strip()
            found[-1]["lines"] += 1
    return found


def django(content):
    """Rows of runserver: requests have a time, the loggers' messages have nothing but their text."""
    found = []
    start = r"^(\w+ \d+, \d{4} - |WARNING|J|order|\[\d|Not Found|Internal)"
    for chunk in begins(start)(content):
        request = re.match(r'\[(\S+ \S+)\] "(GET \S+ HTTP/1.1)" (\d+) (\d+)$', chunk[0])
        whole = "\n".join(chunk).strip()
        if request:
            found.append(row(moment(request[1], "%d/%b/%Y %H:%M:%S"), request[2], None, int(request[3]), {"bytes": int(request[4])}))
        elif re.match(r"\w+ \d+, \d{4} - ", whole):
            started = moment(chunk[0], "%B %d, %Y - %H:%M:%S")
            found.append(row(started, "\n".join(chunk[1:]).strip(), lines=len(chunk)))
        else:
            severity = "warn" if whole.startswith("WARNING") else None
            found.append(row(None, whole.removeprefix("WARNING: "), severity, lines=len(chunk)))
    return found


def boot(content):
    """Parts Spring Boot's JSON from its banner, which are lines of text before it."""
    return [[line] for line in lines_of(content) if line.startswith("{")]


PAIR = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)')


def pairs(groups, whole):
    """Reads `name=value` after a message. A number stays a number."""
    found = {}
    for name, value in PAIR.findall(groups.pop("pairs", "") or ""):
        if re.fullmatch(r'-?\d+(\.\d+)?|".*"', value):
            value = json.loads(value, strict=False)
        found[name] = value
    return {**found, "pairs": None}


def without(rows, *names):
    for entry in rows:
        for name in names:
            entry["metadata"].pop(name, None)
    return rows


def debug(content):
    found = text(r" *(?P<namespace>shop:\w+) (?P<message>.*)", start=r"^  shop:\w+ (?!  |\})")(content)
    for entry in found:
        message = re.sub(r"\n  shop:\w+ ", "\n", entry["message"])
        entry["message"] = re.sub(r" \+\d+ms$", "", message)
    return found


def kafka(content):
    found = text(r"\[(?P<time>[\d-]+ [\d:,]+)\] (?P<level>[A-Z]+) (?P<message>.*)", iso)(content)
    for entry in found:
        head, _, rest = entry["message"].partition("\n")
        match = re.match(r"(.*) \(([\w.]+)\)$", head)
        entry["message"] = match[1] + ("\n" + rest if rest else "")
        entry["metadata"]["logger"] = match[2]
    return found


def zap(content):
    found = []
    for chunk in begins(r"^(\d{4}-|panic:)")(content):
        parts = chunk[0].split("\t", 4)
        if len(parts) < 5:
            found.append(row(None, "\n".join(chunk).strip(), lines=len(chunk)))
            continue
        message, brace, members = parts[4].partition("\t{")
        kept = {"logger": parts[2], "caller": parts[3], **(json.loads("{" + members) if brace else {})}
        found.append(row(iso(parts[0]), "\n".join([message, *chunk[1:]]), word(parts[1]), None, kept, len(chunk)))
    return found


def klog(content):
    """Rows of klog: the letter of the level, month and day, and for InfoS a quoted message with members."""
    found = []
    for chunk in begins(r"^[IWEF]\d{4} ")(content):
        match = re.match(r"([IWEF])(\d{4} [\d:.]+) +(\d+) (\S+:\d+)\] (.*)", "\n".join(chunk), re.S)
        kept = {"pid": int(match[3]), "caller": match[4]}
        message = match[5].rstrip()
        structured = re.match(r'"([^"]*)" (.*)', message, re.S)
        if structured:
            message = structured[1]
            kept.update({k: v for k, v in pairs({"pairs": structured[2]}, "").items() if v is not None and v != "<"})
        found.append(row(moment(match[2], "%m%d %H:%M:%S", 2026), message, LETTERS[match[1]], None, kept, len(chunk)))
    return found


def gin(content):
    found = []
    for chunk in begins(r"^(\[GIN|\d{4}/\d\d/\d\d .*\[Recovery\])")(content):
        whole = COLOURS.sub("", "\n".join(chunk)).strip()
        request = re.match(r'\[GIN\] (\S+) - (\S+) \| (\d+) \| +(\S+) \| +(\S+) \| (\w+) +"(.*)"', whole)
        recovery = re.match(r"(\S+ \S+) (\[Recovery\] .*)", whole, re.S)
        debugged = re.match(r"\[GIN-debug\] (?:\[(WARNING)\] )?(.*)", whole, re.S)
        if request:
            kept = {"remote_addr": request[5], "method": request[6], "path": request[7]}
            when = moment(f"{request[1]} {request[2]}", "%Y/%m/%d %H:%M:%S")
            message = whole[whole.index("| ") :]
            found.append(row(when, message, None, int(request[3]), kept, len(chunk)))
        elif recovery:
            found.append(row(moment(recovery[1], "%Y/%m/%d %H:%M:%S"), recovery[2], None, None, {}, len(chunk)))
        else:
            found.append(row(None, debugged[2], "warn" if debugged[1] else "debug", None, {}, len(chunk)))
    return found


def haproxy(content, request):
    found = []
    for line in lines_of(content):
        own = re.match(r"\[(WARNING|ALERT|NOTICE)\] +\((\d+)\) : (.*)", line)
        if own:
            found.append(row(None, own[3], word(own[1]), None, {"pid": int(own[2])}))
            continue
        match = re.match(r"<(\d+)>(\w{3} +\d+ [\d:]+) (\S+) (\w+)\[(\d+)\]: (.*)", line)
        access = re.match(request, match[6])
        kept = {"hostname": match[3], "program": match[4], "pid": int(match[5])}
        severity = PRIORITIES[int(match[1]) % 8]
        when = moment(match[2], "%b %d %H:%M:%S", 2026)
        if access:
            when = moment(access["time"], "%d/%b/%Y:%H:%M:%S")
            found.append(row(when, access["message"], severity, int(access["status"]), kept))
        else:
            found.append(row(when, match[6], severity, None, kept))
    return found


def caddy(content, members):
    found = []
    for line in lines_of(content):
        if line.startswith("{"):
            found += entries(lambda e: seconds(e["ts"]), key("msg"), lambda e: word(e["level"]))(line)
            continue
        parts = COLOURS.sub("", line).split("\t")
        kept = json.loads(parts.pop()) if parts[-1].startswith("{") else {}
        names = {"logger": parts[2]} if len(parts) == 4 else {}
        picked = {name: kept[name] for name in ["duration", "size", "name", "signal"] if name in kept}
        found.append(row(moment(parts[0], "%Y/%m/%d %H:%M:%S"), parts[-1], word(parts[1]), kept.get("status"), {**names, **picked}))
    return found


def postgres(content, levels):
    """Rows of PostgreSQL's stderr: DETAIL, HINT, CONTEXT and STATEMENT belong to the entry before them."""
    prefix = r"(\d{4}-\S+ \S+) UTC \[(\d+)\] (?:(\S+)@(\S+) )?([A-Z]+):  (.*)"
    found = []
    for chunk in begins(r"^\d{4}-\d\d-\d\d ")(content):
        match = re.match(prefix, "\n".join(chunk), re.S)
        if match[5] in levels:
            kept = {"pid": int(match[2])}
            if match[3] and match[3] != "[unknown]":
                kept.update(user=match[3], database=match[4])
            found.append(row(iso(match[1]), match[6], levels[match[5]], None, kept, len(chunk)))
        else:
            found[-1]["metadata"][match[5].lower()] = match[6].replace("\n\t", "\n")
            found[-1]["lines"] += len(chunk)
    return found


def postgres_csv(content, levels):
    import csv
    import io

    reader = csv.reader(io.StringIO(content, newline=""))
    found, before = [], 0
    for fields in reader:
        kept = {"pid": int(fields[3]), "session_id": fields[5]}
        for name, column in {"user": 1, "database": 2, "detail": 14, "hint": 15, "statement": 19}.items():
            if fields[column]:
                kept[name] = fields[column]
        if fields[12] != "00000":
            kept["state_code"] = fields[12]
        when = iso(fields[0].removesuffix(" UTC"))
        found.append(row(when, fields[13], levels[fields[11]], None, kept, reader.line_num - before))
        before = reader.line_num
    return found


def docker(content):
    """Rows of Docker's json-file: one for each line of the container; a trace is joined by its indented lines."""
    found = []
    for line in lines_of(content):
        entry = json.loads(line)
        log = entry["log"].removesuffix("\n")
        kept = {"stream": entry["stream"], **({"attrs": entry["attrs"]} if "attrs" in entry else {})}
        add(found, entry["time"], log, kept)
    return found


def add(found, time, log, kept):
    before = found[-1] if found else None
    if before and before["message"].startswith("Traceback") and re.match(r"\s|\w+Error: ", log):
        before["message"] += "\n" + log
        before["lines"] += 1
    elif log.startswith("{"):
        inner = json.loads(log)
        members = {name: inner[name] for name in ["order", "amount"]}
        found.append(row(millis(inner["time"]), inner["msg"], TENS[inner["level"]], None, {**kept, **members}))
    else:
        found.append(row(iso(time), log, None, None, kept))


def cri(content):
    """Rows of CRI: P marks a part of a line, which ends at the next F of its stream."""
    found, part = [], None
    for line in lines_of(content):
        time, stream, flag, log = line.split(" ", 3)
        if part:
            part["message"] += log
            part["lines"] += 1
        elif re.fullmatch(r"\d{4}.*", time):
            before = len(found)
            add(found, time, log, {"stream": stream})
            part = found[-1] if flag == "P" and len(found) > before else None
        if flag == "F":
            part = None
    return found


def dotnet(content):
    words = {"info": "info", "warn": "warn", "fail": "error", "dbug": "debug", "trce": "trace", "crit": "fatal"}
    found = []
    for chunk in begins(r"^\w{4}: ")(content):
        match = re.match(r"(\w{4}): (\S+)\[(\d+)\]$", chunk[0])
        message = "\n".join(line[6:] for line in chunk[1:])
        found.append(row(None, message, words[match[1]], None, {"category": match[2], "event_id": int(match[3])}, len(chunk)))
    return found


def lograge(content):
    found = []
    for line in lines_of(content):
        kept = dict(re.findall(r"(\w+)=('[^']*'|\S+)", line))
        members = {name: kept[name] for name in ["method", "path", "controller", "action"]}
        members["duration"] = float(kept["duration"])
        found.append(row(None, "", None, int(kept["status"]), members))
    return found


def monolog(content, levels):
    found = []
    for line in lines_of(content):
        match = re.match(r"\[(\S+)\] (\w+)\.([A-Z]+): (.*?) (\{.*\}|\[\]) \[\]$", line)
        context = json.loads(match[5])
        found.append(row(iso(match[1]), match[4], levels[match[3]], None, {"channel": match[2], **(context or {})}))
    return found


def mixed(content, lines, members):
    """Rows of a file in which lines of text and of JSON follow each other."""
    found = []
    for line in lines_of(content):
        found += (members if line.startswith("{") else lines)(line)
    return found


def syslog(rows):
    """rsyslog writes a control character as # and three octal digits."""

    def unescape(content):
        found = rows(content)
        for entry in found:
            entry["message"] = entry["message"].replace("#011", "\t")
            if entry["metadata"].get("pid") == "-":
                del entry["metadata"]["pid"]
        return found

    return unescape


def unindented(rows):
    """journalctl indents further lines of a message by the width of what stands before it."""

    def strip(content):
        found = rows(content)
        for entry in found:
            entry["message"] = "\n".join(line.strip() for line in entry["message"].split("\n"))
        return found

    return strip


def micros(value):
    return seconds(int(value) // 1_000_000, (int(value) % 1_000_000, 6))


def journal_text(value):
    """A message that is no UTF-8 is a list of bytes; one that stands more than once is a list of texts."""
    if isinstance(value, list):
        if isinstance(value[0], int):
            value = bytes(value).decode("utf-8", "replace")
        else:
            value = "\n".join(value)
    return COLOURS.sub("", value)


def journal_export(content):
    data, found, position = content.encode("utf-8", "surrogateescape"), [], 0
    fields, start = [], 0
    while position < len(data):
        end = data.index(b"\n", position)
        line = data[position:end]
        position = end + 1
        if line and b"=" not in line:
            size = int.from_bytes(data[position : position + 8], "little")
            fields.append((line.decode(), data[position + 8 : position + 8 + size]))
            position += 8 + size + 1
        elif line:
            name, _, value = line.partition(b"=")
            fields.append((name.decode(), value))
        else:
            one = {name: value.decode("utf-8", "replace") for name, value in fields}
            message = [value.decode("utf-8", "replace") for name, value in fields if name == "MESSAGE"]
            kept = {name: one[name] for name in ["ORDER", "AMOUNT", "SYSLOG_IDENTIFIER", "_PID", "_HOSTNAME"] if name in one}
            when = micros(one.get("_SOURCE_REALTIME_TIMESTAMP", one["__REALTIME_TIMESTAMP"]))
            severity = PRIORITIES[int(one["PRIORITY"])]
            found.append(row(when, COLOURS.sub("", "\n".join(message)), severity, None, kept, data[start:position].count(b"\n")))
            fields, start = [], position
    return found


def slow(content):
    """Rows of MariaDB's slow query log: an entry begins with `# Time:` or `# User@Host:`; a second that was named stays in force."""
    found, time = [], None
    for chunk in begins(r"^(# Time: |# User@Host: |mariadbd, |\S+mariadbd, )")(content):
        whole = "\n".join(chunk)
        if chunk[0].startswith("# Time:") and len(chunk) == 1:
            named = re.match(r"# Time: (\d{6}) +(\d+:\d\d:\d\d)", chunk[0])
            time = moment(f"{named[1]} {named[2]}", "%y%m%d %H:%M:%S")
            found.append(row(time, "", None, None, {}, 1))
            continue
        if chunk[0].startswith("# User@Host"):
            stamp = re.search(r"SET timestamp=(\d+)", whole)
            query = re.search(r"SET timestamp=\d+;\n(.*)", whole, re.S)
            took = re.search(r"Query_time: ([\d.]+)", whole)
            kept = {"query_time": float(took[1])}
            entry = row(seconds(stamp[1]), query[1].strip(), None, None, kept, len(chunk))
            if found and found[-1]["message"] == "":
                found.pop()
                entry["lines"] += 1
            found.append(entry)
        else:
            found.append(row(None, whole.strip(), lines=len(chunk)))
    return found


def redis(pattern, *arguments, **options):
    """Rows of Redis; its signal handler writes seconds in parentheses and no level."""

    def rows(content):
        found = text(pattern, *arguments, **options, start=r"^\d+:")(content)
        for entry in found:
            match = re.match(r"(\d+):signal-handler \((\d+)\) (.*)", entry["message"])
            if match:
                entry.update(timestamp=seconds(match[2]), message=match[3], metadata={"pid": int(match[1])})
        return found

    return rows


def tracing(content):
    """Rows of tracing's full and compact formats: spans, the target, the message, then fields."""
    found = []
    for line in lines_of(COLOURS.sub("", content)):
        match = re.match(r"(\S+Z) +([A-Z]+) (?:(\w+)(?:\{(.*?)\})?: )?(\w+): (.*)", line)
        head = re.match(r"((?:(?!\w+=).)*)(.*)", match[6])
        members = dict(re.findall(r'(\w+)=("[^"]*"|\S+(?: declined)?)', head[2] + " " + (match[4] or "")))
        kept = {name: json.loads(v) if re.fullmatch(r'".*"|[\d.]+', v) else v for name, v in members.items()}
        found.append(row(iso(match[1]), head[1].strip(), word(match[2]), None, {"target": match[5], **kept}))
    return found


def tracing_pretty(content):
    found = []
    for chunk in begins(r"^  \d{4}-")(content):
        match = re.match(r" +(\S+Z) +([A-Z]+) (\w+): (.*)", chunk[0])
        message, *fields = re.split(r", (?=\w+: )", match[4])
        if re.fullmatch(r'\w+: ".*"', message):
            message, fields = "", [message]
        kept = {"target": match[3]}
        for field in fields:
            name, _, value = field.partition(": ")
            kept[name] = json.loads(value) if re.fullmatch(r'".*"|[\d.]+', value) else value
        found.append(row(iso(match[1]), message, word(match[2]), None, kept, len(chunk)))
    return found


def slog_term(content):
    levels = {"TRCE": "trace", "DEBG": "debug", "INFO": "info", "WARN": "warn", "ERRO": "error", "CRIT": "fatal"}
    found = []
    for line in lines_of(content):
        match = re.match(r"(\w{3} \d+ [\d:.]+) ([A-Z]{4}) (.*)", line)
        message, *fields = re.split(r", (?=\w+: )", match[3])
        kept = dict(field.split(": ", 1) for field in fields)
        kept = {n: json.loads(v) if n != "version" and re.fullmatch(r"[\d.]+", v) else v for n, v in kept.items()}
        found.append(row(moment(match[1], "%b %d %H:%M:%S", 2026), message, levels[match[2]], None, kept))
    return found
