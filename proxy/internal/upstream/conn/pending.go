package conn

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

var ErrForgotten = errors.New("it was cancelled, and too many cancelled requests stay unanswered")

// Pending is the exchanges that wait for a reply on one connection.
type Pending struct {
	mu        sync.Mutex
	closed    bool
	byID      map[int64]*Exchange
	byToken   map[int64]*Exchange
	cancelled []int64       // oldest first; those answered meanwhile are still here
	dropped   chan struct{} // closed when one does not wait any more; nil: nobody wants to know
}

func NewPending() *Pending {
	return &Pending{byID: map[int64]*Exchange{}, byToken: map[int64]*Exchange{}}
}

// Add notes x, unless the connection is closed.
func (p *Pending) Add(x *Exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.byID[x.ID] = x
	if x.Req.Token != 0 {
		p.byToken[x.Req.Token] = x
	}
	return true
}

// Len returns how many exchanges wait for a reply.
func (p *Pending) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byID)
}

// Take removes the exchange with that id, or returns nil.
func (p *Pending) Take(id int64) *Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.byID[id]
	if x != nil {
		p.drop(x)
	}
	return x
}

func (p *Pending) drop(x *Exchange) {
	p.wake()
	delete(p.byID, x.ID)
	if x.Req.Token != 0 {
		delete(p.byToken, x.Req.Token)
	}
}

// Shut takes no more exchanges and calls end, as soon as only subscriptions
// wait. It waits for what is soon answered, as long as ctx; where anything else
// waits it does nothing and reports false: that may be work.
func (p *Pending) Shut(ctx context.Context, end func()) bool {
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
func (p *Pending) waiting() (soon, work bool) {
	for _, x := range p.byID {
		switch x.Req.Method {
		case "subscriptions/listen":
		case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "ping":
			soon = true
		default:
			work = true
		}
	}
	return soon, work
}

// Progressing returns the exchange that the params of a progress notification
// are about, or nil.
func (p *Pending) Progressing(params []byte) *Exchange {
	token, _ := rawjson.Member(params, "progressToken")
	n, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[n]
}

// Cancel notes that x was cancelled. Where that makes too many, it returns
// the one that has waited longest, which is no longer waited for.
func (p *Pending) Cancel(x *Exchange) (forgotten *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[x.ID] != x {
		return nil
	}
	p.cancelled = append(p.cancelled, x.ID)
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

func (p *Pending) wake() {
	if p.dropped != nil {
		close(p.dropped)
		p.dropped = nil
	}
}

// Close ends it and returns what was left.
func (p *Pending) Close() []*Exchange {
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
