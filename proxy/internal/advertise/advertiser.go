// Package advertise answers tools/list. It leaves out the tools that the Petri nets of the client's
// session would block now, regardless of the arguments. It notifies the client when the list
// changes.
package advertise

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Options holds the parts of the proxy used by an [Advertiser].
type Options struct {
	Life      *lifetime.Lifetime
	Sessions  *session.Sessions
	Admission *admission.Admission
	Pool      *pool.Pool
}

// An Advertiser answers tools/list for clients that have sent initialize. It leaves out the tools
// that the nets of the client's session would block now, regardless of the arguments, and notifies
// the client of changes to the list. A separate goroutine computes the changes, so that a call only
// needs to record that a list may have changed. Touch, TouchAll and Forget do nothing on a nil
// Advertiser. mu guards the fields all and dirty. listMu guards the fields shown and conflicts.
type Advertiser struct {
	deps *Options
	wake wait.Signal

	mu    sync.Mutex
	all   bool                      // whether all lists may have changed
	dirty map[*session.Session]bool // sessions whose lists may have changed

	listMu    sync.Mutex
	shown     map[*session.Client]string  // digest of the list that the client last received or was notified of
	conflicts map[*session.Session]string // latest recorded conflict of each session: the nets that together block all of its tools
}

// A toolListing is the tool list for all clients of a session.
type toolListing struct {
	view     *pool.ToolView
	hidden   map[string]bool
	digest   string         // digest of the list
	conflict *gate.Conflict // conflict between nets that has not been recorded yet, or nil
}

// New returns an Advertiser that sends no notifications until [Advertiser.Run] is called.
func New(p *Options) *Advertiser {
	return &Advertiser{
		deps: p, wake: wait.NewSignal(), dirty: map[*session.Session]bool{},
		shown: map[*session.Client]string{}, conflicts: map[*session.Session]string{},
	}
}

// Touch records that the markings of the session's nets may have changed.
func (a *Advertiser) Touch(s *session.Session) {
	switch {
	case a == nil:
	case a.deps.Admission.Generation().Shared:
		a.TouchAll()
	case s.Narrowed.Load():
		a.mu.Lock()
		a.dirty[s] = true
		a.mu.Unlock()
		a.wake.Send()
	}
}

// TouchAll records that all clients' lists may have changed.
func (a *Advertiser) TouchAll() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.all = true
	a.mu.Unlock()
	a.wake.Send()
}

// List returns the result of tools/list for a client that has sent initialize. From then on, the
// client is notified of changes.
func (a *Advertiser) List(c *session.Client) []byte {
	c.State.Narrowed.Store(true) // set before the nets are read, so that no later change is missed
	a.listMu.Lock()
	s := a.listFor(c.State)
	if a.deps.Sessions.Has(c) {
		a.shown[c] = s.digest
	}
	a.listMu.Unlock()
	a.report(c.State, s.conflict)
	return append(append(pool.AppendTools(nil, s.view.Order, s.hidden), s.view.Around...), '}')
}

// Forget drops the data about a client that has disconnected.
func (a *Advertiser) Forget(c *session.Client) {
	if a == nil {
		return
	}
	a.listMu.Lock()
	defer a.listMu.Unlock()
	delete(a.shown, c)
	delete(a.conflicts, c.State)
}

// listFor computes the list for the session's clients. The caller must hold listMu.
func (a *Advertiser) listFor(s *session.Session) toolListing {
	view := a.deps.Pool.Catalogue.Load()
	out := toolListing{view: view, hidden: map[string]bool{}}
	var advertised gate.Advertised
	if state, err := a.deps.Pool.Snapshot(s); err == nil { // an error means that the session has ended, so no client will see the list
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

// netNames converts the names of nets to the form used in audit records.
func netNames(nets []string) []audit.NetName {
	names := []audit.NetName{}
	for _, net := range nets {
		names = append(names, audit.NetName{Net: net})
	}
	return names
}

// Run notifies clients of changes until the proxy shuts down.
func (a *Advertiser) Run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		if due, ok := a.untilNextMove(); ok {
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

// minRecheck is the minimum delay before the nets are checked for changes again. Without it, an
// overdue change could cause a busy loop.
const minRecheck = 10 * time.Millisecond

// untilNextMove returns the time until a net's marking next changes merely because time passes. It
// considers only sessions whose clients have requested their tool lists. It ignores nets in shadow
// mode, because they hide no tools. The result is at least minRecheck. ok is false if no such
// change is expected.
func (a *Advertiser) untilNextMove() (in time.Duration, ok bool) {
	if !a.deps.Admission.Generation().Timed {
		return 0, false
	}
	now := a.deps.Life.Now()
	for _, s := range a.listedSessions(true, nil) {
		state, err := a.deps.Pool.Snapshot(s)
		if err != nil { // the session has ended
			continue
		}
		for _, n := range state.Policy().NetsOf(state) {
			if d := max(n.Next.Sub(now), minRecheck); !n.Next.IsZero() && !n.Shadow && (!ok || d < in) {
				in, ok = d, true
			}
		}
	}
	return in, ok
}

// listedSessions returns the sessions with clients that have requested their tool lists. If all is
// false, it returns only the dirty sessions, that is, those whose lists may have changed.
func (a *Advertiser) listedSessions(all bool, dirty map[*session.Session]bool) []*session.Session {
	a.listMu.Lock()
	defer a.listMu.Unlock()
	found := map[*session.Session]bool{}
	for c := range a.shown {
		if all || dirty[c.State] {
			found[c.State] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// notifyChanged notifies the clients whose lists have changed.
func (a *Advertiser) notifyChanged() {
	a.mu.Lock()
	all, dirty := a.all, a.dirty
	a.all, a.dirty = false, map[*session.Session]bool{}
	a.mu.Unlock()
	for _, s := range a.listedSessions(all, dirty) {
		told, conflict := a.changed(s)
		a.report(s, conflict)
		for _, c := range told {
			if c.Out != nil && c.Ready.Load() {
				c.Out.Send(wire.AppendNotification(nil, spec.ListChanged, nil))
			}
		}
	}
}

// changed returns the session's clients whose lists have changed. It also stores the digest of each
// such client's new list.
func (a *Advertiser) changed(s *session.Session) (told []*session.Client, conflict *gate.Conflict) {
	a.listMu.Lock()
	defer a.listMu.Unlock()
	now := a.listFor(s)
	for c, print := range a.shown {
		if c.State == s && print != now.digest {
			a.shown[c] = now.digest
			told = append(told, c)
		}
	}
	return told, now.conflict
}

// report writes a conflict between nets to the log and to the audit log. It does nothing if c is
// nil.
func (a *Advertiser) report(s *session.Session, c *gate.Conflict) {
	if c == nil {
		return
	}
	p := a.deps
	if len(c.Yields) == 0 {
		p.Life.Log.Warn("the required nets together block every tool: petrigate lists none of the blocked ones", "session", s.ID, "nets", c.Nets)
	} else {
		p.Life.Log.Warn("the nets together block every tool: the advisory ones yield", "session", s.ID, "nets", c.Nets, "yields", c.Yields)
	}
	entry := audit.Conflict{Time: p.Life.Now(), Event: "conflict", Session: s.ID, Winner: c.Winner, Nets: netNames(c.Nets), Yields: netNames(c.Yields)}
	if err := p.Admission.Append(p.Life.Ctx, entry); err != nil {
		p.Life.Log.Error("recording a conflict", "error", err)
	}
}
