package door

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// light is the size up to which a message is not weighed: requests are bounded
// by their number.
const light = 64 << 10

// errHeavy is the end of a message for which there is no room.
var errHeavy = errors.New("too much is being sent at a time")

// leastLoad is how much one principal may have us hold of large messages, if
// single ones may not be larger still.
const leastLoad = 256 << 20

// A load bounds the large messages that are held at a time. What was only
// announced is not held: nobody can keep out others without sending it.
type load struct {
	each, all int // bytes, of one principal and of all

	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

func newLoad(message int) *load {
	each := max(leastLoad, 4*message)
	return &load{each: each, all: 2 * each, held: map[string]int{}}
}

// read reads to the end, and weighs what it reads.
func (l *load) read(r io.Reader, principal string) (body []byte, release func(), err error) {
	var b bytes.Buffer
	weight := 0
	release = func() { l.drop(principal, weight) }
	for {
		n, err := io.CopyN(&b, r, light)
		if n > 0 && !l.add(principal, int(n)) {
			release()
			return nil, nil, errHeavy
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

func (l *load) add(principal string, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[principal]+n > l.each || l.total+n > l.all {
		return false
	}
	l.held[principal] += n
	l.total += n
	return true
}

func (l *load) drop(principal string, n int) {
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
