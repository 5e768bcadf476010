# Logs the same entries with one logger: ruby loggers.rb default|json
require "logger"
SPECIAL = %(Jörg said "hi"\tto 🎉)

def charge
  raise ArgumentError, "card declined"
end

log = Logger.new($stdout)
if ARGV[0] == "json"
  require "json"
  log.formatter = proc { |severity, time, program, message| "#{JSON.generate(time: time.utc.strftime('%FT%T.%6NZ'), level: severity, program: program, message: message.is_a?(Exception) ? message.full_message(highlight: false) : message)}\n" }
end
log.debug("cache miss")
log.info("shop") { "order A-1001 paid amount=42.5" }
log.info({ order: "A-1001", amount: 42.5 })
log.warn("disk is 91% full")
begin
  charge
rescue ArgumentError => e
  log.error(e)
end
log.fatal("out of memory")
log.unknown("no level")
log.info(SPECIAL)
