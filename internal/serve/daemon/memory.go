package daemon

import (
	"os"
	"runtime/debug"
	"time"
)

// started is how long a proxy takes at most, as a rule, until its servers have listed their tools.
const started = 3 * time.Second

// TuneMemory lets the collector run less often than usual, unless GOGC says how
// often: a proxy keeps little, and what it makes for a call is garbage after it.
// A start needs more than what follows it; TuneMemory returns that once.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	time.AfterFunc(started, debug.FreeOSMemory)
}
