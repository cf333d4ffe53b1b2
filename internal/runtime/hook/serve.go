package hook

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Serve handles an event and returns the answer for the agent. It blocks while a person is being
// asked. It returns an error only if the agent is unknown.
func (g *Gate) Serve(ctx context.Context, r Request) (reply Reply, err error) {
	a := Find(r.Agent)
	if a == nil {
		return Reply{}, fmt.Errorf("unknown agent %q; known agents: %s", r.Agent, strings.Join(Names(), ", "))
	}
	if len(r.Servers) == 0 {
		r.Servers = []string{"petrigate"}
	}
	met := g.states[a.Name]
	met.reported.Store(true)
	met.Do(func() { g.Met(a.Name, append(agenttool.Shells(a.Name), "bash")) }) // report the agent's shell tools before deciding on its first call
	e, wrong := a.Read(r.Event)
	if r.Session != "" {
		e.Session = r.Session
	}
	switch {
	case e.kind == agenttool.Ignored:
		return Reply{Output: Pass}, nil
	case wrong != nil:
		g.Log.Warn("refused a hook's event", "agent", a.Name, "reason", wrong.Error())
		if e.Before() {
			return refuse(e, "The call was not made: "+wrong.Error()+"."), nil
		}
		return Reply{Output: Pass}, nil
	}
	defer func() {
		if v := recover(); v != nil { // agents would make the call if they got no answer
			g.Log.Error("panic while handling a hook's event", "agent", a.Name, "event", e.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			reply = refuse(e, "The call was not made: petrigate has failed.")
		}
	}()
	if tool, ok := e.throughProxy(r.Servers, g.offers); ok && e.kind.OfCall() {
		return g.leaveToProxy(ctx, &r, e, tool), nil
	}
	return g.serve(ctx, &r, e), nil
}

// serve answers an event that has been read without an error.
func (g *Gate) serve(ctx context.Context, r *Request, e *Event) Reply {
	key, own, err := g.Session(Origin{Principal: r.Principal, Agent: e.agent.Name, Session: e.Session, Header: r.Header})
	if err != nil {
		if e.Before() {
			return refuse(e, "The call was not made: "+err.Error()+".")
		}
		return Reply{Output: Pass}
	}
	at := sessionKey{key, e.agent.Name, e.Session}
	s, idle := g.callsOf(at, own, e.Before())
	for forgotten, calls := range idle {
		g.end(forgotten, calls)
	}
	switch {
	case e.Before() && s == nil:
		return refuse(e, "The call was not made: too many agent sessions are open.")
	case e.Before():
		return g.decideOnce(ctx, s, key, e)
	case s == nil:
		g.Log.Info("an event belongs to a session without calls", "agent", e.agent.Name, "event", e.Name)
	case e.kind == agenttool.AfterCall || e.kind == agenttool.CallFailed:
		g.finish(s, e)
	case e.kind == agenttool.TurnEnd:
		g.settleUnknown(s.interrupt())
	case e.kind == agenttool.SessionEnd:
		g.forget(at)
		g.end(at, s)
	}
	return Reply{Output: Pass}
}

// end ends an agent session. It also ends the proxy session if no other agent session uses the
// proxy session.
func (g *Gate) end(at sessionKey, s *calls) {
	g.settleUnknown(s.end())
	if s.own {
		g.End(at.Key)
	}
}

// decideOnce decides on a call and returns the answer. An agent can report a call twice, for
// example because the hook is in two of its settings files. If the agent assigns IDs to calls, the
// second report gets the same answer as the first. A call that has already been refused, however,
// is decided on again.
func (g *Gate) decideOnce(ctx context.Context, s *calls, key admission.Key, e *Event) Reply {
	sent := e.digest()
	answer := g.amend(e)
	c := &call{key: e.key(), digest: e.digest(), sent: sent, turn: e.turn, decided: make(chan struct{})}
	known, over, late := s.add(c, e.ID != "")
	g.settleUnknown(late)
	switch {
	case over:
		return refuse(e, "The call was not made: a call that has ended has the same id.")
	case known != nil:
		return repeatAnswer(ctx, known, c, e)
	}
	c.reply = refuse(e, "The call was not made: petrigate could not decide on it.") // if the decision panics, this remains the answer
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

// repeatAnswer returns the answer to a call that the agent has already reported.
func repeatAnswer(ctx context.Context, known, c *call, e *Event) Reply {
	if known.sent != c.sent {
		return refuse(e, "The call was not made: another call has the same id.")
	}
	select {
	case <-known.decided:
		return known.reply
	case <-ctx.Done():
		return refuse(e, "The call was not made: petrigate is still deciding on it.")
	}
}

// decide decides on a call, asking a person if the policy requires it.
func (g *Gate) decide(ctx context.Context, s *calls, key admission.Key, c *call, e *Event) Reply {
	of := g.admissionCall(key, e)
	if r := g.Admission.Ready(of.Canonical); r != nil {
		return refuse(e, r.Text)
	}
	d := g.Admission.Decide(g.Ctx, of)
	if q, ok := d.(*admission.Asked); ok {
		d = g.ask(ctx, of, e.folders, q)
	}
	switch d := d.(type) {
	case *admission.Admitted:
		g.Moved(key)
		if !s.admit(c, &d.Ticket) {
			g.settleUnknown([]*call{c})
		}
		return Reply{Output: Pass}
	case *admission.Refused:
		return refuse(e, d.Text)
	}
	return refuse(e, "The call was not made: petrigate could not decide on it.")
}

// admissionCall returns the event's call as an [admission.Call].
func (g *Gate) admissionCall(key admission.Key, e *Event) *admission.Call {
	tools := g.Tools()
	called := e.call(func(name string) bool { return isTool(tools, name) })
	offered := append(slices.Clip(tools), gate.Call{Tool: called.Tool, Foreign: called.Foreign, Also: called.Also, Upstream: called.Upstream})
	called.Time = g.Now()
	return &admission.Call{
		Key: key, Gate: called, Offered: offered, Client: e.agent.Name, ID: rawjson.AppendString(nil, e.ID), Upstream: e.agent.Name,
		Tool: e.Tool, Method: "tools/call", Canonical: e.agent.Name + "." + e.Tool, Digest: audit.HashOf(e.Args),
	}
}

// offers reports whether an upstream server has a tool with the given name. Names are considered
// the same if agentName maps them to the same name.
func (g *Gate) offers(name string) bool {
	return slices.ContainsFunc(g.Tools(), func(c gate.Call) bool { return c.Tool == name || agentName(c.Tool) == agentName(name) })
}

// finish records the outcome of a call after an event has reported the end of the call.
func (g *Gate) finish(s *calls, e *Event) {
	c := s.takeAdmitted(e.key())
	if c == nil {
		g.Log.Info("an event ended a call that is not in progress", "agent", e.agent.Name, "event", e.Name)
		return
	}
	end := gate.End{Outcome: e.outcome()}
	if c.digest != e.digest() {
		g.Log.Warn(mismatchWarning(c, e), "agent", e.agent.Name, "call", c.ticket.Number)
		end.Outcome = gate.Unknown
	}
	if end.Outcome == gate.Success {
		value, text := g.Admission.ReadsResult(c.ticket)
		if value && rawjson.Kind(e.result) == '{' {
			end.Result = e.result
		}
		if text {
			end.Text = e.returnedText()
		}
	}
	by := ""
	if c.settledUnknown {
		by = "late answer"
	}
	g.settle(c, end, by)
}

// settleUnknown records an unknown outcome for each of the calls, because no event has reported
// that they ended.
func (g *Gate) settleUnknown(late []*call) {
	for _, c := range late {
		g.settle(c, gate.End{Outcome: gate.Unknown}, "")
	}
}

func (g *Gate) settle(c *call, e gate.End, by string) {
	if c.settledUnknown && by != "" && e.Outcome == gate.Unknown { // the call has already been settled with an unknown outcome
		return
	}
	g.Admission.Settle(context.WithoutCancel(g.Ctx), c.ticket, e, by)
	g.Moved(c.ticket.Key)
}
