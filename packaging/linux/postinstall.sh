#!/bin/sh
# Runs after an install and an upgrade, of deb and of rpm. A service that runs is
# restarted after an upgrade; a new one is neither enabled nor started, because its
# configuration is empty.
set -e

if ! getent passwd petrigate >/dev/null; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers petrigate.conf
  else
    useradd --system --user-group --home-dir /var/lib/petrigate --no-create-home --shell /usr/sbin/nologin petrigate
  fi
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # The package is installed, whether the service starts or not.
  systemctl try-restart petrigate.service ||
    echo "petrigate.service does not start with this version: journalctl -u petrigate says why" >&2
fi
