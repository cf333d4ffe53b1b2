package config

import (
	"fmt"
	"time"
)

// A scalar describes a value that several layers can set.
type scalar struct {
	initial string
	check   check
	timed   bool // whether the value is a duration
	path    bool // whether the value is a path; in the file, the path is relative to the file's directory
}

// reads the scalar from the file.
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
	return func(what, shown, text string) (msg, hint string) {
		if v, ok := duration(text); !ok || v < least {
			return fmt.Sprintf("%s: %s is not a duration, or is too short", what, shown), "for example 45s"
		}
		return "", ""
	}
}
