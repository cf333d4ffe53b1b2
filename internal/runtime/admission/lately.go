package admission

import (
	"bytes"
	"sync"
)

// Bounds of the arguments that are kept for who looks at open calls.
const (
	latelyCalls = 1000
	latelyBytes = 2 << 10 // of one call
)

// Lately keeps the arguments of the newest admitted calls as they go on record, so masked. The zero value has none.
type Lately struct {
	mu    sync.Mutex
	args  map[admitted][]byte
	order []admitted // a ring
	next  int        // in order
}

// admitted names a call that was admitted.
type admitted struct {
	key    Key
	number uint64
}

// note keeps the arguments of a call, unless they are long or are not recorded.
func (l *Lately) note(key Key, number uint64, args []byte) {
	if len(args) == 0 || len(args) > latelyBytes {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.args == nil {
		l.args = map[admitted][]byte{}
	}
	c := admitted{key, number}
	if _, again := l.args[c]; !again {
		if len(l.order) < latelyCalls {
			l.order = append(l.order, c)
		} else {
			delete(l.args, l.order[l.next])
			l.order[l.next], l.next = c, (l.next+1)%latelyCalls
		}
	}
	l.args[c] = bytes.Clone(args)
}

// Arguments returns the arguments of an admitted call as they are on record; nil: they are not recorded, are
// long, or were admitted by another process or before many others.
func (l *Lately) Arguments(key Key, number uint64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.args[admitted{key, number}]
}
