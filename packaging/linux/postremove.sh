#!/bin/sh
# Runs after a removal. What is in /etc/petrigate and /var/lib/petrigate stays, with the
# user who owns it: audit logs are for those who come later. dpkg --purge removes both.
set -e

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "$1" = purge ]; then # deb alone
  rm -rf /etc/petrigate /var/lib/petrigate
fi
