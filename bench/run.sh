#!/usr/bin/env bash
# Runs the benchmark of MCP proxies on petrigate.
#
#   run.sh [ARGUMENTS OF mcpbench run...]
#
# MCPBENCH is the directory of the benchmark (default: ../../shared/bench beside
# this repository). Its programs and petrigate are built into ../bin.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
source=${MCPBENCH:-$(dirname "$root")/shared/bench}
[ -f "$source/go.mod" ] || { echo "no benchmark in $source; set MCPBENCH" >&2; exit 2; }
mkdir -p "$root/bin/mcpbench"
(cd "$root" && go build -trimpath -o bin/petrigate ./cmd/petrigate)
(cd "$source" && go build -o "$root/bin/mcpbench/" ./cmd/...)
cd "$root/bin"
exec mcpbench/mcpbench run -config "$here/petrigate.json" "$@"
