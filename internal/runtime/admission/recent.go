package admission

import (
	"bytes"
	"sync"
)

// Limits on the arguments kept for displaying open calls.
const (
	recentCalls    = 1000
	maxRecentBytes = 2 << 10 // maximum size of one call's arguments in bytes
)

// RecentArguments keeps the recorded (redacted) arguments of the most recently admitted calls. The
// zero value is empty and ready to use.
type RecentArguments struct {
	mu    sync.Mutex
	args  map[admittedCall][]byte
	order []admittedCall // calls whose arguments are in args, oldest first
}

type admittedCall struct {
	key    Key
	number uint64
}

// note remembers the arguments of an admitted call, unless they are too long.
func (l *RecentArguments) note(key Key, number uint64, args []byte) {
	if len(args) > maxRecentBytes {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.args == nil {
		l.args = map[admittedCall][]byte{}
	}
	c := admittedCall{key, number}
	if _, again := l.args[c]; !again {
		if l.order = append(l.order, c); len(l.order) > recentCalls {
			delete(l.args, l.order[0])
			l.order = l.order[1:]
		}
	}
	l.args[c] = bytes.Clone(args)
}

// Arguments returns the recorded arguments of a recently admitted call. It returns nil if they were
// too long or not recorded, or if the call was admitted too long ago or by another process.
func (l *RecentArguments) Arguments(key Key, number uint64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.args[admittedCall{key, number}]
}
