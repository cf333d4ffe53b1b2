package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of sizes. Read-only.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// readSize reads a number of bytes with a unit, least or more.
func readSize(d *decoder, to *int, least int) func(key, value *node) {
	return func(key, value *node) {
		if value.kind == numberKind {
			d.at(value, quoted(key)+" needs a unit", fmt.Sprintf("for example %q", value.text+"MiB"))
			return
		}
		if !d.is(value, textKind, quoted(key)) {
			return
		}
		before := len(d.errs)
		n, ok := sizeOf(d.interpolated(value))
		switch {
		case len(d.errs) > before:
		case !ok:
			d.at(value, fmt.Sprintf("%q: %s is not a size", key.text, shown(value)), `for example "4MiB"`)
		case n < least:
			d.at(value, fmt.Sprintf("%q must be %d bytes or more", key.text, least), "")
		default:
			*to = n
		}
	}
}

// sizeOf reads a whole number of a unit, less than 2 GiB.
func sizeOf(text string) (int, bool) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, " "), 10, 31)
		return int(n) * int(unit.bytes), err == nil && int64(n) <= math.MaxInt32/unit.bytes
	}
	return 0, false
}
