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

// size reads a number of bytes with a unit, least or more.
func size(least int) func(Value) (int, bool) {
	return func(v Value) (int, bool) {
		if !v.hasUnit("MiB") {
			return 0, false
		}
		text, ok := v.setting()
		if !ok {
			return 0, false
		}
		n, ok := sizeOf(text)
		switch {
		case !ok:
			v.Fault(fmt.Sprintf("%s: %s is not a size", v.what, v.shown()), `for example "4MiB"`)
		case n < least:
			v.Fault(fmt.Sprintf("%s must be %d bytes or more", v.what, least), "")
		}
		return n, ok
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
