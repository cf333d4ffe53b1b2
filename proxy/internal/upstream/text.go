package upstream

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A trickle lets a burst of log lines through, and then some each second. It
// says how many it held back.
type trickle struct {
	log  *slog.Logger
	kind string

	mu      sync.Mutex
	left    float64
	last    time.Time
	dropped int
}

const (
	trickleBurst = 100
	trickleRate  = 20 // a second
)

func newTrickle(log *slog.Logger, kind string) *trickle {
	return &trickle{log: log, kind: kind, left: trickleBurst, last: time.Now()}
}

// allow reports whether a line may be logged.
func (t *trickle) allow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.left = min(trickleBurst, t.left+now.Sub(t.last).Seconds()*trickleRate)
	t.last = now
	if t.left < 1 {
		t.dropped++
		return false
	}
	t.left--
	t.told()
	return true
}

// flush tells what was held back so far.
func (t *trickle) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told()
}

func (t *trickle) told() {
	if t.dropped > 0 {
		t.log.Log(context.Background(), slog.LevelWarn, "lines of the server left out of the log", "kind", t.kind, "lines", t.dropped)
		t.dropped = 0
	}
}
