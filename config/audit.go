package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Audit configures the audit log.
type Audit struct {
	File      string   // path of the log file; empty means no file
	Arguments string   // how call arguments are recorded: "hash", "masked" or "full"
	Mask      []string // fields to mask if Arguments is "masked": names, or paths that begin with "$."
	Rotate    Rotate

	Keep time.Duration `json:",omitempty"` // maximum age of records in the database; 0 means unlimited
}

// Rotate configures when the audit log switches to a new file. The zero value disables rotation.
type Rotate struct {
	Size int64 // maximum size of a file, in bytes
	Keep int   // maximum number of rotated files to keep; 0 means all
}

func readAudit(v Value, c *Config, l *layers) {
	a := &c.Audit
	l.section(v, Keys{
		"arguments": l.fileOnly("audit.arguments", into(&a.Arguments, checked(checkWord(argumentForms)))),
		"mask":      l.fileOnly("audit.mask", into(&a.Mask, nonEmpty(listOf(checked(checkNotEmpty, checkMask))))),
		"rotate":    l.fileOnly("audit.rotate", into(&a.Rotate, readRotate)),
		"keep":      l.fileOnly("audit.keep", into(&a.Keep, readKeep)),
	})
}

// minRotateSize is the minimum value of "size", in bytes. It leaves room for a few long records per
// file.
const minRotateSize = 64 << 10

// argumentForms lists the values of "arguments". It is read-only.
var argumentForms = []string{"hash", "masked", "full"}

func readRotate(v Value) (r Rotate, ok bool) {
	v.Fields(Keys{
		"size": into(&r.Size, sizeUpTo(minRotateSize, math.MaxInt64)),
		"keep": into(&r.Keep, Value.positive),
	})
	v.needs("size")
	return r, true
}

// minKeep is the minimum value of audit.keep.
const minKeep = time.Hour

// readKeep reads how long to keep records. The duration may contain days.
func readKeep(v Value) (time.Duration, bool) {
	if !v.requireUnit("d") {
		return 0, false
	}
	text, ok := v.setting()
	if !ok {
		return 0, false
	}
	keep, ok := daysOf(text)
	switch {
	case !ok:
		v.Fault(fmt.Sprintf("%s: %s is not a duration", v.what, v.quoted()), `for example "90d"`)
	case keep < minKeep:
		v.Fault(fmt.Sprintf("%s must be 1h or more", v.what), `for example "90d"`)
	}
	return keep, ok
}

// daysOf parses a duration that may begin with a number of days, such as "90d" or "1d12h".
func daysOf(text string) (time.Duration, bool) {
	const day, most = 24 * time.Hour, 100 * 366 // at most 100 years
	number, rest, found := strings.Cut(text, "d")
	if !found {
		return duration(text)
	}
	days, err := strconv.ParseUint(number, 10, 32)
	if err != nil || days > most {
		return 0, false
	}
	if rest == "" {
		return time.Duration(days) * day, true
	}
	t, ok := duration(rest)
	return time.Duration(days)*day + t, ok && t < day
}

// checkMask accepts a field name or a path.
var checkMask = accept(func(text string) bool {
	return !strings.HasPrefix(text, "$") || strings.HasPrefix(text, "$.") && len(text) > 2
}, "%[1]s: %[2]s is not a path", `for example "$.user.password"; a bare name matches every field with that name`)
