package upstream

import (
	"errors"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxCancelled bounds the cancelled exchanges that still wait for an answer,
// which most servers never send.
const maxCancelled = 4096

var errForgotten = errors.New("it was cancelled, and too many cancelled requests stay unanswered")

// pending is the exchanges that wait for a reply on one connection.
type pending struct {
	mu        sync.Mutex
	closed    bool
	byID      map[int64]*Exchange
	byToken   map[int64]*Exchange
	cancelled []int64 // oldest first; those answered meanwhile are still here
}

func newPending() *pending {
	return &pending{byID: map[int64]*Exchange{}, byToken: map[int64]*Exchange{}}
}

// add notes x, unless the connection is closed.
func (p *pending) add(x *Exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.byID[x.id] = x
	if x.req.Token != 0 {
		p.byToken[x.req.Token] = x
	}
	return true
}

// take removes the exchange with that id, or returns nil.
func (p *pending) take(id int64) *Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.byID[id]
	if x != nil {
		p.drop(x)
	}
	return x
}

func (p *pending) drop(x *Exchange) {
	delete(p.byID, x.id)
	if x.req.Token != 0 {
		delete(p.byToken, x.req.Token)
	}
}

// busy reports whether anything but a subscription waits.
func (p *pending) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.byID {
		if x.req.Method != "subscriptions/listen" {
			return true
		}
	}
	return false
}

// progressing returns the exchange that the params of a progress notification
// are about, or nil.
func (p *pending) progressing(params []byte) *Exchange {
	token, _ := rawjson.Member(params, "progressToken")
	n, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[n]
}

// cancel notes that x was cancelled. Where that makes too many, it returns
// the one that has waited longest, which is no longer waited for.
func (p *pending) cancel(x *Exchange) (forgotten *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[x.id] != x {
		return nil
	}
	p.cancelled = append(p.cancelled, x.id)
	for len(p.cancelled) > maxCancelled {
		oldest := p.byID[p.cancelled[0]]
		p.cancelled = p.cancelled[1:]
		if oldest != nil {
			p.drop(oldest)
			return oldest
		}
	}
	return nil
}

// close ends it and returns what was left.
func (p *pending) close() []*Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	left := make([]*Exchange, 0, len(p.byID))
	for _, x := range p.byID {
		left = append(left, x)
	}
	clear(p.byID)
	clear(p.byToken)
	return left
}
