package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Methods for operators, which the command line calls through the control socket. Clients cannot
// reach these methods.

// Status returns the current state of the proxy.
func (p *Proxy) Status() operator.Status {
	s := p.Overview()
	s.State = p.stateInfo()
	s.Stopped, _ = p.stops(p.life.Ctx) // if the database is unavailable, Stopped contains only the stops known to this process, and State contains the error
	return s
}

// Overview is like [Proxy.Status], but leaves State and Stopped empty. It never waits for a
// database.
func (p *Proxy) Overview() operator.Status {
	view := p.pool.Catalogue.Load()
	clients, sessions := p.sessions.Count()
	s := operator.Status{
		Version: p.options.Version, Pid: os.Getpid(), Started: p.started, Policy: p.admission.Generation().Fingerprint,
		Clients: clients, Sessions: sessions, Tools: len(view.Order), LeftOut: append([]string{}, view.Problems...),
		Warnings: append([]string{}, view.Warnings...), Crowded: view.Crowded, Shadow: inShadow(p.admission.Generation()), Goroutines: runtime.NumGoroutine(),
		Upstreams: []operator.UpstreamStatus{}, Stopped: []operator.StopInfo{}, PIN: p.pin != nil,
	}
	for _, u := range p.pool.Servers {
		state := u.State()
		one := operator.UpstreamStatus{Name: u.Config.Name, State: state.Phase.String(), Protocol: state.ProtocolVersion, Pid: state.Pid, Since: state.Since}
		one.Sessions = len(u.Connections()) - 1
		if state.Err != nil {
			one.Error, one.Said = state.Err.Error(), u.Output()
		} else if err := u.Listing.Trouble(); err != nil {
			one.Error = err.Error()
		}
		s.Upstreams = append(s.Upstreams, one)
	}
	s.Waiting = p.approvals.Waiting()
	return s
}

// Ready returns an error if the proxy knows that calls cannot be recorded now, and nil otherwise.
func (p *Proxy) Ready() error {
	err := p.admission.Writable()
	if err == nil && p.durable != nil {
		err = p.durable.Clock.Behind(p.options.Now())
	}
	return err
}

// AwaitTools waits until every upstream has listed its tools or is known to be down. It waits no
// longer than Options.Startup.
func (p *Proxy) AwaitTools(ctx context.Context) {
	p.pool.AwaitList(ctx)
}

// ResetSession resets all nets of a session to their initial marking.
func (p *Proxy) ResetSession(id string, a operator.Actor) error {
	return p.changeSession(id, a, "reset the session", func(k admission.Key) error { return p.admission.Reset(p.life.Ctx, k, a.Name) })
}

// SettleCall sets the outcome of a call whose outcome is unknown.
func (p *Proxy) SettleCall(id string, number uint64, success bool, a operator.Actor) error {
	return p.changeSession(id, a, "settle a call", func(k admission.Key) error { return p.admission.SettleOpen(p.life.Ctx, k, number, success, a.Name) })
}

// changeSession carries out an operator's order. It checks the PIN, and then calls f to change the
// state of the session.
func (p *Proxy) changeSession(id string, a operator.Actor, order string, f func(admission.Key) error) error {
	s, _, err := p.find(id)
	if err != nil {
		return err
	}
	if err := p.checkOrderPIN(a, s.ID, order); err != nil {
		return err
	}
	if err := f(s.Key()); err != nil {
		return err
	}
	p.advertiser.Touch(s)
	return nil
}

// Nets lists the nets of the policy, in policy order.
func (p *Proxy) Nets() []operator.PolicyNet {
	g := p.admission.Generation()
	scopes := map[gate.Scope]string{gate.ScopeSession: "session", gate.ScopePrincipal: "principal", gate.ScopeGlobal: "global"}
	list := []operator.PolicyNet{}
	for _, n := range g.Policy.Nets() {
		list = append(list, operator.PolicyNet{Name: n.Name, Rule: p.where(n.Rule), Shadow: n.Shadow, Scope: scopes[n.Scope], Active: g.IsActive(n.Name)})
	}
	return list
}

// SwitchNet activates or deactivates a net in all sessions, including future ones. An inactive net
// keeps its state, and continues from it when it is activated again. If the change cannot be
// recorded, it is not made. If approvals require a PIN, SwitchNet refuses to deactivate a net,
// because the net might be the one that requires approvals. It also requires the PIN for activating
// a net, because with "default: deny", a net can allow additional calls.
func (p *Proxy) SwitchNet(name string, on bool, a operator.Actor) error {
	if !on && p.pin != nil {
		return errors.New("approvals require a PIN (approval.pin), so no net can be switched off while the proxy runs; remove its rule from the configuration")
	}
	if err := p.checkOrderPIN(a, "", "switch a net on"); err != nil {
		return err
	}
	if err := p.admission.SwitchNet(p.life.Ctx, name, on, a.Name); err != nil {
		return err
	}
	p.relist()
	return nil
}

// maxStopReason is the maximum length, in bytes, of the reason for a stop.
const maxStopReason = 1 << 10

// Stop makes the proxy refuse all new calls or, if session is not empty, those of one session.
// In-flight calls continue, unless they must be sent to the upstream again. List requests are still
// answered. Stop requires no PIN, because, like a denial, it lets no call pass.
func (p *Proxy) Stop(session, actor, reason string) (operator.Stopping, error) {
	if len(reason) > maxStopReason {
		return operator.Stopping{}, fmt.Errorf("the reason has %d bytes; the limit is %d", len(reason), maxStopReason)
	}
	return p.setStopped(true, admission.Stop{Session: session, Actor: actor, Reason: reason})
}

// StartAgain ends the stop of one session or, if session is empty, of all calls.
func (p *Proxy) StartAgain(session string, a operator.Actor) (operator.Stopping, error) {
	if err := p.checkOrderPIN(a, "", "let stopped calls pass again"); err != nil {
		return operator.Stopping{}, err
	}
	return p.setStopped(false, admission.Stop{Session: session, Actor: a.Name})
}

func (p *Proxy) setStopped(on bool, s admission.Stop) (operator.Stopping, error) {
	if s.Session != "" && on {
		// If the database is unavailable, stop the session without knowing whether it exists.
		if _, err := p.admission.Sessions.Find(p.life.Ctx, s.Session); errors.Is(err, admission.ErrNoSession) {
			return operator.Stopping{}, fmt.Errorf("there is no session %q", s.Session)
		}
	}
	done, err := p.admission.SetStopped(p.life.Ctx, on, s)
	if err != nil {
		return operator.Stopping{}, err
	}
	return operator.Stopping{Already: done.Already, Shared: p.sharesState(), Left: stopInfos(done.Left), Alone: unwrittenNote(on, p.sharesState(), done.Alone)}, nil
}

// unwrittenNote explains to an operator why an order could not be recorded or written to the
// database, and names the consequences. It returns "" if err is nil.
func unwrittenNote(on, shared bool, err error) string {
	switch {
	case err == nil:
		return ""
	case !shared:
		return fmt.Sprintf("it is not recorded: %v", err)
	case on:
		return fmt.Sprintf("could not write it to the database: %v. This proxy writes it when the database is back, and forgets it if the proxy exits first", err)
	}
	return fmt.Sprintf("the database did not respond: %v. If the stop is in the database too, calls stay refused until you run petrigate start again", err)
}

// stops lists the operators' stops that are in effect. If it also returns an error, the list
// contains only the stops known to this process.
func (p *Proxy) stops(ctx context.Context) ([]operator.StopInfo, error) {
	stops, err := p.admission.Stops(ctx)
	return stopInfos(stops), err
}

func stopInfos(stops []admission.Stop) []operator.StopInfo {
	list := []operator.StopInfo{}
	for _, s := range stops {
		list = append(list, operator.StopInfo{Session: s.Session, Actor: text.Escape(cmp.Or(s.Actor, "nobody known")), Reason: text.Escape(s.Reason), Since: s.Time, Alone: s.Alone})
	}
	return list
}

// A Replacement is a new policy for a running proxy, together with the options that depend on the
// policy. [Options] describes the fields that both types have.
type Replacement struct {
	Policy     *gate.Policy
	Active     []string
	Advertise  string // tools to list: "all" or "possible"; "enabled" cannot be changed at run time
	Remedy     func(*gate.State, gate.Call, *gate.Refusal) Remedy
	Impossible func(tools []gate.Call, active []string) []string
	Pipefail   bool // whether hooks may make scripts run under "set -o pipefail"; see [Options]
	Files      []File

	Reset []string // names of nets to reset to their initial marking, even if their current marking would remain valid
	Try   bool     // whether to report what would happen to the nets without replacing the policy
}

// ErrHeld is returned by [Proxy.Reload] if the new policy would discard the state of a net. This
// happens if the policy changes a net that was not compiled from a rule, unless the net is in its
// initial marking and has no calls in flight.
var ErrHeld = admission.ErrHeld

// Reload replaces the policy or, if r.Try is true, only reports the effect on each net. Unchanged
// nets keep their state, and a limit keeps its usage if only its maximum has changed; see
// [gate.Policy.Adopt]. Nets listed in r.Reset start in their initial state. The result of an
// in-flight call is evaluated by the policy that admitted the call. If Reload returns an error, the
// policy is unchanged.
func (p *Proxy) Reload(ctx context.Context, r Replacement) ([]operator.NetFate, error) {
	before := p.admission.Generation()
	if err := checkKnownNets(r.Policy, r.Reset); err != nil {
		return nil, err
	}
	report, err := p.admission.Swap(ctx, r.generation(), admission.SwapOptions{Reset: r.Reset, Try: r.Try})
	if err != nil && !errors.Is(err, ErrHeld) {
		return nil, err
	}
	if err == nil && !r.Try {
		p.relist()
	}
	return fatesOf(before.Policy, r, report), err
}

// relist updates the tool lists after a change to the nets or to the accepted tool definitions.
func (p *parts) relist() {
	p.advertiser.TouchAll()
	if p.pool.Catalogue.Relist() {
		p.relay.Announce(spec.ListChanged)
	}
}

// generation returns the new policy together with the settings that depend on it.
func (r Replacement) generation() *admission.Generation {
	g := admission.NewGeneration(r.Policy, r.Active)
	g.Advertise, g.PromptsByList = r.Advertise, relay.NamesPrompts(r.Policy)
	g.Remedy, g.Impossible, g.Pipefail = r.Remedy, r.Impossible, r.Pipefail
	for _, f := range r.Files {
		g.Files = append(g.Files, audit.File(f))
	}
	return g
}

// checkKnownNets returns an error if any of the names does not belong to a net.
func checkKnownNets(p *gate.Policy, names []string) error {
	var all []string
	for _, n := range p.Nets() {
		all = append(all, n.Name)
	}
	for _, name := range names {
		switch near := text.Nearest(name, all); {
		case slices.Contains(all, name):
		case near != "":
			return fmt.Errorf("unknown net %q; did you mean %q?", name, near)
		default:
			return fmt.Errorf("unknown net %q; the nets are: %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// maxShownHeld is the maximum number of sessions listed for each net that prevents a reload.
const maxShownHeld = 10

// fatesOf summarizes the effect of a reload on each net: first on the nets of the new policy, then
// on those that the reload removes.
func fatesOf(before *gate.Policy, r Replacement, report admission.Report) []operator.NetFate {
	_, plain := r.Policy.Adopt(before.NewState(nil), gate.AdoptOptions{Reset: r.Reset})
	fates, at := make([]operator.NetFate, len(plain)), map[string]int{}
	for i, k := range plain {
		fates[i] = operator.NetFate{Net: k.Net, Fate: k.Fate.String(), From: k.From}
		at[k.Net] = i
	}
	for _, s := range report.Sessions {
		for _, k := range s.Nets {
			f := &fates[at[k.Net]]
			if k.Lost {
				f.Lost++
			}
			if k.Fate == gate.Held {
				if f.Fate = k.Fate.String(); len(f.Where) < maxShownHeld {
					f.Where = append(f.Where, describeSessions(s.Key))
				}
			}
		}
	}
	return fates
}

// describeSessions describes, for an operator, the sessions that share the state with key k: one
// session, all sessions of a principal, or all sessions.
func describeSessions(k admission.Key) string {
	switch {
	case k.Session != "":
		return "session " + k.Session
	case k.Principal != "":
		return "all sessions of " + text.Escape(k.Principal)
	}
	return "all sessions"
}
