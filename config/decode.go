package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// plain reads a string, which may be empty.
func (v Value) plain() (string, bool) { return v.text, v.hasKind(textKind) }

// Text reads a string that must not be empty.
func (v Value) Text() (string, bool) {
	if !v.hasKind(textKind) {
		return "", false
	}
	if v.text == "" {
		v.Fault(v.label()+" is empty", "")
		return "", false
	}
	return v.text, true
}

// Texts reads a list of strings, or a single string.
func (v Value) Texts() []string {
	if v.kind == textKind {
		return []string{v.text}
	}
	all, _ := listOf(Value.Text)(v)
	return all
}

// Word reads one of the given words.
func (v Value) Word(words ...string) (string, bool) { return oneOf(words)(v) }

// IsText reports whether the value is a string.
func (v Value) IsText() bool { return v.kind == textKind }

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { return v.kind == numberKind }

// Flag reads true or false.
func (v Value) Flag() (on, ok bool) { return v.text == "true", v.hasKind(boolKind) }

// Count reads a non-negative whole number.
func (v Value) Count() (int, bool) { return whole(0, math.MaxInt32)(v) }

// whole returns a function that reads a whole number within the given limits. It rejects numbers
// with a plus sign, leading zeros, a fraction or an exponent.
func whole(low, high int) func(Value) (int, bool) {
	return func(v Value) (int, bool) {
		if !v.hasKind(numberKind) {
			return 0, false
		}
		n, err := strconv.Atoi(v.text)
		if err != nil || n < low || n > high || strconv.Itoa(n) != v.text {
			v.Fault(fmt.Sprintf("%s must be a whole number from %d to %d", v.what, low, high), "")
			return 0, false
		}
		return n, true
	}
}

// positive reads a limit, which must be at least 1, because a limit of 0 would block everything.
func (v Value) positive() (int, bool) {
	n, ok := v.Count()
	if ok && n == 0 {
		v.Fault(v.what+" must be 1 or more", "")
	}
	return n, ok
}

// integer reads a whole number, which may be negative.
func (v Value) integer() (int, bool) {
	if !v.hasKind(numberKind) {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 32)
	if err != nil {
		v.Fault(v.what+" must be a whole number", "")
	}
	return int(n), err == nil
}

// Duration reads a duration such as "2m30s".
func (v Value) Duration() (time.Duration, bool) {
	if !v.hasKind(textKind) {
		return 0, false
	}
	t, ok := duration(v.text)
	if !ok {
		v.Fault(fmt.Sprintf("%s: %s is not a duration", v.what, v.quoted()), "for example 2m30s")
	}
	return t, ok
}

// duration parses a non-negative duration.
func duration(text string) (time.Duration, bool) {
	t, err := time.ParseDuration(text)
	return t, err == nil && t >= 0
}

// units lists the units of sizes. The order matters to sizeOf, which tries each unit as a suffix:
// "B" must come last, because the names of all other units end with it. The list is read-only.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// size returns a function that reads a number of bytes with a unit. It accepts numbers from the
// given minimum up to, but not including, 2 GiB.
func size(low int) func(Value) (int, bool) {
	return func(v Value) (int, bool) {
		n, ok := sizeUpTo(int64(low), math.MaxInt32)(v)
		return int(n), ok
	}
}

// sizeUpTo returns a function that reads a number of bytes with a unit. It accepts numbers within
// the given limits.
func sizeUpTo(low, high int64) func(Value) (int64, bool) {
	return func(v Value) (int64, bool) {
		if !v.requireUnit("MiB") {
			return 0, false
		}
		text, ok := v.setting()
		if !ok {
			return 0, false
		}
		n, ok := sizeOf(text, high)
		switch {
		case !ok:
			v.Fault(fmt.Sprintf("%s: %s is not a size", v.what, v.quoted()), `for example "4MiB"`)
		case n < low:
			v.Fault(fmt.Sprintf("%s must be %d bytes or more", v.what, low), "")
		}
		return n, ok
	}
}

// sizeOf parses a whole number with a unit.
func sizeOf(text string, high int64) (int64, bool) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, " "), 10, 63)
		return int64(n) * unit.bytes, err == nil && int64(n) <= high/unit.bytes
	}
	return 0, false
}

// setting reads a string and replaces each ${...} in it.
func (v Value) setting() (string, bool) {
	if !v.hasKind(textKind) {
		return "", false
	}
	before := v.skipped
	text, bad := v.expand(v.text)
	if bad != nil {
		line, column := v.find(v.node, bad.expr)
		v.add(line, column, bad.msg, bad.hint)
		return "", false
	}
	if v.skipped > before {
		v.unresolved = true
		return text, true
	}
	if strings.ContainsRune(text, 0) {
		v.Fault("the value contains a NUL byte", "")
		return "", false
	}
	return text, true
}

// A check validates a string. If the string is invalid, the check returns a message and a hint;
// otherwise, both are empty. The message can contain key, the name of the setting, variable or
// flag, and quoted, the string in quotes. A string from the file is quoted as written there, before
// any ${...} is replaced.
type check func(key, quoted, text string) (msg, hint string)

// accept returns a check that accepts a string if valid returns true for it. For any other string,
// the check formats msg, where %[1]s stands for the name of the setting and %[2]s for the quoted
// string.
func accept(valid func(text string) bool, msg, hint string) check {
	return func(key, quoted, text string) (string, string) {
		if valid(text) {
			return "", ""
		}
		return fmt.Sprintf(msg, key, quoted), hint
	}
}

func (v Value) passes(text string, c check) bool {
	msg, hint := c(v.what, v.quoted(), text)
	if msg != "" {
		v.Fault(msg, hint)
	}
	return msg == ""
}

// checked returns a function that reads a string, replaces each ${...} in it, and applies the
// checks.
func checked(checks ...check) func(Value) (string, bool) {
	return func(v Value) (string, bool) {
		text, ok := v.setting()
		for _, c := range checks {
			ok = ok && v.passes(text, c)
		}
		return text, ok
	}
}

// oneOf returns a function that reads one of the given words. It rejects the reserved words, which
// are meant for later versions.
func oneOf(words []string, reserved ...string) func(Value) (string, bool) {
	return func(v Value) (string, bool) {
		if !v.hasKind(textKind) || !v.passes(v.text, checkWord(words, reserved...)) {
			return "", false
		}
		return v.text, true
	}
}

func checkWord(words []string, reserved ...string) check {
	return func(key, quoted, word string) (msg, hint string) {
		switch {
		case slices.Contains(words, word):
			return "", ""
		case slices.Contains(reserved, word):
			return fmt.Sprintf("%s: %s is not supported yet", key, quoted), "supported: " + strings.Join(words, ", ")
		}
		return fmt.Sprintf("%s: unknown value %s", key, quoted), cmp.Or(text.Suggest(word, words), "one of: "+strings.Join(words, ", "))
	}
}

var checkNotEmpty = accept(func(text string) bool { return text != "" }, "%[1]s is empty", "")

// into returns a decoder function that calls read on a value and, on success, stores the result in
// *to.
func into[T any](to *T, read func(Value) (T, bool)) func(Value) {
	return func(v Value) {
		if x, ok := read(v); ok {
			*to = x
		}
	}
}

// listOf returns a function that reads a list by calling read for each entry.
func listOf[T any](read func(Value) (T, bool)) func(Value) ([]T, bool) {
	return func(v Value) ([]T, bool) {
		if !v.hasKind(listKind) {
			return nil, false
		}
		list := make([]T, 0, len(v.items))
		for _, item := range v.items {
			if x, ok := read(Value{v.decoder, item, v.key, v.what, true}); ok {
				list = append(list, x)
			}
		}
		return list, true
	}
}

// mapOf returns a function that reads a mapping with keys chosen by users, by calling read for each
// value. In messages, the name of a value consists of the prefix and the key.
func mapOf[T any](prefix string, read func(Value) (T, bool)) func(Value) (map[string]T, bool) {
	return func(v Value) (map[string]T, bool) {
		all := make(map[string]T, len(v.fields))
		v.Each(func(key string, value Value) {
			if x, ok := read(value.named(prefix + value.what)); ok {
				all[key] = x
			}
		})
		return all, v.kind == mapKind
	}
}

// nonEmpty returns a function that calls read but rejects an empty list.
func nonEmpty[T any](read func(Value) ([]T, bool)) func(Value) ([]T, bool) {
	return func(v Value) ([]T, bool) {
		if v.kind == listKind && len(v.items) == 0 {
			v.Fault(v.what+" is empty", "omit the key")
		}
		return read(v)
	}
}
