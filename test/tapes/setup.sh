#!/bin/sh
# Copies the drivers to build/ and brings there what they need. Nothing is installed on the system,
# except that strace, logrotate, debianutils, libfaketime, node, python3, a JDK, mvn, go and cargo must be there.
set -e
cd "$(dirname "$0")"
mkdir -p build/node build/python build/java build/go build/rust build/debs build/debian

cp drivers/node/* build/node/
(cd build/node && npm install --ignore-scripts --no-package-lock)

[ -x build/python/bin/python ] || python3 -m venv build/python
cp drivers/python/* build/python/
build/python/bin/pip install -q -r build/python/requirements.txt

cp drivers/java/* build/java/
(cd build/java && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib && javac -cp 'lib/*' -d classes ./*.java)

cp drivers/go/* build/go/
(cd build/go && go mod tidy && go build -o drivers .)

cp -r drivers/rust/* build/rust/
(cd build/rust && cargo build --release)

(cd build/debs && apt-get download runit s6 libs6-2.11 libskarnet2.13 libexecline2.9 apache2-utils libapr1 libaprutil1 \
  cronolog daemontools && for package in *.deb; do dpkg -x "$package" ../debian; done)
