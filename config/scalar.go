package config

import (
	"time"
)

// A scalar describes a setting that has a single value and that the file, the environment or a flag
// can set.
type scalar struct {
	initial string
	check   check
	timed   bool // whether the value is a duration
	path    bool // whether the value is a path; in the file, the path is relative to the file's directory
}

// read returns the value of a scalar setting as text. A relative path becomes absolute.
func (s scalar) read(v Value) (string, bool) {
	if s.timed && !v.requireUnit("s") {
		return "", false
	}
	text, ok := checked(s.check)(v)
	if s.path {
		text = v.absolute(text)
	}
	return text, ok
}

func checkDuration(least time.Duration) check {
	return accept(func(text string) bool {
		t, ok := duration(text)
		return ok && t >= least
	}, "%[1]s: %[2]s is not a duration, or is too short", "for example 45s")
}

// durationFrom returns a function that reads a duration of at least the given length.
func durationFrom(least time.Duration) func(Value) (time.Duration, bool) {
	return func(v Value) (time.Duration, bool) {
		text, ok := scalar{check: checkDuration(least), timed: true}.read(v)
		t, _ := duration(text)
		return t, ok
	}
}
