package policydiff

import (
	"strings"
	"testing"
)

// TestDiffsByTheClock checks that patterns do not match the calls that represent ticks of the
// clock, and that nets with keys keep their clock.
func TestDiffsByTheClock(t *testing.T) {
	for _, c := range []struct {
		old, changed string
		deny         bool
		want         string
	}{
		{"limit a to 1 per minute\nlimit * to 3 per session", "limit a to 1 per minute\nlimit * to 3 per session\nlimit a to 2 per session", true, "stricter"},
		{"limit a to 1 per minute for each f", "limit a to 1 per minute for each f\nblock b", false, "stricter"},
		{"limit a to 1 per minute for each f", "limit a to 1 per hour for each f", false, "stricter"},
		{"limit * to 2 per minute for each f\nlimit a to 1 per hour", "limit * to 2 per minute for each f", false, "looser"},
	} {
		p := &pair{lines: [2][]string{strings.Split(c.old, "\n"), strings.Split(c.changed, "\n")}, deny: c.deny}
		if d := p.compare(t); d.result() != c.want {
			t.Errorf("%s (%s), want %s\n%s", d.result(), d.why, c.want, p)
		}
	}
}
