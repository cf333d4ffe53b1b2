package admission

import (
	"bytes"
	"sync"
)

// Limits on the arguments that are kept for displaying open calls.
const (
	recentCalls    = 1000
	maxRecentBytes = 2 << 10 // maximum size in bytes of a call's arguments
)

// RecentArguments keeps the recorded, redacted arguments of the most recently admitted calls. Its
// zero value is empty.
type RecentArguments struct {
	mu    sync.Mutex
	args  map[admitted][]byte
	order []admitted // the calls whose arguments are kept, oldest first
}

// admitted identifies an admitted call.
type admitted struct {
	key    Key
	number uint64
}

// note keeps a call's arguments unless they are too long or not recorded.
func (l *RecentArguments) note(key Key, number uint64, args []byte) {
	if len(args) == 0 || len(args) > maxRecentBytes {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.args == nil {
		l.args = map[admitted][]byte{}
	}
	c := admitted{key, number}
	if _, again := l.args[c]; !again {
		if l.order = append(l.order, c); len(l.order) > recentCalls {
			delete(l.args, l.order[0])
			l.order = l.order[1:]
		}
	}
	l.args[c] = bytes.Clone(args)
}

// Arguments returns an admitted call's recorded arguments. It returns nil if the arguments are not
// recorded or are too long, if another process admitted the call, or if many calls have been
// admitted since then.
func (l *RecentArguments) Arguments(key Key, number uint64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.args[admitted{key, number}]
}
