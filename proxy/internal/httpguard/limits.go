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

// read reads to the end and counts what it reads. The body has as much memory as it needs,
// where its length is announced: a call may keep it for long.
func (l *limit) read(r io.Reader, announced int64, principal string) (body []byte, release func(), err error) {
	weight := 0
	release = func() { l.drop(principal, weight) }
	body = make([]byte, 0, small)
	for err == nil {
		if len(body) == cap(body) {
			body = grown(body, announced)
		}
		var n int
		n, err = r.Read(body[len(body):min(cap(body), len(body)+small)])
		body = body[:len(body)+n]
		if n > 0 && l.add(principal, n) != http.StatusOK {
			release()
			return nil, nil, errTooMuch
		}
		weight += n
	}
	if err != io.EOF {
		release()
		return nil, nil, err
	}
	return bound(body), release, nil
}

// grown returns a body with room for more: twice as much, but not more than was announced, and
// a byte for the end.
func grown(body []byte, announced int64) []byte {
	room := 2 * cap(body)
	if n := int(announced) + 1; n > cap(body) {
		room = min(room, n)
	}
	return append(make([]byte, 0, room), body...)
}

// bound returns the body without memory that it does not need.
func bound(body []byte) []byte {
	if cap(body)-len(body) > len(body)/8 {
		return bytes.Clone(body)
	}
	return body
}
