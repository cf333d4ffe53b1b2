package conn

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A Trickle lets a burst of log lines through, and then some each second. It
// says how many it held back.
type Trickle struct {
	log  *slog.Logger
	kind string

	mu      sync.Mutex
	left    float64
	last    time.Time
	dropped int
}

const (
	TrickleBurst = 100
	trickleRate  = 20 // a second
)

func NewTrickle(log *slog.Logger, kind string) *Trickle {
	return &Trickle{log: log, kind: kind, left: TrickleBurst, last: time.Now()}
}

// Allow reports whether a line may be logged.
func (t *Trickle) Allow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.left = min(TrickleBurst, t.left+now.Sub(t.last).Seconds()*trickleRate)
	t.last = now
	if t.left < 1 {
		t.dropped++
		return false
	}
	t.left--
	t.told()
	return true
}

// Flush tells what was held back so far.
func (t *Trickle) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told()
}

func (t *Trickle) told() {
	if t.dropped > 0 {
		t.log.Log(context.Background(), slog.LevelWarn, "lines of the server left out of the log", "kind", t.kind, "lines", t.dropped)
		t.dropped = 0
	}
}
