#!/bin/bash
# Makes a copy-on-write view of this machine below $BUILD, named `host`, with everything that record.sh and servers.sh need in /srv/app:
#   sh setup.sh              once, as root
#   sh setup.sh run <command>...   runs a command in it, in a network of its own
set -e
cd "$(dirname "$0")"
BUILD=${BUILD:-/tmp/tailpond-loggers}
certificates=/etc/ssl/certs/ca-certificates.crt
inside() {
  unshare -mu --fork bash -c '
    mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root" && hostname host
    for folder in proc dev sys; do mount --rbind /$folder "$0/root/$folder"; done
    exec chroot "$0/root" env -i PATH="$PATH" HOME=/root TZ=UTC LC_ALL=C.UTF-8 TERM=dumb NODE_EXTRA_CA_CERTS=$1 SSL_CERT_FILE=$1 PIP_CERT=$1 \
      bash -c "cd /srv/app && exec \"\$@\"" bash "${@:2}"' "$BUILD" $certificates "$@"
}
if [ "$1" = run ]; then
  shift
  inside unshare -n bash -c 'ip link set lo up && exec "$@"' bash "$@"
  exit
fi
mkdir -p "$BUILD"/{upper/srv/app/out,upper/srv/app/run,upper/srv/app/www,work,root}
chmod 777 "$BUILD"/upper/srv/app/{out,run}
echo ok >"$BUILD/upper/srv/app/www/index.html"
cp -r ./* "$BUILD/upper/srv/app/"
inside bash -c '
  printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  echo "127.0.0.1 localhost host" >/etc/hosts
  DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install \
    nginx-light apache2 haproxy caddy redis-server mariadb-server rabbitmq-server postgresql-15 ruby rsyslog
  (cd node && npm install --ignore-scripts)
  (cd python && python3 -m venv venv && venv/bin/pip install -q -r requirements.txt)
  (cd java && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib && javac -parameters -cp "lib/*" -d classes ./*.java)
  (cd go && go mod tidy && go build -p 1 -trimpath -o loggers .)
  (cd rust && RUSTFLAGS=--remap-path-prefix=/root/.cargo/registry/src=cargo cargo build -j 1)'
