#!/usr/bin/env bash
# Measures what a call through petrigate costs and prints the table of RESULTS.md.
#
#   run.sh [-rounds N] [-duration D] [-only S1,S3] [-dir DIR] [-out FILE]
#
# MCPBENCH is the directory of the harness (default: ../../shared/bench beside this repository).
# All programs are built into ../bin. The table goes to standard output, the progress and the
# tables of the harness to standard error.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
source=${MCPBENCH:-$(dirname "$root")/shared/bench}
[ -f "$source/go.mod" ] || { echo "no harness in $source; set MCPBENCH" >&2; exit 2; }
mkdir -p "$root/bin/mcpbench"
(cd "$root" && go build -trimpath -o bin/petrigate ./cmd/petrigate)
(cd "$root" && go build -o bin/ ./bench/naive ./bench/compare)
(cd "$source" && go build -o "$root/bin/mcpbench/" ./cmd/...)
commit=$(cd "$root" && git describe --always --dirty --exclude '*')
exec "$root/bin/compare" -harness "$root/bin/mcpbench/mcpbench" -config "$here/petrigate.json" \
  -title "$(date +%F), $commit; " "$@"
