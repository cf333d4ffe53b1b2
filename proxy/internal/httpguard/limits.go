package httpguard

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/quota"
)

// defaultRequests is the default maximum number of open requests per principal, including streams
// and calls that wait for a person. The maximum for all principals together is four times as high.
const defaultRequests = 5000

// maxUncounted is the maximum Content-Length of a message that does not count toward the limits on
// bytes. The limit on the number of requests is enough for small messages.
const maxUncounted = 64 << 10

// minBodies is the lowest value, in bytes, of the limit on one principal's large messages in
// memory.
const minBodies = 256 << 20

// errTooMuch means that a message would exceed the limit on large messages in memory.
var errTooMuch = errors.New("too many bytes are being sent at a time")

// A limit bounds a quantity, such as the number of open requests or the bytes of large messages in
// memory, per principal and in total. A principal that has reached its limit does not affect the
// others. A limit is safe for concurrent use.
type limit struct {
	each, all int // maximum per principal, and in total

	quota.Quota
}

// newBodyLimit returns a limit for large messages. The limit counts the bytes actually read instead
// of the announced length. Otherwise, a client could exhaust it without sending anything.
func newBodyLimit(message int) *limit {
	each := max(minBodies, 4*message)
	return &limit{each: each, all: 2 * each}
}

// add adds n to the principal's count and returns [http.StatusOK]. If a limit would be exceeded, it
// adds nothing, and returns the HTTP status of the error response.
func (l *limit) add(principal string, n int) (status int) {
	status = http.StatusOK
	l.Add(principal, n, func(own, all int) bool {
		switch {
		case own+n > l.each:
			status = http.StatusTooManyRequests
		case all+n > l.all:
			status = http.StatusServiceUnavailable
		}
		return status == http.StatusOK
	})
	return status
}

// admit counts a request. If a limit has been reached, it rejects the request before the body is
// read.
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

// read reads r to its end and counts the bytes. If the length was announced, the returned slice has
// no unused capacity, because a call may retain it for a long time.
func (l *limit) read(r io.Reader, announced int64, principal string) (body []byte, release func(), err error) {
	weight := 0
	release = func() { l.Give(principal, weight) }
	body = make([]byte, 0, maxUncounted)
	for err == nil {
		if len(body) == cap(body) {
			body = grow(body, announced)
		}
		var n int
		n, err = r.Read(body[len(body):min(cap(body), len(body)+maxUncounted)])
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
	return trim(body), release, nil
}

// grow copies body to a slice with twice the capacity. If the length was announced, the new
// capacity is at most the length plus one byte. The extra byte is needed to detect the end.
func grow(body []byte, announced int64) []byte {
	room := 2 * cap(body)
	if n := int(announced) + 1; n > cap(body) {
		room = min(room, n)
	}
	return append(make([]byte, 0, room), body...)
}

// trim returns the bytes of body in a slice without much unused capacity.
func trim(body []byte) []byte {
	if cap(body)-len(body) > len(body)/8 {
		return bytes.Clone(body)
	}
	return body
}
