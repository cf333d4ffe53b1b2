package advertise

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Deps says what an Advertiser needs of the rest of the proxy.
type Options struct {
	Life      *lifetime.Lifetime
	Sessions  *session.Sessions
	Admission *admission.Admission
	Pool      *pool.Pool
}

// An advisor shows each client with a handshake just the tools that its nets
// would let pass, and tells it when these have changed. It works beside the
// calls, which only note that something may have changed. A nil advisor has
// nothing to do: every client is shown the same.
type Advertiser struct {
	deps *Options
	wake chan struct{}

	mu    sync.Mutex
	all   bool
	dirty map[*session.Session]bool // whose list may have changed

	listMu    sync.Mutex
	shown     map[*session.Client]string  // the list that it was shown, or told of, last
	conflicts map[*session.Session]string // that is on record
}

// A showing is what a client is to be shown.
type toolListing struct {
	view     *pool.ToolView
	hidden   map[string]bool
	digest   string         // tells lists apart
	conflict *gate.Conflict // that is not on record yet; nil: there is none
}

func New(p *Options) *Advertiser {
	return &Advertiser{
		deps: p, wake: make(chan struct{}, 1), dirty: map[*session.Session]bool{},
		shown: map[*session.Client]string{}, conflicts: map[*session.Session]string{},
	}
}

// Touch notes that the nets of s may have moved.
func (a *Advertiser) Touch(s *session.Session) {
	switch {
	case a == nil:
	case a.deps.Admission.Generation().Shared:
		a.TouchAll()
	case s.Narrowed.Load():
		a.mu.Lock()
		a.dirty[s] = true
		a.mu.Unlock()
		a.signal()
	}
}

// TouchAll notes that what anybody is shown may have changed.
func (a *Advertiser) TouchAll() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.all = true
	a.mu.Unlock()
	a.signal()
}

func (a *Advertiser) signal() {
	select {
	case a.wake <- struct{}{}:
	default: // it is to wake up already
	}
}

// List is the result of tools/list for a client with a handshake, which from
// now on is told of changes.
func (a *Advertiser) List(c *session.Client) []byte {
	c.Session.Narrowed.Store(true) // before the nets are asked, so that no move is missed
	a.listMu.Lock()
	s := a.listFor(c.Session)
	if a.deps.Sessions.Has(c) {
		a.shown[c] = s.digest
	}
	a.listMu.Unlock()
	a.report(c.Session, s.conflict)
	return append(append(pool.AppendTools(nil, s.view.Order, s.hidden), s.view.Around...), '}')
}

// Forget is for a client that is gone.
func (a *Advertiser) Forget(c *session.Client) {
	if a == nil {
		return
	}
	a.listMu.Lock()
	defer a.listMu.Unlock()
	delete(a.shown, c)
	delete(a.conflicts, c.Session)
}

// look asks the nets what a client of s is to be shown. It wants the lock.
func (a *Advertiser) listFor(s *session.Session) toolListing {
	view := a.deps.Pool.Catalogue.Load()
	out := toolListing{view: view, hidden: map[string]bool{}}
	var advertised gate.Advertised
	if state, err := a.deps.Pool.Snapshot(s); err == nil { // else it has ended, and nobody is shown anything
		advertised = state.Policy().Advertise(state, view.Calls, a.deps.Life.Now())
	}
	for _, h := range advertised.Hidden {
		out.hidden[h.Tool] = true
	}
	var b strings.Builder
	for _, t := range view.Order {
		if !out.hidden[t.Exposed] {
			b.WriteString(t.Exposed)
			b.WriteString(t.Definition)
		}
	}
	out.digest = wire.Digest([]byte(b.String()))
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

// Run tells clients of changes while the proxy lives.
func (a *Advertiser) Run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		if due, any := a.nextMove(); any {
			timer.Reset(due)
		}
		select {
		case <-a.wake:
		case <-timer.C:
			a.TouchAll()
		case <-a.deps.Life.Ctx.Done():
			return
		}
		a.notifyChanged()
	}
}

// soonest is how soon it looks again at nets that are behind their clocks.
const minRecheck = 10 * time.Millisecond

// due is when time moves a net of a session that is watched.
func (a *Advertiser) nextMove() (in time.Duration, any bool) {
	if !a.deps.Admission.Generation().Timed {
		return 0, false
	}
	now := a.deps.Life.Now()
	for _, s := range a.listedSessions(true, nil) {
		state, err := a.deps.Pool.Snapshot(s)
		if err != nil { // it has ended
			continue
		}
		for _, n := range state.Policy().NetsOf(state) {
			if d := max(n.Next.Sub(now), minRecheck); !n.Next.IsZero() && !n.Shadow && (!any || d < in) {
				in, any = d, true
			}
		}
	}
	return in, any
}

// watched are the sessions whose clients were shown a list: all, or the dirty
// ones.
func (a *Advertiser) listedSessions(all bool, dirty map[*session.Session]bool) []*session.Session {
	a.listMu.Lock()
	defer a.listMu.Unlock()
	found := map[*session.Session]bool{}
	for c := range a.shown {
		if all || dirty[c.Session] {
			found[c.Session] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// renew looks at what may have changed, and tells those for whom it has.
func (a *Advertiser) notifyChanged() {
	a.mu.Lock()
	all, dirty := a.all, a.dirty
	a.all, a.dirty = false, map[*session.Session]bool{}
	a.mu.Unlock()
	for _, s := range a.listedSessions(all, dirty) {
		told, conflict := a.changed(s)
		a.report(s, conflict)
		for _, c := range told {
			sendListChanged(c)
		}
	}
}

// changed are the clients of s that are to be told of a change.
func (a *Advertiser) changed(s *session.Session) (told []*session.Client, conflict *gate.Conflict) {
	a.listMu.Lock()
	defer a.listMu.Unlock()
	now := a.listFor(s)
	for c, print := range a.shown {
		if c.Session == s && print != now.digest {
			a.shown[c] = now.digest
			told = append(told, c)
		}
	}
	return told, now.conflict
}

// tellOfTools tells a client with a handshake that its list has changed.
func sendListChanged(c *session.Client) {
	if c.Out != nil && c.Ready() {
		c.Out.Send(wire.AppendNotification(nil, spec.ListChanged, nil))
	}
}

// report puts a conflict on record.
func (a *Advertiser) report(s *session.Session, c *gate.Conflict) {
	if c == nil {
		return
	}
	p := a.deps
	if len(c.Yields) == 0 {
		p.Life.Log.Warn("required nets leave no tool that all of them let pass: none that they block is listed", "session", s.ID, "nets", c.Nets)
	} else {
		p.Life.Log.Warn("the nets leave no tool that all of them let pass: advisory ones yield", "session", s.ID, "nets", c.Nets, "yields", c.Yields)
	}
	entry := audit.Conflict{Time: p.Life.Now(), Event: "conflict", Session: s.ID, Winner: c.Winner, Nets: netNames(c.Nets), Yields: netNames(c.Yields)}
	if err := p.Admission.Append(p.Life.Ctx, entry); err != nil {
		p.Life.Log.Error("recording a conflict", "error", err)
	}
}
