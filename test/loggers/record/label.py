"""Writes ../samples.json: where the moment, the message, the severity and the status of each line are by the logger's documentation."""
import json
import os
import re

from readers import *
from readers import FOLDER, HERE, LETTERS, PRIORITIES, SAMPLES, TENS, WORDS

NODE, PYTHON, JAVA, GO, RUST = "Node.js 20.20.2", "Python 3.11.7", "OpenJDK 17.0.15", "Go 1.26.8", "Rust 1.95.0"

CRATES = {"tracing-subscriber": "0.3.23", "env_logger": "0.11.12", "slog-term": "2.9.2", "slog-json": "2.6.1", "log4rs": "1.4.0"}
VERSIONS = {
    "pino": "10.4.0",
    "pino-http": "11.0.0",
    "fastify": "5.12.8",
    "pino-pretty": "13.2.0",
    "bunyan": "2.0.5",
    "winston": "3.19.0",
    "log4js": "6.9.1",
    "@nestjs/common": "11.2.10",
    "morgan": "1.12.1",
    "debug": "4.4.3",
    "roarr": "7.21.7",
    "consola": "3.4.2",
    "tslog": "4.11.0",
    "structlog": "26.1.0",
    "loguru": "0.7.3",
    "python-json-logger": "4.2.0",
    "ecs-logging": "2.3.0",
    "logfmter": "0.0.12",
    "rich": "15.0.0",
    "Django": "5.2.19",
    "gunicorn": "27.0.1",
    "uvicorn": "0.54.0",
}


def pino(**more):
    return entries(lambda e: millis(e["time"]), key("msg"), lambda e: TENS[e["level"]], **more)


FIELDS = ["order", "amount", "disk", "used"]
STACK = ["err", "message"]
sample("pino-json", "pino", "10.4.0", NODE, "default", "json", pino(metadata=[*FIELDS, STACK, ["err", "type"], "module", ["req", "id"], "hostname"]))
sample("pino-iso", "pino", "10.4.0", NODE, "isoTime, level labels, no base", "json",
       entries(lambda e: iso(e["time"]), key("msg"), lambda e: word(e["level"]), metadata=[*FIELDS, STACK, "module"]))
sample("pino-http-json", "pino-http", VERSIONS["pino-http"], NODE, "default", "json",
       pino(status=at(["res", "statusCode"]), metadata=[["req", "method"], ["req", "url"], ["req", "headers", "user-agent"], "responseTime", STACK]))
sample("fastify-json", "Fastify", VERSIONS["fastify"], NODE, "logger: true", "json",
       pino(status=at(["res", "statusCode"]), metadata=["reqId", "order", "amount", ["req", "url"], "responseTime", STACK]))
sample("pino-pretty", "pino-pretty", VERSIONS["pino-pretty"], NODE, "default, of pino's default lines", "text",
       text(r"\[(?P<clock>[\d:.]+)\] (?P<level>[A-Z]+) \((?P<pid>\d+)\): (?P<message>.*)", numbers=["pid"]))
sample("bunyan-json", "bunyan", VERSIONS["bunyan"], NODE, "default", "json",
       entries(lambda e: iso(e["time"]), key("msg"), lambda e: TENS[e["level"]], metadata=["name", "hostname", *FIELDS, STACK]))
for setting in ["json", "timestamp"]:
    sample(f"winston-{setting}", "winston", VERSIONS["winston"], NODE,
           "default" if setting == "json" else "errors({ stack: true }), timestamp(), json()", "json",
           entries((lambda e: iso(e["timestamp"])) if setting == "timestamp" else None, key("message"), lambda e: word(e["level"]), metadata=[*FIELDS]))
sample("winston-simple", "winston", VERSIONS["winston"], NODE, "simple()", "text", text(r"(?P<level>[a-z]+): (?P<message>.*)"))
sample("winston-cli", "winston", VERSIONS["winston"], NODE, "cli(); colours in a pipe, too", "text", text(r"(?P<level>[a-z]+): +(?P<message>.*)"))
sample("winston-printf", "winston", VERSIONS["winston"], NODE, "its README's printf with timestamp", "text",
       text(r"(?P<time>[\d-]+ [\d:]+) \[(?P<level>[a-z]+)\]: (?P<message>.*)", iso))
for setting in ["colored", "basic"]:
    sample(f"log4js-{setting}", "log4js", VERSIONS["log4js"], NODE, "stdout, colored layout (default; colours in a pipe, too)" if setting == "colored" else "stdout, basic layout", "text",
           text(r"\[(?P<time>[^\]]+)\] \[(?P<level>[A-Z]+)\] (?P<category>\S+) - (?P<message>.*)", iso))
sample("nestjs-console", "NestJS ConsoleLogger", VERSIONS["@nestjs/common"], NODE, "default; colours in a pipe, too", "text",
       text(r"\[Nest\] (?P<pid>\d+)  - (?P<time>[^ ]+ [^ ]+ [AP]M) +(?P<level>[A-Z]+) \[(?P<context>\w+)\] (?P<message>.*)", lambda t: moment(t, "%m/%d/%Y, %I:%M:%S %p"), numbers=["pid"]))
sample("nestjs-json", "NestJS ConsoleLogger", VERSIONS["@nestjs/common"], NODE, "json: true", "json",
       entries(lambda e: millis(e["timestamp"]), lambda e: e["message"] if isinstance(e["message"], str) else "", lambda e: word(e["level"]),
               metadata=["context", "pid", ["message", "order"], ["message", "amount"]]))
for setting, form in {"combined": "combined", "common": "combined"}.items():
    sample(f"morgan-{setting}", "morgan", VERSIONS["morgan"], NODE, setting, form, access(COMMON + (AGENT if setting == "combined" else "")))
sample("morgan-dev", "morgan", VERSIONS["morgan"], NODE, "dev; colours in a pipe, too", "text", text(r"(?P<message>(?P<method>GET) \S+ (?P<status>\d+) .*)"))
sample("morgan-tiny", "morgan", VERSIONS["morgan"], NODE, "tiny", "text", text(r"(?P<message>(?P<method>GET) \S+ (?P<status>\d+) .*)"))
sample("morgan-short", "morgan", VERSIONS["morgan"], NODE, "short", "text", text(r"(?P<remote_addr>\S+) - (?P<message>GET \S+ HTTP/1.1 (?P<status>\d+) .*)"))
sample("debug-pipe", "debug", VERSIONS["debug"], NODE, "default, to a pipe", "text",
       text(r"(?P<time>\S+Z) (?P<namespace>\S+) (?P<message>.*)", iso))
sample("debug-colors", "debug", VERSIONS["debug"], NODE, "DEBUG_COLORS=1", "text",
       lambda t: debug(t))
sample("roarr-json", "roarr", VERSIONS["roarr"], NODE, "ROARR_LOG=true", "json",
       entries(lambda e: millis(e["time"]), key("message"), lambda e: TENS[e["context"]["logLevel"]],
               metadata=[["context", "program"], ["context", "order"], ["context", "amount"], ["context", "used"], ["context", "error", "message"], "sequence"]))
sample("consola-default", "consola", VERSIONS["consola"], NODE, "default, to a pipe", "text",
       lambda t: consola(t))
sample("tslog-json", "tslog", VERSIONS["tslog"], NODE, "type: json", "json",
       entries(lambda e: iso(e["_meta"]["date"]), key("0"), lambda e: word(e["_meta"]["logLevelName"]), metadata=[["1", "order"], ["1", "amount"], ["1", "used"], ["1", "message"], ["_meta", "name"]]))
sample("tslog-pretty", "tslog", VERSIONS["tslog"], NODE, "type: pretty; colours in a pipe, too", "text",
       text(r"(?P<time>[\d-]+ [\d:.]+)\t(?P<level>[A-Z]+)\t(?P<path>\S+)\t(?P<name>\S+)\t(?P<message>.*)", iso))
sample("node-console", "console", "20.20.2", NODE, "console.info, warn, error, log; an exception that nobody catches", "text",
       text(r"(?P<message>.*)", start=r"^(order|disk|charge|\{|J|file:)"))

PY_FIELDS = ["order", "amount"]
sample("python-logging-basic", "logging", "3.11.7", PYTHON, "basicConfig()", "text", text(r"(?P<level>[A-Z]+):(?P<logger>[\w.]+):(?P<message>.*)"))
sample("python-logging-usual", "logging", "3.11.7", PYTHON, "%(asctime)s - %(name)s - %(levelname)s - %(message)s", "text",
       text(r"(?P<time>[\d-]+ [\d:,]+) - (?P<logger>[\w.]+) - (?P<level>[A-Z]+) - (?P<message>.*)", iso))
sample("python-logging-lastresort", "logging", "3.11.7", PYTHON, "no configuration", "text", text(r"(?P<message>.*)", start=r"^(disk|charge failed|out)"))
sample("python-stderr", "Python", "3.11.7", PYTHON, "a warning, and an exception that nobody catches", "text",
       lambda t: [row(None, "\n".join(c), "warn" if "UserWarning" in c[0] else None, None, {}, len(c)) for c in begins(r"^(/|Traceback)")(t)])
sample("python-json-logger-default", "python-json-logger", VERSIONS["python-json-logger"], PYTHON, "default", "json", entries(None, key("message"), metadata=[*PY_FIELDS, "exc_info"]))
sample("python-json-logger-fields", "python-json-logger", VERSIONS["python-json-logger"], PYTHON, "%(asctime)s %(name)s %(levelname)s %(message)s", "json",
       entries(lambda e: iso(e["asctime"]), key("message"), lambda e: word(e["levelname"]), metadata=["name", *PY_FIELDS, "exc_info"]))
sample("ecs-logging-json", "ecs-logging", VERSIONS["ecs-logging"], PYTHON, "StdlibFormatter()", "json",
       entries(lambda e: iso(e["@timestamp"]), key("message"), lambda e: word(e["log.level"]), metadata=[*PY_FIELDS, "ecs.version", ["error", "type"], ["error", "message"], ["log", "logger"]]))
sample("logfmter-logfmt", "logfmter", VERSIONS["logfmter"], PYTHON, "its README's keys and mapping", "logfmt",
       logfmt(lambda m: iso(m["when"]), lambda m: m["msg"], lambda m: word(m["at"]), ["logger", "order", "amount"]))
sample("structlog-console", "structlog", VERSIONS["structlog"], PYTHON, "default, to a pipe, with rich", "text",
       lambda t: structlog(t))
sample("structlog-json", "structlog", VERSIONS["structlog"], PYTHON, "its README's JSONRenderer, dict_tracebacks, TimeStamper(iso)", "json",
       entries(lambda e: iso(e["timestamp"]), key("event"), lambda e: word(e["level"]), metadata=[*FIELDS, "who"]))
sample("structlog-logfmt", "structlog", VERSIONS["structlog"], PYTHON, "LogfmtRenderer", "logfmt",
       logfmt(lambda m: iso(m["timestamp"]), lambda m: m["event"], lambda m: word(m["level"]), [*FIELDS, "who"]))
sample("loguru-default", "loguru", VERSIONS["loguru"], PYTHON, "default, to a pipe", "text",
       text(r"(?P<time>[\d-]+ [\d:.]+) \| (?P<level>[A-Z]+) +\| (?P<place>\S+) - (?P<message>.*)", iso))
sample("loguru-serialize", "loguru", VERSIONS["loguru"], PYTHON, "serialize=True", "json",
       entries(lambda e: iso(str(e["record"]["time"]["repr"])), at(["record", "message"]), lambda e: word(e["record"]["level"]["name"]),
               metadata=[["record", "extra", "order"], ["record", "extra", "amount"], ["record", "exception", "type"], ["record", "exception", "value"], ["record", "line"]]))
sample("rich-default", "rich.logging", VERSIONS["rich"], PYTHON, "RichHandler(), %(message)s, [%X]", "text", lambda t: rich(t))
for setting in ["debug", "production"]:
    sample(f"django-runserver-{setting}", "Django", VERSIONS["Django"], PYTHON, f"runserver, DEBUG={setting == 'debug'}", "text",
           lambda t: django(t))
sample("gunicorn-access", "gunicorn", VERSIONS["gunicorn"], PYTHON, "--access-logfile", "combined", access(COMMON + AGENT))
sample("gunicorn-error", "gunicorn", VERSIONS["gunicorn"], PYTHON, "default", "text",
       text(r"\[(?P<time>[^\]]+)\] \[(?P<pid>\d+)\] \[(?P<level>[A-Z]+)\] (?P<message>.*)", lambda t: moment(t, "%Y-%m-%d %H:%M:%S %z"), numbers=["pid"]))
sample("uvicorn-default", "uvicorn", VERSIONS["uvicorn"], PYTHON, "default, to a pipe", "text",
       text(r"(?P<level>[A-Z]+): +(?P<message>(?:(?P<client>[\d.:]+) - \"[^\"]*\" (?P<status>\d+) )?.*)"))

JLINE = r"(?P<thread>[^\]]+)\] (?P<level>[A-Z]+) +(?P<logger>\S+) "
LOGBACK, LOG4J = "1.5.20", "2.24.3"
sample("logback-default", "logback", LOGBACK, JAVA, "default (no configuration file)", "text", text(r"(?P<clock>[\d:.]+) \[" + JLINE + r"-(?P<pairs>.*?)- (?P<message>.*)", start=r"^\d\d:\d\d:\d\d\.", more=pairs))
sample("logback-pattern", "logback", LOGBACK, JAVA, "%d{yyyy-MM-dd HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n", "text", text(r"(?P<time>[\d-]+ [\d:.]+) \[" + JLINE + r"- (?P<message>.*)", iso))
sample("logback-logstash", "logstash-logback-encoder", "8.1", JAVA, "LogstashEncoder", "json",
       entries(lambda e: iso(e["@timestamp"]), key("message"), lambda e: word(e["level"]), metadata=["logger_name", "level_value", "tenant", "order", "amount"]))
sample("logback-json", "logback", LOGBACK, JAVA, "JsonEncoder", "json",
       entries(lambda e: seconds(e["timestamp"] // 1000, (e["nanoseconds"], 9)), key("message"), lambda e: word(e["level"]), metadata=["loggerName", ["mdc", "tenant"], "arguments", ["throwable", "message"]]))
sample("log4j2-default", "log4j", LOG4J, JAVA, "default (no configuration file)", "text", text(r"(?P<clock>[\d:.]+) \[" + JLINE + r"- (?P<message>.*)"))
sample("log4j2-pattern", "log4j", LOG4J, JAVA, "%d{HH:mm:ss.SSS} [%t] %-5level %logger{36} - %msg%n", "text", text(r"(?P<clock>[\d:.]+) \[" + JLINE + r"- (?P<message>.*)"))
sample("log4j2-iso", "log4j", LOG4J, JAVA, "%d{ISO8601} %p %c{1.} [%t] %m%n", "text", text(r"(?P<time>[\dT:,-]+) (?P<level>[A-Z]+) (?P<logger>\S+) \[(?P<thread>\w+)\] (?P<message>.*)", iso))
sample("log4j2-kafka", "log4j", LOG4J, JAVA, "[%d] %p %m (%c)%n, as Kafka has it", "text", lambda t: kafka(t))
sample("log4j2-template", "log4j", LOG4J, JAVA, "JsonTemplateLayout, default (ECS)", "json",
       entries(lambda e: iso(e["@timestamp"]), key("message"), lambda e: word(e["log.level"]), metadata=["log.logger", "tenant", "error.type", "error.message"]))
for setting, form in {"json": "JsonLayout, compact, eventEol, properties", "jsondefault": "JsonLayout, default: entries of several lines"}.items():
    sample(f"log4j2-{setting}", "log4j", LOG4J, JAVA, form, "json",
           entries(lambda e: seconds(e["instant"]["epochSecond"], (e["instant"]["nanoOfSecond"], 9)), key("message"), lambda e: word(e["level"]), metadata=["loggerName", ["contextMap", "tenant"], ["thrown", "message"], "threadId"],
                   split=begins(r"^\{")))
sample("jul-default", "java.util.logging", "17.0.15", JAVA, "default", "text",
       text(r"(?P<time>\w{3} \d+, \d{4} [\d:]+ [AP]M) (?P<method>[^\n]+)\n(?P<level>[A-Z]+): (?P<message>.*)", lambda t: moment(t, "%b %d, %Y %I:%M:%S %p"), start=r"^\w{3} \d+, \d{4} "))
sample("jul-oneline", "java.util.logging", "17.0.15", JAVA, "SimpleFormatter.format of one line", "text",
       text(r"(?P<time>\S+) (?P<level>[A-Z]+) (?P<method>\S+ \S+) (?P<message>.*)", iso, start=r"^\d{4}-"))
sample("java-stderr", "java", "17.0.15", JAVA, "an exception that nobody catches", "text", lambda t: [row(None, t.rstrip(), lines=len(lines_of(t)))])
BOOT = "3.5.7"
sample("spring-boot-default", "Spring Boot", BOOT, JAVA, "default, to a pipe", "text",
       text(r"(?P<time>\d{4}-\S+) +(?P<level>[A-Z]+) (?P<pid>\d+) --- \[(?P<application>[^\]]*)\] \[(?P<thread>[^\]]*)\] (?P<logger>\S+) +: (?P<message>.*)", iso, numbers=["pid"], start=r"^\d{4}-\d\d-\d\dT", more=lambda g, w: {"thread": g["thread"].strip()}))
BOOT_JSON = ["message"]
sample("spring-boot-logstash", "Spring Boot", BOOT, JAVA, "logging.structured.format.console=logstash", "json",
       entries(lambda e: iso(e["@timestamp"]), key("message"), lambda e: word(e["level"]), metadata=["logger_name", "order", "amount", "thread_name"], split=boot))
sample("spring-boot-ecs", "Spring Boot", BOOT, JAVA, "logging.structured.format.console=ecs", "json",
       entries(lambda e: iso(e["@timestamp"]), key("message"), lambda e: word(e["log"]["level"]), metadata=[["log", "logger"], "order", "amount", ["service", "name"], ["error", "message"]], split=boot))
sample("spring-boot-gelf", "Spring Boot", BOOT, JAVA, "logging.structured.format.console=gelf", "json",
       entries(lambda e: seconds(e["timestamp"]), key("short_message"), lambda e: word(e["_level_name"]), metadata=["host", "_log_logger", "_order", "_amount", "_error_message"], split=boot))
sample("tomcat-access", "Tomcat", "10.1.48", JAVA, "server.tomcat.accesslog.enabled", "combined", access(COMMON))


GO_TIME = r"(?P<time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) "


def slashes(value):
    return moment(value, "%Y/%m/%d %H:%M:%S")


def slog_level(value):
    return word(re.split(r"[+-]", value)[0]) if not value.startswith("DEBUG-") else "trace"


def slog_rows(time, level, message):
    return dict(time=lambda e: iso(e[time]), message=key(message), severity=lambda e: slog_level(e[level]))


sample("go-log-default", "log", "1.26.8", GO, "default", "text", text(GO_TIME + r"(?P<message>.*)", slashes))
sample("go-log-panic", "log", "1.26.8", GO, "default, then a panic", "text", text(GO_TIME + r"(?P<message>.*)", slashes, start=r"^(\d{4}/|panic:)"))
sample("slog-default", "log/slog", "1.26.8", GO, "default handler", "text", text(GO_TIME + r"(?P<level>[A-Z]+(?:[+-]\d+)?) (?P<message>.*?)(?P<pairs>(?: [\w.]+=(?:\"(?:[^\"\\]|\\.)*\"|\S+))*)$", slashes, slog_level, more=pairs))
sample("slog-json", "log/slog", "1.26.8", GO, "JSONHandler", "json", entries(**slog_rows("time", "level", "msg"), metadata=["order", "amount", ["disk", "path"], ["disk", "used"], "err", "who"]))
sample("slog-text", "log/slog", "1.26.8", GO, "TextHandler", "logfmt",
       logfmt(lambda m: iso(m["time"]), lambda m: m["msg"], lambda m: slog_level(m["level"]), ["order", "amount", "disk.path", "disk.used", "err", "who"]))
sample("zap-production", "zap", "1.28.0", GO, "NewProduction", "json",
       entries(lambda e: seconds(e["ts"]), key("msg"), lambda e: word(e["level"]), metadata=["logger", "caller", "order", "amount", "used", "error"]))
sample("zap-development", "zap", "1.28.0", GO, "NewDevelopment", "text", lambda t: zap(t))
for setting, form in {"json": "default", "unix": "TimeFormatUnix"}.items():
    sample(f"zerolog-{setting}", "zerolog", "1.35.1", GO, form, "json",
           entries((lambda e: iso(e["time"])) if setting == "json" else (lambda e: seconds(e["time"])), key("message"), lambda e: word(e["level"]), metadata=["order", "amount", "used", "error"]))
sample("zerolog-console", "zerolog", "1.35.1", GO, "ConsoleWriter; colours in a pipe, too", "text",
       text(r"(?P<clock>[\d:]+[AP]M) (?P<level>[A-Z]{3}) (?P<message>(?:(?!\w+=).)*)(?P<pairs>.*)$", more=pairs))
sample("logrus-text", "logrus", "1.10.2", GO, "default, to a pipe", "logfmt",
       logfmt(lambda m: iso(m["time"]), lambda m: m["msg"], lambda m: word(m["level"]), ["order", "amount", "used", "error"]))
sample("logrus-json", "logrus", "1.10.2", GO, "JSONFormatter", "json",
       entries(lambda e: iso(e["time"]), key("msg"), lambda e: word(e["level"]), metadata=["order", "amount", "used", "error"]))
sample("logrus-colors", "logrus", "1.10.2", GO, "TextFormatter, ForceColors", "text",
       text(r"(?P<level>[A-Z]{4})\[\d+\] (?P<message>.*?) *(?P<pairs>(?: \w+=(?:\"(?:[^\"\\]|\\.)*\"|\S+))*) *$", severity=lambda v: {"TRAC": "trace", "DEBU": "debug", "INFO": "info", "WARN": "warn", "ERRO": "error", "FATA": "fatal"}[v], more=pairs))
sample("klog-default", "klog", "2.140.0", GO, "default; a date without a year", "text", lambda t: klog(t))
sample("hclog-text", "hclog", "1.6.3", GO, "default", "text",
       text(r"(?P<time>\S+Z) \[(?P<level>[A-Z]+)\] +(?P<module>[\w.]+): (?P<message>.*?)(?P<pairs>:(?: \w+=(?:\"(?:[^\"\\]|\\.)*\"|\S+))+|:\n.*)?$", iso, more=pairs))
sample("hclog-json", "hclog", "1.6.3", GO, "JSONFormat", "json", entries(**slog_rows("@timestamp", "@level", "@message"), metadata=["@module", "order", "amount", "used", "error", "text"]))
sample("go-kit-logfmt", "go-kit/log", "0.2.1", GO, "NewLogfmtLogger", "logfmt",
       logfmt(lambda m: iso(m["ts"]), lambda m: m["msg"], lambda m: word(m["level"]), ["caller", "order", "amount", "used", "err"]))
sample("go-kit-json", "go-kit/log", "0.2.1", GO, "NewJSONLogger", "json", entries(**slog_rows("ts", "level", "msg"), metadata=["caller", "order", "amount", "used", "err"]))
sample("charm-log-json", "charmbracelet/log", "1.0.0", GO, "JSONFormatter", "json",
       entries(lambda e: slashes(e["time"]), key("msg"), lambda e: word(e["level"]), metadata=["prefix", "order", "amount", "used", "err", "text"]))
sample("charm-log-text", "charmbracelet/log", "1.0.0", GO, "ReportTimestamp, to a pipe", "text",
       text(GO_TIME + r"(?P<level>[A-Z]{4}) (?P<prefix>\w+): (?P<message>.*?)(?P<pairs>(?: \w+=(?:\"(?:[^\"\\]|\\.)*\"|\S+))*)(?:\n.*)?$", slashes, lambda v: {"DEBU": "debug", "INFO": "info", "WARN": "warn", "ERRO": "error"}[v], more=pairs))
sample("gin-default", "Gin", "1.12.0", GO, "gin.Default(), to a pipe; its recovery writes colours all the same", "text", lambda t: gin(t))

ERROR_LINE = r"(?P<time>\d{4}/\d\d/\d\d [\d:]+) \[(?P<level>\w+)\] (?P<pid>\d+)#\d+: (?:\*(?P<connection>\d+) )?(?P<message>.*)"


def nginx_error(groups, whole):
    return {name: value for name, value in re.findall(r', (client|request|upstream|host|referrer): "?([^",]*)"?', whole)}


NGINX = "1.22.1 (Debian)"
sample("nginx-combined", "nginx", NGINX, "C", "access_log, default", "combined", access(COMMON + AGENT))
for setting, form in {"json": "log_format with escape=json", "json-unescaped": "log_format of JSON without escape=json"}.items():
    sample(f"nginx-{setting}", "nginx", NGINX, "C", form, "json",
           entries(lambda e: iso(e["time"]), key("request"), None, key("status"), metadata=["remote_addr", "bytes", "user_agent", "referer"]))
for name in ["nginx-error", "nginx-error-start"]:
    sample(name, "nginx", NGINX, "C", "error_log notice" if name == "nginx-error" else "stderr of a start that fails", "nginx-error",
           text(ERROR_LINE, slashes, numbers=["pid", "connection"], more=nginx_error))
APACHE = "2.4.71 (Debian)"
sample("apache-combined", "Apache httpd", APACHE, "C", "combined", "combined", access(COMMON + AGENT))
sample("apache-common", "Apache httpd", APACHE, "C", "common", "combined", access(COMMON))
sample("apache-vhost-combined", "Apache httpd", APACHE, "C", "vhost_combined of Debian", "combined", access(COMMON + AGENT))
sample("apache-error", "Apache httpd", APACHE, "C", "ErrorLog, default ErrorLogFormat, LogLevel info", "apache-error",
       text(r"\[(?P<time>\w{3} \w{3} \d+ [\d:.]+ \d{4})\] \[(?P<module>\w+):(?P<level>\w+)\] \[pid (?P<pid>\d+):tid \d+\] (?:\[client (?P<client>[\d.:]+)\] )?(?P<message>.*)", lambda t: moment(t, "%a %b %d %H:%M:%S %Y"), numbers=["pid"]))
HAPROXY = "2.6.12 (Debian)"
HTTPLOG = r"(?P<client>[\d.]+:\d+) \[(?P<time>[^\]]+)\] (?P<frontend>\S+) (?P<backend>\S+) \S+ (?P<status>\d{3}) (?P<bytes>\d+) \S \S \S+ \S+ \S+ \{[^}]*\} \"(?P<message>[^\"]*)\""
sample("haproxy-httplog", "HAProxy", HAPROXY, "C", "log stdout format raw, option httplog", "text", text(HTTPLOG, lambda t: moment(t, "%d/%b/%Y:%H:%M:%S"), numbers=["bytes"], start="^"))
sample("haproxy-stderr", "HAProxy", HAPROXY, "C", "log stderr format rfc3164, beside its own warnings", "syslog", lambda t: haproxy(t, HTTPLOG))
CADDY = "2.6.2 (Debian)"
ACCESS = ["logger", ["request", "method"], ["request", "uri"], ["request", "remote_ip"], "duration", "size"]
sample("caddy-json", "Caddy", CADDY, "Go", "default, to a pipe", "json",
       entries(lambda e: seconds(e["ts"]), key("msg"), lambda e: word(e["level"]), key("status"), metadata=ACCESS))
sample("caddy-console", "Caddy", CADDY, "Go", "format console; colours in a pipe, too; its first lines are JSON", "text", lambda t: caddy(t, ACCESS))
sample("redis-default", "Redis", "7.0.15 (Debian)", "C", "default, to a pipe", "text",
       redis(r"(?P<pid>\d+):(?P<role>[A-Z]) (?P<time>\d\d \w{3} \d{4} [\d:.]+) (?P<level>[#*.-]) (?P<message>.*)", lambda t: moment(t, "%d %b %Y %H:%M:%S"),
            lambda v: {"#": "warn", "*": "info", "-": "debug", ".": "debug"}[v], numbers=["pid"]))
POSTGRES = "15.20 (Debian)"
PG = {"LOG": "info", "WARNING": "warn", "ERROR": "error", "FATAL": "fatal", "DEBUG": "debug"}


def utc(value):
    return iso(value.removesuffix(" UTC"))


sample("postgres-stderr", "PostgreSQL", POSTGRES, "C", "log_line_prefix = '%m [%p] %q%u@%d ' (Debian's)", "postgres", lambda t: postgres(t, PG))
sample("postgres-csvlog", "PostgreSQL", POSTGRES, "C", "csvlog", "text", lambda t: postgres_csv(t, PG))
sample("postgres-jsonlog", "PostgreSQL", POSTGRES, "C", "jsonlog", "json",
       entries(lambda e: utc(e["timestamp"]), key("message"), lambda e: PG[e["error_severity"]], metadata=["pid", "user", "dbname", "session_id", "state_code", "detail", "hint", "statement", "backend_type"]))


def by_hand(name, program, language, setting, form, rows, version="-"):
    sample(name, program, version, language, setting, form, rows, made="by hand")


by_hand("docker-json-file", "Docker json-file", "Go", "default log driver", "json", lambda t: docker(t))
by_hand("cri-containerd", "CRI", "Go", "containerd, kubelet", "cri", lambda t: cri(t))
by_hand("cri-o", "CRI-O", "Go", "default", "cri", lambda t: cri(t))
by_hand("mongodb-json", "MongoDB", "C++", "default since 4.4", "json",
        entries(lambda e: iso(e["t"]["$date"]), key("msg"), lambda e: LETTERS[e["s"][0]], metadata=["c", "id", "ctx", ["attr", "port"], ["attr", "durationMillis"], ["attr", "message"], "tags"]))
DOTNET = {"Information": "info", "Warning": "warn", "Error": "error", "Debug": "debug", "Critical": "fatal", "Verbose": "trace", "Fatal": "fatal"}
for name, time in {"dotnet-json": None, "dotnet-json-timestamp": lambda e: iso(e["Timestamp"])}.items():
    by_hand(name, ".NET JSON console", ".NET", "AddJsonConsole()" if time is None else "AddJsonConsole() with a TimestampFormat of ISO", "json",
            entries(time, key("Message"), lambda e: DOTNET[e["LogLevel"]], metadata=["Category", "EventId", ["State", "Order"], ["State", "Amount"], ["State", "Used"], "Exception"]))
by_hand("dotnet-console", ".NET simple console", ".NET", "default: two lines or more an entry, no time", "text", lambda t: dotnet(t))
for name, member in {"serilog-compact": "@mt", "serilog-rendered": "@m"}.items():
    by_hand(name, "Serilog", ".NET", "CompactJsonFormatter" if member == "@mt" else "RenderedCompactJsonFormatter", "json",
            entries(lambda e: iso(e["@t"]), key(member), lambda e: DOTNET[e.get("@l", "Information")], key("StatusCode"), metadata=["Order", "Amount", "Used", "@x", "SourceContext", "RequestPath", "Elapsed"]))
by_hand("lograge-default", "Lograge", "Ruby", "default (key=value)", "logfmt", lambda t: lograge(t))
by_hand("lograge-json", "Lograge", "Ruby", "Lograge::Formatters::Json", "json",
        entries(None, key("message"), None, key("status"), metadata=["method", "path", "controller", "action", "duration", "db", "error"]))
by_hand("aws-alb", "AWS ALB", "-", "access log", "pattern",
        text(r"(?P<type>\w+) (?P<time>\S+Z) (?P<elb>\S+) (?P<client>\S+) \S+ \S+ \S+ \S+ (?P<status>\d{3}) \S+ \d+ \d+ \"(?P<message>[^\"]*)\" \"(?P<user_agent>[^\"]*)\"", iso))
PHP = {"INFO": "info", "WARNING": "warn", "ERROR": "error", "DEBUG": "debug", "CRITICAL": "fatal"}
by_hand("monolog-line", "Monolog", "PHP", "LineFormatter, default", "text", lambda t: monolog(t, PHP))
by_hand("monolog-json", "Monolog", "PHP", "JsonFormatter", "json",
        entries(lambda e: iso(e["datetime"]), key("message"), lambda e: PHP[e["level_name"]], metadata=["channel", "level", ["context", "order"], ["context", "amount"], ["context", "used"], ["context", "exception", "message"]]))


RABBIT = "3.10.8 (Debian)"
RABBIT_LINE = r"(?P<time>\d{4}-\S+ \S+\+00:00) \[(?P<level>\w+)\] (?P<pid><[\d.]+>) ?(?P<message>.*)"


def spaced(value):
    return moment(value, "%Y-%m-%d %H:%M:%S%z")


sample("rabbitmq-default", "RabbitMQ", RABBIT, "Erlang", "log.console = true; colours in a pipe, too; the first 45 lines", "text", text(RABBIT_LINE, spaced, start=r"^(\d{4}-|$)"))
sample("rabbitmq-json", "RabbitMQ", RABBIT, "Erlang", "log.console.formatter = json, level debug; begins with text; the first 45 lines", "json", lambda t: mixed(t, text(RABBIT_LINE, spaced),
       entries(lambda e: spaced(e["time"]), lambda e: e["msg"].strip(), lambda e: word(e["level"]), metadata=["domain", "file", "line", "pid"])))
SYSLOG_TEXT = r"(?P<hostname>\S+) (?P<program>[\w.-]+)(?:\[(?P<pid>\d+)\])?: (?P<message>.*)"
RSYSLOG = "8.2302.0 (Debian)"
sample("syslog-rfc3164", "rsyslog", RSYSLOG, "C", "RSYSLOG_TraditionalFileFormat, default of Debian 11", "syslog", syslog(text(r"(?P<time>\w{3} +\d+ [\d:]+) " + SYSLOG_TEXT, lambda t: moment(t, "%b %d %H:%M:%S", 2026), numbers=["pid"])))
sample("syslog-iso", "rsyslog", RSYSLOG, "C", "RSYSLOG_FileFormat, default of Debian 12", "syslog", syslog(text(r"(?P<time>\d{4}-\S+) " + SYSLOG_TEXT, iso, numbers=["pid"])))
sample("syslog-rfc5424", "rsyslog", RSYSLOG, "C", "RSYSLOG_SyslogProtocol23Format", "syslog",
       syslog(text(r"<(?P<level>\d+)>1 (?P<time>\S+) (?P<hostname>\S+) (?P<program>\S+) (?P<pid>\S+) - - +(?P<message>.*)", iso, lambda v: PRIORITIES[int(v) % 8])))
SYSTEMD = "252 (Debian)"
sample("journald-json", "journalctl", SYSTEMD, "C", "-o json", "json",
       entries(lambda e: micros(e["_SOURCE_REALTIME_TIMESTAMP"] if "_SOURCE_REALTIME_TIMESTAMP" in e else e["__REALTIME_TIMESTAMP"]), lambda e: journal_text(e["MESSAGE"]), lambda e: PRIORITIES[int(e["PRIORITY"])],
               metadata=["ORDER", "AMOUNT", "SYSLOG_IDENTIFIER", "_PID", "_HOSTNAME", "_TRANSPORT"]))
sample("journald-export", "journalctl", SYSTEMD, "C", "-o export", "text", lambda t: journal_export(t))
JOURNAL = {"short": (r"\w{3} \d+ [\d:]+", lambda t: moment(t, "%b %d %H:%M:%S", 2026)), "short-iso": (r"\S+\+0000", iso), "short-iso-precise": (r"\S+\+0000", iso),
           "short-full": (r"\w{3} \d{4}-\S+ [\d:]+ UTC", lambda t: moment(t, "%a %Y-%m-%d %H:%M:%S UTC"))}
for setting, (stamp, time) in JOURNAL.items():
    sample(f"journald-{setting}", "journalctl", SYSTEMD, "C", f"-o {setting}", "syslog" if setting == "short" else "text", unindented(text(f"(?P<time>{stamp}) " + SYSLOG_TEXT, time, numbers=["pid"])))
RUBY = {"DEBUG": "debug", "INFO": "info", "WARN": "warn", "ERROR": "error", "FATAL": "fatal", "ANY": None}
sample("ruby-logger-default", "Logger", "3.1", "Ruby 3.1", "default", "text",
       text(r"[A-Z], \[(?P<time>\S+) #(?P<pid>\d+)\] +(?P<level>[A-Z]+) -- (?P<program>\w*): (?P<message>.*)", iso, RUBY.get, numbers=["pid"], more=lambda g, w: {"program": g["program"] or None}))
sample("ruby-logger-json", "Logger", "3.1", "Ruby 3.1", "a formatter with JSON.generate", "json",
       entries(lambda e: iso(e["time"]), lambda e: e["message"].strip() if isinstance(e["message"], str) else "", lambda e: RUBY[e["level"]], metadata=["program", ["message", "order"], ["message", "amount"]]))
MARIA = "10.11.19 (Debian)"
sample("mariadb-error", "MariaDB", MARIA, "C++", "error log, default", "text",
       text(r"(?P<time>\d{4}-\d\d-\d\d +[\d:]+) (?P<thread>\d+) \[(?P<level>\w+)\] (?P<message>.*)", lambda t: moment(re.sub(" +", " ", t), "%Y-%m-%d %H:%M:%S"), numbers=["thread"], start=r"^(\d{4}-|Version: |mariadbd)"))
sample("mariadb-slow", "MariaDB", MARIA, "C++", "slow query log, long_query_time=0", "text", lambda t: slow(t))


TRAEFIK = "3.7.15"
sample("traefik-access-clf", "Traefik", TRAEFIK, "Go", "accessLog, common", "combined", access(COMMON + AGENT))
sample("traefik-access-json", "Traefik", TRAEFIK, "Go", "accessLog, json", "json",
       entries(lambda e: iso(e["time"]), key("msg"), lambda e: word(e["level"]), key("DownstreamStatus"),
               metadata=["ClientHost", "RequestMethod", "RequestPath", "Duration", "OriginStatus", "RouterName", "StartUTC"]))
sample("traefik-json", "Traefik", TRAEFIK, "Go", "log.format: json, level INFO", "json",
       entries(lambda e: iso(e["time"]), lambda e: e["message"].strip(), lambda e: word(e["level"]), metadata=["entryPointName", "version", "caller"]))
sample("traefik-common", "Traefik", TRAEFIK, "Go", "log.format: common (default), level INFO; colours in a pipe, too", "text",
       text(r"(?P<time>\S+Z) (?P<level>[A-Z]{3}) (?:(?P<caller>\S+) > )?(?P<message>(?:(?! \w+=).)*)(?P<pairs>.*)$", iso, more=pairs, start=r"^\d{4}-"))
RUST_FORMATS = {"fmt": "fmt::init(), to a pipe; colours all the same", "plain": "fmt, with_ansi(false)", "compact": "compact(), with_ansi(false)"}
TRACING = CRATES["tracing-subscriber"]
for setting, form in RUST_FORMATS.items():
    sample(f"tracing-subscriber-{setting}", "tracing-subscriber", TRACING, RUST, form, "text", lambda t: tracing(t))
sample("tracing-subscriber-pretty", "tracing-subscriber", TRACING, RUST, "pretty(), with_ansi(false)", "text", lambda t: tracing_pretty(t))
sample("tracing-subscriber-json", "tracing-subscriber", TRACING, RUST, "json()", "json",
       entries(lambda e: iso(e["timestamp"]), at(["fields", "message"]), lambda e: word(e["level"]),
               metadata=["target", ["fields", "amount"], ["fields", "user"], ["fields", "used"], ["fields", "order"], ["fields", "error"], ["span", "name"], ["span", "order"]]))
sample("tracing-subscriber-flat", "tracing-subscriber", TRACING, RUST, "json().flatten_event(true)", "json",
       entries(lambda e: iso(e["timestamp"]), key("message"), lambda e: word(e["level"]), metadata=["target", "amount", "user", "used", "order", "error", ["span", "name"]]))
sample("env-logger-default", "env_logger", CRATES["env_logger"], RUST, "default, RUST_LOG=trace", "text",
       text(r"\[(?P<time>\S+) (?P<level>[A-Z]+) +(?P<target>[\w:]+)\] (?P<message>.*?)(?P<pairs>(?: \w+=\S+)*)$", iso, more=pairs))
sample("slog-rs-term", "slog-term", CRATES["slog-term"], RUST, "FullFormat, PlainSyncDecorator; a time without a year", "text", lambda t: slog_term(t))
sample("slog-rs-json", "slog-json", CRATES["slog-json"], RUST, "default", "json",
       entries(lambda e: iso(e["ts"]), key("msg"), lambda e: {"TRCE": "trace", "DEBG": "debug", "INFO": "info", "WARN": "warn", "ERRO": "error", "CRIT": "fatal"}[e["level"]], metadata=["version", "order", "amount", "used", "error"]))
sample("log4rs-pattern", "log4rs", CRATES["log4rs"], RUST, "PatternEncoder, default ({d} {l} {t} - {m}{n})", "text",
       text(r"(?P<time>\d{4}-\S+) (?P<level>[A-Z]+) (?P<target>[\w:]+) - (?P<message>.*)", iso))
sample("log4rs-json", "log4rs", CRATES["log4rs"], RUST, "JsonEncoder", "json",
       entries(lambda e: iso(e["time"]), key("message"), lambda e: word(e["level"]), metadata=["target", "line", "thread", "module_path", ["attributes", "order"], ["attributes", "amount"]]))
sample("rust-panic", "Rust", "1.95.0", RUST, "a panic", "text", lambda t: [row(None, t.strip(), lines=len(lines_of(t)))])


SAMPLES.sort(key=lambda entry: entry["name"])
with open(os.path.join(HERE, "..", "samples.json"), "w", encoding="utf-8", errors="surrogateescape") as file:
    json.dump(SAMPLES, file, ensure_ascii=False, indent=2)
listed = {entry["name"] for entry in SAMPLES}
for name in sorted(os.listdir(FOLDER)):
    if name[:-4] not in listed:
        print("not listed", name)
