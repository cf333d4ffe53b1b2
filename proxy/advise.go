package proxy

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An advisor shows each client with a handshake just the tools that its nets
// would let pass, and tells it when these have changed. It works beside the
// calls, which only note that something may have changed. A nil advisor has
// nothing to do: every client is shown the same.
type advisor struct {
	proxy *Proxy
	wake  chan struct{}

	mu    sync.Mutex
	all   bool
	dirty map[*session]bool // whose list may have changed

	showing   sync.Mutex
	shown     map[*client]string  // the list that it was shown, or told of, last
	conflicts map[*session]string // that is on record
}

// A showing is what a client is to be shown.
type showing struct {
	view     *toolView
	hidden   map[string]bool
	print    string         // tells lists apart
	conflict *gate.Conflict // that is not on record yet; nil: there is none
}

func newAdvisor(p *Proxy) *advisor {
	return &advisor{
		proxy: p, wake: make(chan struct{}, 1), dirty: map[*session]bool{},
		shown: map[*client]string{}, conflicts: map[*session]string{},
	}
}

// touch notes that the nets of s may have moved.
func (a *advisor) touch(s *session) {
	switch {
	case a == nil:
	case a.proxy.admission.Generation().Shared:
		a.touchAll()
	case s.narrowed.Load():
		a.mu.Lock()
		a.dirty[s] = true
		a.mu.Unlock()
		a.rouse()
	}
}

// touchAll notes that what anybody is shown may have changed.
func (a *advisor) touchAll() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.all = true
	a.mu.Unlock()
	a.rouse()
}

func (a *advisor) rouse() {
	select {
	case a.wake <- struct{}{}:
	default: // it is to wake up already
	}
}

// list is the result of tools/list for a client with a handshake, which from
// now on is told of changes.
func (a *advisor) list(c *client) []byte {
	c.session.narrowed.Store(true) // before the nets are asked, so that no move is missed
	a.showing.Lock()
	s := a.look(c.session)
	if a.proxy.sessions.has(c) {
		a.shown[c] = s.print
	}
	a.showing.Unlock()
	a.report(c.session, s.conflict)
	return append(append(appendTools(nil, s.view.order, s.hidden), s.view.around...), '}')
}

// forget is for a client that is gone.
func (a *advisor) forget(c *client) {
	if a == nil {
		return
	}
	a.showing.Lock()
	defer a.showing.Unlock()
	delete(a.shown, c)
	delete(a.conflicts, c.session)
}

// look asks the nets what a client of s is to be shown. It wants the lock.
func (a *advisor) look(s *session) showing {
	view := a.proxy.catalogue.load()
	out := showing{view: view, hidden: map[string]bool{}}
	var advertised gate.Advertised
	if state, err := a.proxy.snapshot(s); err == nil { // else it has ended, and nobody is shown anything
		advertised = state.Policy().Advertise(state, view.calls, a.proxy.now())
	}
	for _, h := range advertised.Hidden {
		out.hidden[h.Tool] = true
	}
	var b strings.Builder
	for _, t := range view.order {
		if !out.hidden[t.exposed] {
			b.WriteString(t.exposed)
			b.WriteString(t.definition)
		}
	}
	out.print = wire.Digest([]byte(b.String()))
	key := ""
	if c := advertised.Conflict; c != nil {
		key = strings.Join(c.Nets, "\x00") + "\x00\x00" + strings.Join(c.Yields, "\x00")
	}
	if key != a.conflicts[s] {
		a.conflicts[s] = key
		out.conflict = advertised.Conflict
	}
	return out
}

// netNames are nets as records name them.
func netNames(nets []string) []audit.NetName {
	names := []audit.NetName{}
	for _, net := range nets {
		names = append(names, audit.NetName{Net: net})
	}
	return names
}

// run tells clients of changes while the proxy lives.
func (a *advisor) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		if due, any := a.due(); any {
			timer.Reset(due)
		}
		select {
		case <-a.wake:
		case <-timer.C:
			a.touchAll()
		case <-a.proxy.ctx.Done():
			return
		}
		a.renew()
	}
}

// soonest is how soon it looks again at nets that are behind their clocks.
const soonest = 10 * time.Millisecond

// due is when time moves a net of a session that is watched.
func (a *advisor) due() (in time.Duration, any bool) {
	if !a.proxy.admission.Generation().Timed {
		return 0, false
	}
	now := a.proxy.now()
	for _, s := range a.watched(true, nil) {
		state, err := a.proxy.snapshot(s)
		if err != nil { // it has ended
			continue
		}
		for _, n := range state.Policy().NetsOf(state) {
			if d := max(n.Next.Sub(now), soonest); !n.Next.IsZero() && !n.Shadow && (!any || d < in) {
				in, any = d, true
			}
		}
	}
	return in, any
}

// watched are the sessions whose clients were shown a list: all, or the dirty
// ones.
func (a *advisor) watched(all bool, dirty map[*session]bool) []*session {
	a.showing.Lock()
	defer a.showing.Unlock()
	found := map[*session]bool{}
	for c := range a.shown {
		if all || dirty[c.session] {
			found[c.session] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// renew looks at what may have changed, and tells those for whom it has.
func (a *advisor) renew() {
	a.mu.Lock()
	all, dirty := a.all, a.dirty
	a.all, a.dirty = false, map[*session]bool{}
	a.mu.Unlock()
	for _, s := range a.watched(all, dirty) {
		told, conflict := a.changed(s)
		a.report(s, conflict)
		for _, c := range told {
			c.tellOfTools()
		}
	}
}

// changed are the clients of s that are to be told of a change.
func (a *advisor) changed(s *session) (told []*client, conflict *gate.Conflict) {
	a.showing.Lock()
	defer a.showing.Unlock()
	now := a.look(s)
	for c, print := range a.shown {
		if c.session == s && print != now.print {
			a.shown[c] = now.print
			told = append(told, c)
		}
	}
	return told, now.conflict
}

// tellOfTools tells a client with a handshake that its list has changed.
func (c *client) tellOfTools() {
	if c.out != nil && c.ready() {
		c.out.Send(wire.AppendNotification(nil, listChanged, nil))
	}
}

// report puts a conflict on record.
func (a *advisor) report(s *session, c *gate.Conflict) {
	if c == nil {
		return
	}
	p := a.proxy
	if len(c.Yields) == 0 {
		p.log.Warn("required nets leave no tool that all of them let pass: none that they block is listed", "session", s.id, "nets", c.Nets)
	} else {
		p.log.Warn("the nets leave no tool that all of them let pass: advisory ones yield", "session", s.id, "nets", c.Nets, "yields", c.Yields)
	}
	entry := audit.Conflict{Time: p.now(), Event: "conflict", Session: s.id, Winner: c.Winner, Nets: netNames(c.Nets), Yields: netNames(c.Yields)}
	if err := p.admission.Append(p.ctx, entry); err != nil {
		p.log.Error("recording a conflict", "error", err)
	}
}
