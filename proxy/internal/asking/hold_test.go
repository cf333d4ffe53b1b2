package asking_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/asking"
)

// TestHold checks that Wait returns each event, and that a hold ends for each of its reasons.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name           string
		answered, over bool
		lasts          time.Duration
	}{{"answered", true, false, 0}, {"nobody waits", false, true, 0}, {"its time is over", false, false, 12 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				h := asking.NewHold(12*time.Second, channel(c.answered), channel(c.over))
				if e := h.Wait(nil); e != asking.Ended || time.Since(began) != c.lasts {
					t.Errorf("event %d after %v", e, time.Since(began))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := asking.NewHold(12*time.Second, channel(false), channel(false))
		if e := h.Wait(channel(true)); e != asking.Gone {
			t.Errorf("event %d where the question is gone", e)
		}
		h.Tell(channel(true))
		for n, want := range []asking.Event{asking.Unasked, asking.Progress, asking.Progress, asking.Ended} {
			if e := h.Wait(nil); e != want {
				t.Errorf("event %d is %d, not %d", n, e, want)
			}
		}
	})
}

func channel(closed bool) chan struct{} {
	c := make(chan struct{})
	if closed {
		close(c)
	}
	return c
}
