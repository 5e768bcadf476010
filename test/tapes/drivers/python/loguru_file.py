"""loguru: rotation by size, gzip, retention of three files."""

from loguru import logger

from lines import write_lines

logger.remove()
logger.add("app.log", format="{message}", rotation=600, compression="gz", retention=3)
write_lines(36, logger.info)
logger.remove()
