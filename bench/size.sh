#!/usr/bin/env bash
# Prints what each module adds to the released program: bytes of machine code, and its share of the file.
#
#   size.sh [ARGUMENTS OF go build...]
#
# What comes with code (tables of lines and pointers, types, text) is shared out by the code.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$root"
export CGO_ENABLED=0
go build -trimpath -ldflags '-s -w' "$@" -o "$dir/released" ./cmd/petrigate
go build -trimpath "$@" -o "$dir/whole" ./cmd/petrigate
go version -m "$dir/whole" | awk '$1 == "mod" || $1 == "dep" { print $2 }' >"$dir/modules"
go tool nm -size "$dir/whole" | awk -v file="$(stat -c %s "$dir/released")" '
	FNR == NR { modules[$1] = 1; next }
	$3 !~ /^[tT]$/ { next }
	{
		name = $4
		gsub(/%2e/, ".", name)
		sub(/^type:\.(eq|hash)\./, "", name)
		of = "std"
		for (m in modules) if (index(name, m) == 1 && (of == "std" || length(m) > length(of))) of = m
		code[of] += $2
		all += $2
	}
	END {
		for (m in code) printf "%9.0f KB of code %6.2f MB of the file  %s\n", code[m] / 1e3, code[m] / all * file / 1e6, m | "sort -rn"
		close("sort -rn")
		printf "%9.0f KB of code %6.2f MB of the file  in all\n", all / 1e3, file / 1e6
	}' "$dir/modules" -
