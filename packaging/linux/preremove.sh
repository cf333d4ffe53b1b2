#!/bin/sh
# Runs before a removal, and before an upgrade, which must not stop the service.
set -e

case "$1" in
  remove | 0) # deb | rpm
    if [ -d /run/systemd/system ]; then
      systemctl disable --now petrigate.service
    elif command -v systemctl >/dev/null; then
      systemctl disable petrigate.service
    fi
    ;;
esac
