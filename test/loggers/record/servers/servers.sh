#!/bin/bash
# Runs each server in a network of its own, asks it, and keeps what it wrote in out/: servers.sh <server>...
ip link set lo up
cd /srv/app
export TZ=UTC LC_ALL=C.UTF-8

nginx() {
  rm -f out/nginx-*
  /usr/sbin/nginx -c /srv/app/servers/nginx.conf &
  python3 servers/ask.py 8099 /down
  kill -QUIT $!
  wait $!
  echo 'events {} http { nonsense on; }' >run/broken.conf
  /usr/sbin/nginx -c /srv/app/run/broken.conf 2>out/nginx-error-start.log
}
apache() {
  rm -f out/apache-*
  /usr/sbin/apache2 -f /srv/app/servers/apache.conf -DFOREGROUND &
  python3 servers/ask.py 8099 /down /secret
  kill -TERM $!
  wait $!
}
haproxy() {
  /usr/sbin/haproxy -db -f servers/haproxy.cfg >out/haproxy-httplog.log 2>out/haproxy-stderr.log &
  sleep 3
  python3 servers/ask.py 8099 /down
  kill -TERM $!
  wait $!
}
caddy() {
  for setting in json console; do
    [ $setting = json ] && file=Caddyfile || file=Caddyfile.console
    XDG_DATA_HOME=/srv/app/run XDG_CONFIG_HOME=/srv/app/run /usr/bin/caddy run --adapter caddyfile --config servers/$file 2>out/caddy-$setting.log &
    python3 servers/ask.py 8099 /down
    kill -TERM $!
    wait $!
  done
}
traefik() {
  rm -f out/traefik-*
  python3 servers/backend.py &
  backend=$!
  sleep 2
  for setting in clf json; do
    sed "s/access-clf/access-$setting/; s/^log:/&\n  format: $([ $setting = json ] && echo json || echo common)/; s/^accessLog:/&\n  format: $([ $setting = json ] && echo json || echo common)/" servers/traefik.yml >run/traefik.yml
    [ $setting = json ] && log=json || log=common
    python/venv/bin/traefik --configFile=/srv/app/run/traefik.yml >out/traefik-$log.log 2>&1 &
    python3 servers/ask.py 8099 /down
    sleep 3
    kill -TERM $!
    wait $!
  done
  kill $backend
}
redis() {
  /usr/bin/redis-server --port 6399 --dir run >out/redis-default.log &
  sleep 3
  redis-cli -p 6399 set a 1
  redis-cli -p 6399 bgsave
  sleep 2
  kill -TERM $!
  wait $!
}
postgres() {
  bin=/usr/lib/postgresql/15/bin
  rm -rf run/pg && mkdir run/pg && chown postgres run/pg
  su postgres -c "$bin/initdb -D run/pg -A trust >/dev/null"
  mkdir -p run/pgsocket && chown postgres run/pgsocket
  su postgres -c "$bin/postgres -D run/pg -c listen_addresses= -c unix_socket_directories=/srv/app/run/pgsocket -c logging_collector=on \
    -c log_directory=log -c log_filename=postgresql.log -c log_destination=stderr,csvlog,jsonlog \
    -c log_line_prefix='%m [%p] %q%u@%d ' -c log_timezone=${ZONE:-UTC} -c log_min_duration_statement=0 -c log_connections=on" 2>/dev/null &
  sleep 6
  psql -U postgres -h /srv/app/run/pgsocket postgres -q <<'SQL'
create table orders (id text primary key, amount numeric);
insert into orders values ('A-1001', 42.5);
insert into orders values ('A-1001', 1);
select id,
	amount
  from nowhere;
do $$ begin raise warning 'Jörg said "hi"	to 🎉'; raise log 'order % paid', 'A-1001'; raise exception 'charge failed' using detail = 'card declined', hint = 'ask for another card'; end $$;
set log_min_messages = debug1;
do $$ begin raise debug 'cache miss'; end $$;
SQL
  psql -U postgres -h /srv/app/run/pgsocket nosuch -q -c 'select 1'
  kill -INT $(head -1 run/pg/postmaster.pid)
  wait
  cp run/pg/log/postgresql.log out/postgres-stderr.log
  cp run/pg/log/postgresql.csv out/postgres-csvlog.log
  cp run/pg/log/postgresql.json out/postgres-jsonlog.log
}
mariadb() {
  rm -rf run/maria out/mariadb-slow.log && mkdir run/maria
  mariadb-install-db --no-defaults --user=root --datadir=/srv/app/run/maria >/dev/null 2>&1
  mariadbd --no-defaults --user=root --datadir=/srv/app/run/maria --socket=/srv/app/run/maria.sock --skip-networking --pid-file=/srv/app/run/maria.pid \
    --slow-query-log --long-query-time=0 --slow-query-log-file=/srv/app/out/mariadb-slow.log --log-warnings=2 2>out/mariadb-error.log &
  sleep 8
  command mariadb -S /srv/app/run/maria.sock -e "create database shop; use shop; create table orders (id varchar(9) primary key, amount double); insert into orders values ('A-1001', 42.5); select id, 'Jörg said \"hi\"' from orders;"
  command mariadb -S /srv/app/run/maria.sock -u nobody -pwrong -e 'select 1'
  mariadb-admin -S /srv/app/run/maria.sock shutdown
  wait
}
rabbitmq() {
  mkdir -p run/rabbit && chmod 777 run/rabbit
  for setting in default json; do
    [ $setting = json ] && printf 'log.console = true\nlog.console.formatter = json\nlog.console.level = debug\n' >run/rabbit/rabbitmq.conf || echo 'log.console = true' >run/rabbit/rabbitmq.conf
    HOME=/srv/app/run/rabbit RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_CONFIG_FILE=/srv/app/run/rabbit/rabbitmq.conf \
      RABBITMQ_MNESIA_BASE=/srv/app/run/rabbit RABBITMQ_LOG_BASE=/srv/app/run/rabbit RABBITMQ_PID_FILE=/srv/app/run/rabbit/pid \
      timeout 60 /usr/lib/rabbitmq/bin/rabbitmq-server >run/rabbit/out 2>&1
    head -n 45 run/rabbit/out >out/rabbitmq-$setting.log
  done
}
rsyslog() {
  cat >run/rsyslog.conf <<'R'
module(load="imuxsock" SysSock.Name="/srv/app/run/log.sock")
action(type="omfile" file="/srv/app/out/syslog-rfc3164.log" template="RSYSLOG_TraditionalFileFormat")
action(type="omfile" file="/srv/app/out/syslog-iso.log" template="RSYSLOG_FileFormat")
action(type="omfile" file="/srv/app/out/syslog-rfc5424.log" template="RSYSLOG_SyslogProtocol23Format")
R
  rsyslogd -n -f run/rsyslog.conf -i run/rsyslog.pid &
  sleep 2
  logger -u run/log.sock -t shop --id=7 -p user.info 'order paid order=A-1001 amount=42.5'
  logger -u run/log.sock -t shop -p user.warning 'disk is 91% full'
  logger -u run/log.sock -t shop -p daemon.err 'charge failed: card declined'
  logger -u run/log.sock -t shop -p auth.crit 'out of memory'
  logger -u run/log.sock -t shop -p user.debug 'cache miss'
  logger -u run/log.sock -t shop -p user.notice "$(printf 'Jörg said "hi"\tto 🎉')"
  sleep 1
  kill -TERM $!
  wait $!
}
journald() {
  mkdir -p /run/systemd/journal /run/log/journal
  echo 00000000000000000000000000000001 >/etc/machine-id
  /lib/systemd/systemd-journald &
  sleep 3
  logger --journald <<'J'
MESSAGE=order paid
PRIORITY=6
SYSLOG_IDENTIFIER=shop
ORDER=A-1001
AMOUNT=42.5
J
  printf 'MESSAGE=charge failed\nMESSAGE=Traceback (most recent call last):\nMESSAGE=ValueError: card declined\nPRIORITY=3\nSYSLOG_IDENTIFIER=shop\n' | logger --journald
  echo 'disk is 91% full' | systemd-cat -t shop -p warning
  echo 'cache miss' | systemd-cat -t shop -p debug
  printf 'J\xc3\xb6rg said "hi"\tto \xf0\x9f\x8e\x89\n' | systemd-cat -t shop
  printf '\033[31mred\033[0m and a bad byte \xff\n' | systemd-cat -t shop
  echo 'out of memory' | systemd-cat -t shop -p emerg
  sleep 1
  for output in json export short short-iso short-iso-precise short-full; do
    journalctl -t shop -o $output >out/journald-$output.log
  done
  kill -TERM $!
  wait $!
}
for server; do $server; done
