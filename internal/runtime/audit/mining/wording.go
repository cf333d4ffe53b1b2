package mining

import (
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return text.Grouped(n) + " calls"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return text.Grouped(n) + " times"
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
