package door

import (
	"cmp"
	"net/http"
	"sync"
)

// defaultRequests is how many requests one principal may have open, streams
// and calls that wait for a person among them; all may have four times that.
const defaultRequests = 5000

// A crowd bounds the requests over HTTP that are open at a time. One principal
// who has too many leaves room for the others.
type crowd struct {
	each, all int

	mu    sync.Mutex
	total int
	open  map[string]int // by principal; none with 0
}

func newCrowd(each int) *crowd {
	each = cmp.Or(each, defaultRequests)
	return &crowd{each: each, all: 4 * each, open: map[string]int{}}
}

// enter counts a request, or refuses it at once: nothing of it is read.
func (c *crowd) enter(w http.ResponseWriter, principal string) bool {
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

func (c *crowd) count(principal string) (status int) {
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

func (c *crowd) leave(principal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.open[principal]--; c.open[principal] == 0 {
		delete(c.open, principal)
	}
}
