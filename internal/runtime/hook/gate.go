package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
)

// Options configure a Gate. All but Log are required.
type Options struct {
	Ctx       context.Context //nolint:containedctx // ends with the proxy
	Admission *admission.Admission
	Approvals *approval.Broker

	// Session returns the session whose nets decide on the calls of an agent in what it calls a
	// session, and opens it if need be. Own says that it is of that alone: End ends it.
	Session func(Origin) (key admission.Key, own bool, err error)
	End     func(admission.Key)
	Moved   func(admission.Key)                // the nets of a session have moved
	Tools   func() []gate.Call                 // of the servers
	Met     func(agent string, names []string) // an agent has told something for the first time: its tools have these names, and AGENT.TOOL
	Hold    func(agent string) time.Duration
	Asked   func(*approval.Request, string) // a call of that agent has begun to wait for a person
	Texts   Texts
	Now     func() time.Time
	Log     *slog.Logger
}

// Texts are what a model is told about approvals.
type Texts struct {
	Parked    func(id string) string
	NoConsent func(tool string, r *approval.Request, said approval.Answer, gone, ending bool, now time.Time) string
}

// An Origin is where the calls of an agent come from.
type Origin struct {
	Principal string
	Agent     string
	Session   string      // as the agent calls it
	Header    http.Header // of the request that carries an event; nil: none does
}

// A Request carries one event.
type Request struct {
	Agent     string
	Principal string
	Session   string      // in place of that of the event; empty: that one
	Servers   []string    // what the agent calls the proxy among its MCP servers; empty: petrigate
	Header    http.Header // nil: there is none
	Event     []byte
}

// A Reply is the answer to an event.
type Reply struct {
	Output []byte // JSON for the agent
	Denied string // why the call is refused; empty: it is not
}

// A Gate decides on the calls that agents tell of. It is safe for concurrent use.
type Gate struct {
	Options

	met  map[string]*meeting // by agent
	left leftCalls           // to the proxy

	mu    sync.Mutex
	calls map[place]*calls
}

// A meeting is the state of one agent: whether its hook has reported a call yet.
type meeting struct {
	sync.Once             // for what its first call needs
	told      atomic.Bool // of a call
}

// Agents returns the agents whose hooks have reported calls since the start, sorted.
func (g *Gate) Agents() (names []string) {
	for name, m := range g.met {
		if m.told.Load() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A place is a session of an agent, within a session of the proxy.
type place struct {
	admission.Key
	agent, session string
}

// New returns a Gate.
func New(o Options) *Gate {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	met := map[string]*meeting{}
	for _, a := range agents {
		met[a.Name] = &meeting{}
	}
	return &Gate{Options: o, calls: map[place]*calls{}, met: met}
}

// Serve takes an event, and returns the answer for the agent. It waits where a person is asked.
// An error is that there is no such agent.
func (g *Gate) Serve(ctx context.Context, r Request) (reply Reply, err error) {
	a := Find(r.Agent)
	if a == nil {
		return Reply{}, fmt.Errorf("there is no agent %q; those whose hooks are understood are %s", r.Agent, strings.Join(Names(), ", "))
	}
	if len(r.Servers) == 0 {
		r.Servers = []string{"petrigate"}
	}
	met := g.met[a.Name]
	met.told.Store(true)
	met.Do(func() { g.Met(a.Name, append(agenttool.Shells(a.Name), "bash")) }) // before what passes now is called
	e, wrong := a.Read(r.Event)
	if r.Session != "" {
		e.Session = r.Session
	}
	switch {
	case e.kind == ignored:
		return Reply{Output: Pass}, nil
	case wrong != nil:
		g.Log.Warn("the event of a hook was refused", "agent", a.Name, "reason", wrong.Error())
		if e.Before() {
			return refuse(e, "The call was not made: "+wrong.Error()+"."), nil
		}
		return Reply{Output: Pass}, nil
	}
	defer func() {
		if v := recover(); v != nil { // an agent takes no answer for a yes
			g.Log.Error("panic at the event of a hook", "agent", a.Name, "event", e.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			reply = refuse(e, "The call was not made: petrigate has failed.")
		}
	}()
	if tool, ok := e.throughProxy(r.Servers, g.offers); ok && e.kind <= failed {
		return g.leave(ctx, &r, e, tool), nil
	}
	return g.serve(ctx, &r, e), nil
}

// refuse is the answer that refuses the call of an event. Codex makes one that is refused without a reason.
func refuse(e *Event, reason string) Reply {
	reason = cmp.Or(reason, "The call was not made.")
	return Reply{Output: e.agent.Deny(e.Name, reason), Denied: reason}
}

// serve takes an event that was read.
func (g *Gate) serve(ctx context.Context, r *Request, e *Event) Reply {
	key, own, err := g.Session(Origin{Principal: r.Principal, Agent: e.agent.Name, Session: e.Session, Header: r.Header})
	if err != nil {
		if e.Before() {
			return refuse(e, "The call was not made: "+err.Error()+".")
		}
		return Reply{Output: Pass}
	}
	at := place{key, e.agent.Name, e.Session}
	s, idle := g.of(at, own, e.Before())
	for _, forgotten := range idle {
		g.end(forgotten.place, forgotten.calls)
	}
	switch {
	case e.Before() && s == nil:
		return refuse(e, "The call was not made: too many sessions of agents are open.")
	case e.Before():
		return g.before(ctx, s, key, e)
	case s == nil:
		g.Log.Info("an event is of a session without calls", "agent", e.agent.Name, "event", e.Name)
	case e.kind == after || e.kind == failed:
		g.after(s, e)
	case e.kind == turnEnds:
		g.unknown(s.interrupt())
	case e.kind == ends:
		g.forget(at)
		g.end(at, s)
	}
	return Reply{Output: Pass}
}

// A placed is the calls of a session of an agent.
type placed struct {
	place
	calls *calls
}

// of returns the calls of a session of an agent; nil: there are none, and open does not say that
// there may be. It forgets sessions that were not used for long, which the caller has to end.
func (g *Gate) of(at place, alone, open bool) (s *calls, idle []placed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Now()
	if s = g.calls[at]; s != nil || !open {
		if s != nil {
			s.used = now
		}
		return s, nil
	}
	if len(g.calls) >= manySessions {
		for p, c := range g.calls {
			if now.Sub(c.used) > idleSession {
				delete(g.calls, p)
				idle = append(idle, placed{p, c})
			}
		}
	}
	own := 0
	for p := range g.calls {
		if p.Principal == at.Principal {
			own++
		}
	}
	if len(g.calls) >= maxSessions || own >= maxOwn {
		return nil, idle
	}
	s = &calls{used: now, own: alone}
	g.calls[at] = s
	return s, idle
}

func (g *Gate) forget(at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, at)
}

// end ends a session of an agent, and that of the proxy which it has for itself.
func (g *Gate) end(at place, s *calls) {
	g.unknown(s.end())
	if s.own {
		g.End(at.Key)
	}
}

// before decides on a call. An agent that tells of one call twice, as where two of its files have
// the hook, gets one answer twice.
func (g *Gate) before(ctx context.Context, s *calls, key admission.Key, e *Event) Reply {
	sent := e.digest()
	answer := g.amend(e)
	c := &call{key: e.key(), digest: e.digest(), sent: sent, turn: e.turn, decided: make(chan struct{})}
	known, over, late := s.begin(c, e.ID != "")
	g.unknown(late)
	switch {
	case over:
		return refuse(e, "The call was not made: its id is that of a call which is over.")
	case known != nil:
		return again(ctx, known, c, e)
	}
	c.reply = refuse(e, "The call was not made: it could not be decided on.") // where that panics
	defer close(c.decided)
	defer func() {
		if c.reply.Denied != "" {
			s.forget(c)
		}
	}()
	c.reply = g.decide(ctx, s, key, c, e)
	if c.reply.Denied == "" {
		c.reply.Output = answer
	}
	return c.reply
}

// again returns the answer to a call that the agent has told of before.
func again(ctx context.Context, known, c *call, e *Event) Reply {
	if known.sent != c.sent {
		return refuse(e, "The call was not made: its id is that of another call.")
	}
	select {
	case <-known.decided:
		return known.reply
	case <-ctx.Done():
		return refuse(e, "The call was not made: it is being decided on.")
	}
}

// decide asks the gate about a call, and a person where the policy says so.
func (g *Gate) decide(ctx context.Context, s *calls, key admission.Key, c *call, e *Event) Reply {
	of := g.admissionCall(key, e)
	if r := g.Admission.Ready(of.Canonical); r != nil {
		return refuse(e, r.Text)
	}
	d := g.Admission.Decide(g.Ctx, of)
	if q, ok := d.(*admission.Asked); ok {
		d = g.ask(ctx, of, e.where, q)
	}
	switch d := d.(type) {
	case *admission.Admitted:
		g.Moved(key)
		if !s.admit(c, &d.Ticket) {
			g.unknown([]*call{c})
		}
		return Reply{Output: Pass}
	case *admission.Refused:
		return refuse(e, d.Text)
	}
	return refuse(e, "The call was not made: it could not be decided on.")
}

// admissionCall returns a call as it is decided and recorded.
func (g *Gate) admissionCall(key admission.Key, e *Event) *admission.Call {
	tools := g.Tools()
	called := e.call(func(name string) bool { return isTool(tools, name) })
	offered := append(slices.Clip(tools), gate.Call{Tool: called.Tool, Foreign: called.Foreign, Also: called.Also, Upstream: called.Upstream})
	called.Time = g.Now()
	return &admission.Call{
		Key: key, Gate: called, Offered: offered, Client: e.agent.Name, ID: rawjson.AppendString(nil, e.ID), Upstream: e.agent.Name,
		Tool: e.Tool, Method: "tools/call", Canonical: e.agent.Name + "." + e.Tool, Digest: digestOf(e.Args),
	}
}

// inAgents returns the name of a tool as agents write it: they have fewer signs for names.
func inAgents(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// offers reports whether a server has a tool that agents call by that name.
func (g *Gate) offers(name string) bool {
	return slices.ContainsFunc(g.Tools(), func(c gate.Call) bool { return c.Tool == name || inAgents(c.Tool) == inAgents(name) })
}

// isTool reports whether a tool of a server has that name.
func isTool(tools []gate.Call, name string) bool {
	for i := range tools {
		if tools[i].Tool == name {
			return true
		}
		for _, also := range tools[i].Also {
			if also.Text == name {
				return true
			}
		}
	}
	return false
}

// after settles a call that has ended.
func (g *Gate) after(s *calls, e *Event) {
	c := s.take(e.key())
	if c == nil {
		g.Log.Info("the end of a call that is not under way was told", "agent", e.agent.Name, "event", e.Name)
		return
	}
	end := gate.End{Outcome: e.outcome()}
	if c.digest != e.digest() {
		g.Log.Warn(differs(c, e), "agent", e.agent.Name, "call", c.ticket.Number)
		end.Outcome = gate.Unknown
	}
	if end.Outcome == gate.Success && g.Admission.ReadsResults() && rawjson.Kind(e.result) == '{' {
		end.Result = e.result
	}
	if end.Outcome == gate.Success && g.Admission.Generation().Policy.JudgesResults() {
		end.Text = e.returnedText()
	}
	by := ""
	if c.told {
		by = "late answer"
	}
	g.settle(c, end, by)
}

// unknown settles calls of which nobody says how they ended.
func (g *Gate) unknown(late []*call) {
	for _, c := range late {
		g.settle(c, gate.End{Outcome: gate.Unknown}, "")
	}
}

func (g *Gate) settle(c *call, e gate.End, by string) {
	if c.told && by != "" && e.Outcome == gate.Unknown { // it is known to be that
		return
	}
	g.Admission.Settle(context.WithoutCancel(g.Ctx), c.ticket, e, by)
	g.Moved(c.ticket.Key())
}

// key tells the calls of a session apart. Those of an agent that gives no ids are told apart by
// what they do.
func (e *Event) key() string {
	if e.ID != "" {
		return "id " + e.ID
	}
	return e.digest()
}

// digest is that of the tool and its arguments.
func (e *Event) digest() string { return e.Tool + " " + digestOf(e.Args) }

func digestOf(arguments []byte) string {
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}
