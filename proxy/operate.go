package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"sort"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// This file is what an operator sees and does. None of it can be reached by a
// client: the control socket of the command line calls it.

// Status is a summary of a running proxy.
type Status struct {
	Version string    `json:"version"`
	Pid     int       `json:"pid"`
	Started time.Time `json:"started"`
	Policy  string    `json:"policy"`           // fingerprint
	Config  string    `json:"config,omitempty"` // file; what starts the proxy says it
	Listen  string    `json:"listen,omitempty"` // stdio, or an address; what starts the proxy says it

	Reloaded      *time.Time `json:"reloaded,omitempty"`      // when the configuration was read again last; what starts the proxy says it
	ReloadProblem string     `json:"reloadProblem,omitempty"` // why what was read then is not in force; empty: it is

	Shadow     bool             `json:"shadow"`        // no net enforces: nothing is refused
	PIN        bool             `json:"pin,omitempty"` // orders that could let a call pass need the PIN of approvals
	Upstreams  []UpstreamStatus `json:"upstreams"`
	Clients    int              `json:"clients"`
	Sessions   int              `json:"sessions"`
	Tools      int              `json:"tools"`
	Waiting    int              `json:"waiting"` // approvals
	State      StateInfo        `json:"state"`
	Audit      *AuditInfo       `json:"audit,omitempty"`   // nil: there is no audit file; what starts the proxy says it
	Webhook    *WebhookInfo     `json:"webhook,omitempty"` // nil: there is none; what starts the proxy says it
	Pinning    string           `json:"pinning,omitempty"` // warn, enforce or off; what starts the proxy says it
	Bases      []BaseInfo       `json:"bases,omitempty"`   // what starts the proxy says them
	Stopped    []StopInfo       `json:"stopped"`
	Goroutines int              `json:"goroutines"`
	LeftOut    []string         `json:"leftOut"`  // tools that are not exposed, and why
	Warnings   []string         `json:"warnings"` // of the tools, and of what the configuration says of them
	Crowded    string           `json:"-"`        // the one of them that there are many tools; empty: there are not
}

// UpstreamStatus is one upstream of a [Status].
type UpstreamStatus struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Protocol string    `json:"protocol,omitempty"`
	Pid      int       `json:"pid,omitempty"`
	Since    time.Time `json:"since"`
	Error    string    `json:"error,omitempty"`
	Said     []string  `json:"said,omitempty"`     // by its process, lately, where it is not up
	Sessions int       `json:"sessions,omitempty"` // that have it for themselves
}

// BaseInfo is a base policy that the policy in force stands on, in a [Status].
type BaseInfo struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Key     string `json:"key,omitempty"`  // the id of the one that has signed it
	From    string `json:"from"`           // its file or address
	Copy    string `json:"copy,omitempty"` // why a copy was taken and not what is at its address
}

// WebhookInfo is the system of an operator that is told of approvals, in a [Status].
type WebhookInfo struct {
	Host    string     `json:"host"`            // that questions are posted to
	Answers string     `json:"answers"`         // the URL at which answers come in
	Open    int        `json:"open"`            // questions that it is to know of
	Error   string     `json:"error,omitempty"` // why the last one could not be posted; empty: it could
	Since   *time.Time `json:"since,omitempty"` // with Error: when that began
}

// AuditInfo is the audit file of a [Status].
type AuditInfo struct {
	File    string     `json:"file"`
	Records uint64     `json:"records"`           // number of the last one, in this file or in those before it
	Error   string     `json:"error,omitempty"`   // why the last ones could not be written, so that calls are refused
	Aside   int        `json:"aside"`             // files that were put aside
	Rotated *time.Time `json:"rotated,omitempty"` // when the last of them was
}

// Status describes the proxy now.
func (p *Proxy) Status() Status {
	s := p.Overview()
	s.State = p.stateInfo()
	s.Stopped, _ = p.stops(p.life.Ctx) // what this process knows, where the database is away: see State
	return s
}

// Overview is [Proxy.Status] without State and Stopped. It never waits for a database.
func (p *Proxy) Overview() Status {
	view := p.pool.Catalogue.Load()
	clients, sessions := p.sessions.Count()
	s := Status{
		Version: p.options.Version, Pid: os.Getpid(), Started: p.started, Policy: p.admission.Generation().Fingerprint,
		Clients: clients, Sessions: sessions, Tools: len(view.Order), LeftOut: append([]string{}, view.Problems...),
		Warnings: append([]string{}, view.Warnings...), Crowded: view.Crowded, Shadow: inShadow(p.admission.Generation()), Goroutines: runtime.NumGoroutine(),
		Upstreams: []UpstreamStatus{}, Stopped: []StopInfo{}, PIN: p.pin != nil,
	}
	for _, u := range p.pool.Servers {
		state := u.State()
		one := UpstreamStatus{Name: u.Config.Name, State: state.Phase.String(), Protocol: state.ProtocolVersion, Pid: state.Pid, Since: state.Since}
		one.Sessions = len(u.Connections()) - 1
		if state.Err != nil {
			one.Error, one.Said = state.Err.Error(), u.Said()
		} else if err := u.Listing.Trouble(); err != nil {
			one.Error = err.Error()
		}
		s.Upstreams = append(s.Upstreams, one)
	}
	s.Waiting = p.approvals.Waiting()
	return s
}

// Ready reports why no call could be put on record now, as far as is known; nil: it could.
func (p *Proxy) Ready() error {
	err := p.admission.Writable()
	if err == nil && p.durable != nil {
		err = p.durable.Clock.Behind(p.options.Now())
	}
	return err
}

// AwaitTools waits until every upstream was listed or is known to be down, at
// most for the time of Options.Startup.
func (p *Proxy) AwaitTools(ctx context.Context) {
	p.pool.AwaitList(ctx)
}

// A SessionInfo is the state of one session.
type SessionInfo struct {
	ID        string     `json:"id"`
	Principal string     `json:"principal"`
	By        string     `json:"by"`             // connection, principal, name, header, meta or agent
	Name      string     `json:"name,omitempty"` // of a session by name, header, meta or agent
	Since     time.Time  `json:"since"`
	Clients   []string   `json:"clients"`
	Nets      []NetInfo  `json:"nets"`
	Calls     []CallInfo `json:"calls"`   // in flight, or of unknown outcome
	Waiting   int        `json:"waiting"` // calls about which a person is asked

	// Of a session in a database.
	Used    time.Time `json:"used,omitzero"`     // when it changed, or was in use, last
	Process string    `json:"process,omitempty"` // the other process that has it
	Gone    bool      `json:"gone,omitempty"`    // that process has ended: nobody but an operator says how its calls ended
}

// A NetInfo is the state of one net in a session.
type NetInfo struct {
	Name     string         `json:"name"`
	Active   bool           `json:"active"`
	Moved    bool           `json:"moved"` // it is not as at its start, or waits for a call
	Marking  map[string]int `json:"marking"`
	InFlight int            `json:"inFlight"`
	Status   string         `json:"status"`
	Shadow   *NetShadow     `json:"shadow,omitempty"` // of a net in shadow, whose marking is the one that the calls led to
}

// A CallInfo is a call that was let through and is not settled.
type CallInfo struct {
	Number uint64    `json:"number"`
	Tool   string    `json:"tool"`
	Since  time.Time `json:"since"`

	Arguments json.RawMessage `json:"arguments,omitempty"` // as audit.arguments records them, where this process knows them and they are short

	Unknown bool   `json:"unknown,omitempty"` // its outcome is not on record, and an operator may settle it
	More    uint64 `json:"more,omitempty"`    // further calls of the tool whose outcome is unknown, which are listed and settled with it
	Outcome string `json:"outcome,omitempty"` // of an unknown one: that this process knows, and puts on record as soon as it can
}

func (p *Proxy) describe(s *session.Session) SessionInfo {
	info := introduce(s)
	for _, c := range p.sessions.Clients() {
		if c.State == s {
			info.Clients = append(info.Clients, clientName(c))
		}
	}
	sort.Strings(info.Clients)
	state, err := p.pool.Snapshot(s)
	if err != nil { // it has ended meanwhile, or the database is away
		info.Calls = unwrittenOf(p, s.ID, info.Calls)
		return info
	}
	info.Nets = netsOf(state)
	for _, a := range p.approvals.List() {
		if a.Call.Session == s.ID && a.Answer.State == approval.Pending {
			info.Waiting++
		}
	}
	if open := state.Open(); len(open) > 0 {
		lost := lostOf(p, s.Key())
		for _, h := range open {
			info.Calls = append(info.Calls, CallInfo{
				Number: h.Number, Tool: h.Tool, Since: h.Since, Unknown: h.Unknown || lost[h.Number], More: h.More, Arguments: p.admission.Lately.Arguments(s.Key(), h.Number),
			})
		}
	}
	info.Calls = unwrittenOf(p, s.ID, info.Calls)
	return info
}

// netsOf describes the nets of a session.
func netsOf(state *gate.State) []NetInfo {
	all := []NetInfo{}
	shadow := state.Policy().ShadowOf(state)
	for _, n := range state.Policy().NetsOf(state) {
		net := NetInfo{Name: n.Name, Active: n.Active, Moved: n.Moved, Marking: map[string]int{}, InFlight: len(n.InFlight), Shadow: netShadow(shadow, n.Name)}
		for _, t := range n.Marking {
			if t.Count > 0 {
				net.Marking[t.Place] = t.Count
			}
		}
		n.Shadow = false // net.Shadow says what would be enforced
		net.Status = n.String()
		all = append(all, net)
	}
	return all
}

// introduce describes a session without its clients, nets and calls.
func introduce(s *session.Session) SessionInfo {
	return SessionInfo{ID: s.ID, Principal: s.Principal, By: s.By, Name: text.Escape(s.Label), Since: s.Since, Clients: []string{}, Nets: []NetInfo{}, Calls: []CallInfo{}}
}

func clientName(c *session.Client) string {
	return c.Transport + " " + cmp.Or(text.Escape(c.Peer().Name), "(no name)")
}

// ResetSession puts every net of a session back to its start.
func (p *Proxy) ResetSession(id string, a Actor) error {
	return p.mend(id, a, "reset the session", func(k admission.Key) error { return p.admission.Reset(p.life.Ctx, k, a.Name) })
}

// SettleCall says how a call of unknown outcome ended.
func (p *Proxy) SettleCall(id string, number uint64, success bool, a Actor) error {
	return p.mend(id, a, "settle a call", func(k admission.Key) error { return p.admission.SettleOpen(p.life.Ctx, k, number, success, a.Name) })
}

// mend changes the state of a session by f, as the actor has ordered.
func (p *Proxy) mend(id string, a Actor, order string, f func(admission.Key) error) error {
	s, _, err := p.find(id)
	if err != nil {
		return err
	}
	if err := permit(p, a, s.ID, order); err != nil {
		return err
	}
	if err := f(s.Key()); err != nil {
		return err
	}
	p.advertiser.Touch(s)
	return nil
}

// A PolicyNet is one net of the policy that a proxy enforces.
type PolicyNet struct {
	Name   string `json:"name"`
	Rule   string `json:"rule,omitempty"`
	Active bool   `json:"active"`
	Shadow bool   `json:"shadow"`
	Scope  string `json:"scope"` // session, principal or global
}

// Nets lists the nets of the policy, in order.
func (p *Proxy) Nets() []PolicyNet {
	g := p.admission.Generation()
	scopes := map[gate.Scope]string{gate.ScopeSession: "session", gate.ScopePrincipal: "principal", gate.ScopeGlobal: "global"}
	list := []PolicyNet{}
	for _, n := range g.Policy.Nets() {
		list = append(list, PolicyNet{Name: n.Name, Rule: p.where(n.Rule), Shadow: n.Shadow, Scope: scopes[n.Scope], Active: g.IsActive(n.Name)})
	}
	return list
}

// SwitchNet activates or deactivates a net in all sessions, those that begin
// later too. The state of a net that is off is kept: switched on again, it goes
// on from where it was. What cannot be put on record is not done. Where approvals need a PIN no
// net is switched off: without the one that asks, nobody would be asked. One is switched on with
// the PIN alone, since the calls that it knows pass then under default: deny.
func (p *Proxy) SwitchNet(name string, on bool, a Actor) error {
	if !on && p.pin != nil {
		return errors.New("approvals need a PIN here (approval.pin), so no net is switched off while the proxy runs; take its rule out of the configuration")
	}
	if err := permit(p, a, "", "switch a net on"); err != nil {
		return err
	}
	if err := p.admission.SwitchNet(p.life.Ctx, name, on, a.Name); err != nil {
		return err
	}
	p.advertiser.TouchAll()
	if p.pool.Catalogue.Relist() {
		p.relay.Announce(spec.ListChanged)
	}
	return nil
}
