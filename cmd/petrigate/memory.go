package main

import (
	"os"
	"runtime/debug"
	"time"
)

// started is how long a proxy takes at most, as a rule, until its servers have listed their tools.
const started = 3 * time.Second

// tuneMemory lets the collector run less often than usual, unless GOGC says how
// often: a proxy keeps little, and what it makes for a call is garbage after it.
// A start needs more than what follows it; tuneMemory returns that once.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	time.AfterFunc(started, debug.FreeOSMemory)
}
