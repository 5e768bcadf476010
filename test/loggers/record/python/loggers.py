"""Logs the same entries with one logger: loggers.py <logger> [<setting>]"""
import sys

ORDER = {"order": "A-1001", "amount": 42.5}
SPECIAL = 'Jörg said "hi"\tto 🎉'
LOGGER, SETTING = (sys.argv[1:] + [""])[:2]


def charge():
    raise ValueError("card declined")


def standard(log, extra=True):
    """Entries of the standard library's way, with a field of its own where the format shows it."""
    fields = {"extra": ORDER} if extra else {}
    log.debug("cache miss")
    log.info("order %s paid: %.2f", "A-1001", 42.5, **fields)
    log.warning("disk is %d%% full", 91)
    try:
        charge()
    except ValueError:
        log.exception("charge failed")
    log.critical("out of memory")
    log.info(SPECIAL)


def logging_():
    import logging

    if SETTING == "basic":
        logging.basicConfig()
        standard(logging.getLogger())
        standard(logging.getLogger("shop.orders"))
    elif SETTING == "usual":
        logging.basicConfig(level=logging.DEBUG, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
        standard(logging.getLogger("shop.orders"))
        try:
            try:
                charge()
            except ValueError as error:
                raise RuntimeError("order not paid") from error
        except RuntimeError:
            logging.exception("two\nlines and two traces")
    elif SETTING == "lastresort":
        standard(logging.getLogger("shop.orders"))


def handler(formatter):
    import logging

    out = logging.StreamHandler(sys.stdout)
    out.setFormatter(formatter)
    logging.basicConfig(level=logging.DEBUG, handlers=[out])
    return logging.getLogger("shop")


def python_json_logger():
    from pythonjsonlogger.json import JsonFormatter

    if SETTING == "default":
        standard(handler(JsonFormatter()))
    else:
        standard(handler(JsonFormatter("%(asctime)s %(name)s %(levelname)s %(message)s")))


def ecs():
    import ecs_logging

    standard(handler(ecs_logging.StdlibFormatter()))


def logfmter():
    from logfmter import Logfmter

    standard(handler(Logfmter(keys=["at", "when", "logger"], mapping={"at": "levelname", "when": "asctime", "logger": "name"})))


def structlog_():
    import structlog

    if SETTING == "json":
        structlog.configure(
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.processors.add_log_level,
                structlog.processors.dict_tracebacks,
                structlog.processors.TimeStamper(fmt="iso"),
                structlog.processors.JSONRenderer(),
            ]
        )
    if SETTING == "logfmt":
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso"),
                structlog.processors.format_exc_info,
                structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
            ]
        )
    log = structlog.get_logger()
    log.debug("cache miss")
    log.info("order paid", **ORDER)
    log.warning("disk almost full", disk="/data", used=91)
    try:
        charge()
    except ValueError:
        log.exception("charge failed", **ORDER)
    log.critical("out of memory")
    log.info(SPECIAL, who="Jörg")


def loguru_():
    from loguru import logger

    if SETTING == "serialize":
        logger.remove()
        logger.add(sys.stdout, serialize=True)
    logger.trace("cache asked")
    logger.debug("cache miss")
    logger.bind(**ORDER).info("order paid")
    logger.success("order sent")
    logger.warning("disk almost full")
    try:
        charge()
    except ValueError:
        logger.exception("charge failed")
    logger.critical("out of memory")
    logger.info(SPECIAL)


def rich_():
    import logging

    from rich.logging import RichHandler

    logging.basicConfig(level="DEBUG", format="%(message)s", datefmt="[%X]", handlers=[RichHandler()])
    standard(logging.getLogger("shop"))


def warnings_():
    import warnings

    warnings.warn("old way to pay")
    charge()


{
    "logging": logging_,
    "python-json-logger": python_json_logger,
    "ecs-logging": ecs,
    "logfmter": logfmter,
    "structlog": structlog_,
    "loguru": loguru_,
    "rich": rich_,
    "stderr": warnings_,
}[LOGGER]()
