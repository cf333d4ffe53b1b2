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
	File      string   // "": nowhere
	Arguments string   // "hash", "masked" or "full": what of the arguments of calls goes on record
	Mask      []string // with "masked": names of fields, and paths that begin with "$."
	Rotate    Rotate

	Keep time.Duration `json:",omitempty"` // records in the database that are older are removed; 0: none is
}

// Rotate says when another file is begun. Its zero value says never.
type Rotate struct {
	Size int64 // bytes
	Keep int   // files that are kept beside the newest; 0: all
}

// leastRotation is the least size of a file that another follows: of a few long records.
const leastRotation = 64 << 10

// argumentForms are the words of "arguments". Read-only.
var argumentForms = []string{"hash", "masked", "full"}

func readAudit(v Value, c *Config, l *layers) {
	a := &c.Audit
	l.section(v, Keys{
		"arguments": l.noted("audit.arguments", into(&a.Arguments, checked(checkWord(argumentForms)))),
		"mask":      l.noted("audit.mask", into(&a.Mask, filled(each(checked(checkFilled, checkMask))))),
		"rotate":    l.noted("audit.rotate", into(&a.Rotate, readRotate)),
		"keep":      l.noted("audit.keep", into(&a.Keep, readKeep)),
	})
}

func readRotate(v Value) (r Rotate, ok bool) {
	v.Fields(Keys{
		"size": into(&r.Size, sizeUpTo(leastRotation, math.MaxInt64)),
		"keep": into(&r.Keep, Value.positive),
	})
	v.needs("size")
	return r, true
}

// leastKeep is the least age at which records are removed.
const leastKeep = time.Hour

// readKeep reads for how long records are kept.
func readKeep(v Value) (time.Duration, bool) {
	if !v.hasUnit("d") {
		return 0, false
	}
	text, ok := v.setting()
	if !ok {
		return 0, false
	}
	keep, ok := daysOf(text)
	switch {
	case !ok:
		v.Fault(fmt.Sprintf("%s: %s is not a duration", v.what, v.shown()), `for example "90d"`)
	case keep < leastKeep:
		v.Fault(fmt.Sprintf("%s must be 1h or more", v.what), `for example "90d"`)
	}
	return keep, ok
}

// daysOf reads a duration that may begin with days: "90d", "1d12h".
func daysOf(text string) (time.Duration, bool) {
	const day, most = 24 * time.Hour, 100 * 366 // a hundred years
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

// checkMask accepts a name of a field, or a path.
func checkMask(what, shown, text string) (msg, hint string) {
	if strings.HasPrefix(text, "$") && (!strings.HasPrefix(text, "$.") || len(text) == 2) {
		return what + ": " + shown + " is not a path", `for example "$.user.password"; a name alone is of every field that has it`
	}
	return "", ""
}

// settleAudit checks the settings of the section together.
func (c *Config) settleAudit(d *decoder, l *layers) {
	a := &c.Audit
	recorded := a.File != "" || c.State.Driver != "memory"
	arguments, mask, rotate := l.set["audit.arguments"], l.set["audit.mask"], l.set["audit.rotate"]
	switch {
	case mask != nil && !recorded:
		d.at(mask, `"mask" has no meaning where nothing is recorded`, "file: audit.jsonl")
	case mask != nil && a.Arguments != "masked":
		d.at(mask, `"mask" has no meaning with "arguments": "`+a.Arguments+`"`, "arguments: masked")
	case arguments != nil && !recorded:
		d.at(arguments, `"arguments" has no meaning where nothing is recorded`, "file: audit.jsonl")
	case a.Arguments == "masked" && mask == nil:
		d.at(arguments, `"arguments": "masked" requires "mask"`, `mask: [password, "$.user.token"]`)
	}
	if keep := l.set["audit.keep"]; keep != nil && c.State.Driver == "memory" {
		d.at(keep, `"keep" has no meaning with the driver memory: it is about the records in the database`, keepHint(a))
	}
	if rotate != nil && a.File == "" {
		d.at(rotate, `"rotate" has no meaning without "file"`, "file: audit.jsonl")
	}
}

// keepHint names what keeps records short without a database.
func keepHint(a *Audit) string {
	if a.File != "" {
		return "rotate: { size: 100MB, keep: 10 }, which is about the file"
	}
	return "state: { driver: sqlite }"
}
