package conn

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxCancelled is the maximum number of canceled exchanges that still wait for an answer. Most
// servers never answer canceled requests.
const maxCancelled = 4096

var ErrForgotten = errors.New("it was cancelled, and too many cancelled requests are unanswered")

// A Pending contains the exchanges that wait for a reply on one connection. It is safe for
// concurrent use.
type Pending struct {
	mu        sync.Mutex
	closed    bool
	byID      map[int64]*Exchange
	byToken   map[int64]*Exchange
	cancelled []int64       // IDs, oldest first; some of them may have been answered since
	dropped   chan struct{} // closed when an exchange is removed; nil if no one waits for that
}

func NewPending() *Pending {
	return &Pending{byID: map[int64]*Exchange{}, byToken: map[int64]*Exchange{}}
}

// Add adds x. It returns the number of exchanges that wait for a reply, or 0 if the connection is
// closed.
func (p *Pending) Add(x *Exchange) (waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0
	}
	p.byID[x.ID] = x
	if x.Req.Token != 0 {
		p.byToken[x.Req.Token] = x
	}
	return len(p.byID)
}

// Take removes and returns the exchange with the given ID. It returns nil if the ID is not pending.
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
	if p.dropped != nil {
		close(p.dropped)
		p.dropped = nil
	}
	delete(p.byID, x.ID)
	if x.Req.Token != 0 {
		delete(p.byToken, x.Req.Token)
	}
}

// Shut rejects further exchanges and calls the function end, unless requests other than
// subscriptions are waiting for replies. It first waits for requests that are answered quickly, but
// not after ctx has ended. If any other request is waiting, it may be doing work; in that case,
// Shut does nothing and returns false.
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

// waiting reports whether any waiting exchange will be answered soon, and whether any other waiting
// exchange may be doing work. Subscriptions count as neither.
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

// Progressing returns the exchange that a progress notification belongs to, or nil.
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

// Cancel records that x was canceled. If too many canceled exchanges are waiting, it removes the
// oldest and returns it.
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

// Close rejects further exchanges and returns those that were still waiting.
func (p *Pending) Close() []*Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	left := make([]*Exchange, 0, len(p.byID))
	for _, x := range p.byID {
		left = append(left, x)
		p.drop(x)
	}
	return left
}
