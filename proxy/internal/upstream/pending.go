package upstream

import (
	"context"
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
	cancelled []int64       // oldest first; those answered meanwhile are still here
	dropped   chan struct{} // closed when one does not wait any more; nil: nobody wants to know
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
	p.wake()
	delete(p.byID, x.id)
	if x.req.Token != 0 {
		delete(p.byToken, x.req.Token)
	}
}

// shut takes no more exchanges and calls end, as soon as only subscriptions
// wait. It waits for what is soon answered, as long as ctx; where anything else
// waits it does nothing and reports false: that may be work.
func (p *pending) shut(ctx context.Context, end func()) bool {
	for {
		p.mu.Lock()
		soon, work := p.waiting()
		if !soon && !work {
			p.closed = true
			end()
		}
		if soon && p.dropped == nil {
			p.dropped = make(chan struct{})
		}
		dropped := p.dropped
		p.mu.Unlock()
		if work || !soon {
			return !work
		}
		select {
		case <-dropped:
		case <-ctx.Done():
			return false
		}
	}
}

// waiting reports whether anything waits that is soon answered, and whether
// anything else does, but for subscriptions.
func (p *pending) waiting() (soon, work bool) {
	for _, x := range p.byID {
		switch x.req.Method {
		case "subscriptions/listen":
		case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "ping":
			soon = true
		default:
			work = true
		}
	}
	return soon, work
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

func (p *pending) wake() {
	if p.dropped != nil {
		close(p.dropped)
		p.dropped = nil
	}
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
	p.wake()
	clear(p.byToken)
	return left
}
