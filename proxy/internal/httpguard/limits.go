package httpguard

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"
)

// defaultRequests is how many requests one principal may have open, including
// streams and calls that wait for a person; all may have four times that.
const defaultRequests = 5000

// small is the size up to which a message is not counted: the number of requests
// is bounded.
const small = 64 << 10

// minBodies is the least bound on the large messages of one principal that are held
// at a time, in bytes.
const minBodies = 256 << 20

// errTooMuch ends a message for which there is no room.
var errTooMuch = errors.New("too much is being sent at a time")

// A limit bounds what is held at a time: open requests, or the bytes of large messages.
// One principal with too much leaves room for the others.
type limit struct {
	each, all int // of one principal and of all

	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

func newRequestLimit(each int) *limit {
	each = cmp.Or(each, defaultRequests)
	return &limit{each: each, all: 4 * each, held: map[string]int{}}
}

// newBodyLimit counts bytes that were read, not announced: nobody can keep out others
// without sending.
func newBodyLimit(message int) *limit {
	each := max(minBodies, 4*message)
	return &limit{each: each, all: 2 * each, held: map[string]int{}}
}

// add counts n more, or returns the status that says who holds too much.
func (l *limit) add(principal string, n int) (status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.held[principal]+n > l.each:
		return http.StatusTooManyRequests
	case l.total+n > l.all:
		return http.StatusServiceUnavailable
	}
	l.held[principal] += n
	l.total += n
	return http.StatusOK
}

func (l *limit) drop(principal string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total -= n
	if l.held[principal] -= n; l.held[principal] == 0 {
		delete(l.held, principal)
	}
}

// admit counts a request, or rejects it before anything of it is read.
func (l *limit) admit(w http.ResponseWriter, principal string) bool {
	status := l.add(principal, 1)
	if status == http.StatusOK {
		return true
	}
	w.Header().Set("Retry-After", "1")
	who := "this proxy has"
	if status == http.StatusTooManyRequests {
		who = "you have"
	}
	http.Error(w, who+" too many open requests", status)
	return false
}

// read reads to the end and counts what it reads.
func (l *limit) read(r io.Reader, principal string) (body []byte, release func(), err error) {
	var b bytes.Buffer
	weight := 0
	release = func() { l.drop(principal, weight) }
	for {
		n, err := io.CopyN(&b, r, small)
		if n > 0 && l.add(principal, int(n)) != http.StatusOK {
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
