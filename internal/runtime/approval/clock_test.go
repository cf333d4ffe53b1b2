package approval

import (
	"strings"
	"testing"
	"time"
)

// TestMonotonic: B047. Waits are measured with the monotonic clock: the times of a request have a
// monotonic reading, even after an answer.
func TestMonotonic(t *testing.T) {
	b := newBrokerOf([]string{CLI}, time.Now)
	q := open(t, b, Key{Tool: "push"})
	if err := b.Answer(q.ID, false, CLI, "ann", ""); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{"created": q.Created, "expires": q.Expires, "answered": b.Status(q).At, "the denial": q.progress.Stands} {
		if !strings.Contains(at.String(), " m=") { // the reading
			t.Errorf("%s is by the clock on the wall: %s", name, at)
		}
	}
}
