import java.util.Map;

/** Logs the same entries with one logger: java Loggers <logger> <setting>, with its settings in a file of that name. */
public class Loggers {
  static final String SPECIAL = "Jörg said \"hi\"\tto 🎉";

  static void charge() {
    throw new IllegalStateException("card declined");
  }

  static RuntimeException failure() {
    try {
      charge();
      return null;
    } catch (IllegalStateException cause) {
      return new RuntimeException("order not paid", cause);
    }
  }

  static void slf4j() {
    var log = org.slf4j.LoggerFactory.getLogger("com.example.shop.Orders");
    log.trace("cache asked");
    log.debug("cache miss");
    org.slf4j.MDC.put("tenant", "acme");
    log.info("order {} paid", "A-1001", net.logstash.logback.argument.StructuredArguments.kv("amount", 42.5));
    log.atInfo().addKeyValue("order", "A-1001").addKeyValue("amount", 42.5).log("order sent");
    org.slf4j.MDC.clear();
    log.warn("disk is {}% full", 91);
    log.error("charge failed", failure());
    log.info(SPECIAL);
  }

  static void log4j2() {
    var log = org.apache.logging.log4j.LogManager.getLogger("com.example.shop.Orders");
    log.trace("cache asked");
    log.debug("cache miss");
    org.apache.logging.log4j.ThreadContext.put("tenant", "acme");
    log.info("order {} paid", "A-1001");
    log.info(new org.apache.logging.log4j.message.StringMapMessage(Map.of("order", "A-1001")).with("amount", 42.5));
    org.apache.logging.log4j.ThreadContext.clearAll();
    log.warn("disk is {}% full", 91);
    log.error("charge failed", failure());
    log.fatal("out of memory");
    log.info(SPECIAL);
  }

  static void jul() {
    var log = java.util.logging.Logger.getLogger("com.example.shop.Orders");
    log.fine("cache miss");
    log.config("pool of 10");
    log.log(java.util.logging.Level.INFO, "order {0} paid", "A-1001");
    log.warning("disk is 91% full");
    log.log(java.util.logging.Level.SEVERE, "charge failed", failure());
    log.info(SPECIAL);
  }

  public static void main(String[] args) {
    switch (args[0]) {
      case "logback" -> slf4j();
      case "log4j2" -> log4j2();
      case "jul" -> jul();
      case "stderr" -> throw failure();
    }
  }
}
