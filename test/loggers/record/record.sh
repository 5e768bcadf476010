#!/bin/bash
# Records the libraries of one language into out/: record.sh node|python|java|go|rust|ruby
cd /srv/app
export TZ=UTC LC_ALL=C.UTF-8
# to <sample> <command>...: keeps what the command writes to either stream
to() {
  sample=$1
  shift
  "$@" >out/$sample.log 2>&1
}
asked() {
  sample=$1
  shift
  "$@" >out/$sample.log 2>&1 &
  python3 servers/ask.py 8099
  sleep 1
  kill -TERM $!
  wait $!
}
node() {
  run() { command node node/loggers.mjs "$@"; }
  to pino-json run pino
  to pino-iso run pino iso
  run pino | command node node/node_modules/pino-pretty/bin.js >out/pino-pretty.log
  to pino-http-json run pino-http
  for s in json timestamp simple cli printf; do to winston-$s run winston $s; done
  to bunyan-json run bunyan
  for s in colored basic; do to log4js-$s run log4js $s; done
  to fastify-json run fastify
  for s in console json; do to nestjs-$s run nestjs $s; done
  for s in combined common dev short tiny; do to morgan-$s run morgan $s; done
  to debug-pipe env 'DEBUG=*' node node/loggers.mjs debug
  to debug-colors env 'DEBUG=*' DEBUG_COLORS=1 node node/loggers.mjs debug
  to roarr-json env ROARR_LOG=true node node/loggers.mjs roarr
  to consola-default run consola
  for s in pretty json; do to tslog-$s run tslog $s; done
  to node-console run console
}
python() {
  python=python/venv/bin/python
  run() { $python python/loggers.py "$@"; }
  for s in basic usual lastresort; do to python-logging-$s run logging $s; done
  for s in default fields; do to python-json-logger-$s run python-json-logger $s; done
  to ecs-logging-json run ecs-logging
  to logfmter-logfmt run logfmter
  for s in console json logfmt; do to structlog-$s run structlog $s; done
  for s in default serialize; do to loguru-$s run loguru $s; done
  to rich-default run rich
  to python-stderr run stderr
  rm -f out/gunicorn-*
  cd python
  for s in debug production; do
    PYTHONUNBUFFERED=1 SHOP=django-$s venv/bin/python shop.py runserver --noreload --skip-checks 8099 >../out/django-runserver-$s.log 2>&1 &
    python3 ../servers/ask.py 8099
    kill -TERM $!
    wait $!
  done
  HOME=/srv/app/run venv/bin/gunicorn -b 127.0.0.1:8099 --access-logfile ../out/gunicorn-access.log --error-logfile ../out/gunicorn-error.log shop:wsgi &
  python3 ../servers/ask.py 8099
  kill -TERM $!
  wait $!
  venv/bin/uvicorn --port 8099 shop:asgi >../out/uvicorn-default.log 2>&1 &
  python3 ../servers/ask.py 8099
  kill -TERM $!
  wait $!
}
java() {
  run() { command java -cp 'java/lib/*:java/classes' "${@:3}" Loggers "$1" "$2"; }
  to logback-default run logback default
  for s in pattern logstash json; do to logback-$s run logback $s -Dlogback.configurationFile=java/settings/logback-$s.xml; done
  to log4j2-default run log4j2 default
  for s in pattern iso kafka template json jsondefault; do to log4j2-$s run log4j2 $s -Dlog4j2.configurationFile=java/settings/log4j2-$s.xml; done
  to jul-default run jul default
  to jul-oneline run jul oneline '-Djava.util.logging.SimpleFormatter.format=%1$tFT%1$tT.%1$tL%1$tz %4$s %2$s %5$s%6$s%n'
  to java-stderr run stderr default
  rm -f out/tomcat-*
  for s in default logstash ecs gelf; do
    [ $s = default ] && format= || format=--logging.structured.format.console=$s
    command java -cp 'java/lib/*:java/classes' com.example.shop.Shop --server.port=8099 --spring.application.name=shop \
      --server.tomcat.accesslog.enabled=true --server.tomcat.accesslog.directory=/srv/app/out --server.tomcat.accesslog.prefix=tomcat-access \
      --server.tomcat.accesslog.file-date-format= $format >out/spring-boot-$s.log 2>&1 &
    python3 servers/ask.py 8099
    kill -TERM $!
    wait $!
  done
}
go() {
  run() { ./go/loggers "$@"; }
  to go-log-default run log
  to go-log-panic run log panic
  for s in default text json; do to slog-$s run slog $s; done
  for s in production development; do to zap-$s run zap $s; done
  for s in json unix console; do to zerolog-$s run zerolog $s; done
  for s in text json colors; do to logrus-$s run logrus $s; done
  to klog-default run klog
  for s in text json; do to hclog-$s run hclog $s; done
  for s in logfmt json; do to go-kit-$s run go-kit $s; done
  for s in text json; do to charm-log-$s run charm $s; done
  asked gin-default run gin
}
rust() {
  run() { RUST_LOG=trace ./rust/target/debug/loggers "$@"; }
  for s in fmt plain compact pretty json flat; do to tracing-subscriber-$s run tracing $s; done
  to env-logger-default run env_logger
  for s in term json; do to slog-rs-$s run slog $s; done
  for s in pattern json; do to log4rs-$s run log4rs $s; done
  to rust-panic env -u RUST_BACKTRACE ./rust/target/debug/loggers panic
}
ruby() {
  for s in default json; do to ruby-logger-$s command ruby ruby/loggers.rb $s; done
}
$1
