package httpguard

import (
	"cmp"
	"net/http"
	"sync"
)

// defaultRequests is how many requests one principal may have open, including
// streams and calls that wait for a person; all may have four times that.
const defaultRequests = 5000

// A requestLimit bounds the open requests. One principal with too many leaves room
// for the others.
type requestLimit struct {
	each, all int

	mu    sync.Mutex
	total int
	open  map[string]int // by principal; none with 0
}

func newRequestLimit(each int) *requestLimit {
	each = cmp.Or(each, defaultRequests)
	return &requestLimit{each: each, all: 4 * each, open: map[string]int{}}
}

// admit counts a request, or rejects it before anything of it is read.
func (c *requestLimit) admit(w http.ResponseWriter, principal string) bool {
	status := c.count(principal)
	if status == http.StatusOK {
		return true
	}
	w.Header().Set("Retry-After", "1")
	if status == http.StatusTooManyRequests {
		http.Error(w, "you have too many open requests", status)
	} else {
		http.Error(w, "this proxy has too many open requests", status)
	}
	return false
}

func (c *requestLimit) count(principal string) (status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open[principal] >= c.each:
		return http.StatusTooManyRequests
	case c.total >= c.all:
		return http.StatusServiceUnavailable
	}
	c.total++
	c.open[principal]++
	return http.StatusOK
}

func (c *requestLimit) release(principal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.open[principal]--; c.open[principal] == 0 {
		delete(c.open, principal)
	}
}
