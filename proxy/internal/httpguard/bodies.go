package httpguard

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// small is the size up to which a message is not counted: the number of requests
// is bounded.
const small = 64 << 10

// errTooMuch ends a message for which there is no room.
var errTooMuch = errors.New("too much is being sent at a time")

// minBodies is the least bound on the large messages of one principal that are held
// at a time, in bytes.
const minBodies = 256 << 20

// A bodyLimit bounds the bytes of large messages that are held at a time. It counts
// bytes that were read, not announced: nobody can keep out others without sending.
type bodyLimit struct {
	each, all int // bytes, of one principal and of all

	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

func newBodyLimit(message int) *bodyLimit {
	each := max(minBodies, 4*message)
	return &bodyLimit{each: each, all: 2 * each, held: map[string]int{}}
}

// read reads to the end and counts what it reads.
func (l *bodyLimit) read(r io.Reader, principal string) (body []byte, release func(), err error) {
	var b bytes.Buffer
	weight := 0
	release = func() { l.drop(principal, weight) }
	for {
		n, err := io.CopyN(&b, r, small)
		if n > 0 && !l.add(principal, int(n)) {
			release()
			return nil, nil, errTooMuch
		}
		weight += int(n)
		switch {
		case err == io.EOF:
			return b.Bytes(), release, nil
		case err != nil:
			release()
			return nil, nil, err
		}
	}
}

func (l *bodyLimit) add(principal string, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[principal]+n > l.each || l.total+n > l.all {
		return false
	}
	l.held[principal] += n
	l.total += n
	return true
}

func (l *bodyLimit) drop(principal string, n int) {
	if n == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total -= n
	if l.held[principal] -= n; l.held[principal] == 0 {
		delete(l.held, principal)
	}
}
