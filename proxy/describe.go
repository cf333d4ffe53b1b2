package proxy

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

func (p *sessionView) describe(s *session.Session) operator.SessionInfo {
	info := newSessionInfo(s)
	for _, c := range p.sessions.Clients() {
		if c.State == s {
			info.Clients = append(info.Clients, clientName(c))
		}
	}
	sort.Strings(info.Clients)
	state, err := p.pool.Snapshot(s)
	if err != nil { // it has ended meanwhile, or the database is unavailable
		info.Calls = p.unwrittenOf(s.ID, info.Calls)
		return info
	}
	info.Nets = netsOf(state)
	for _, a := range p.approvals.List() {
		if a.Call.Session == s.ID && a.Answer.State == approval.Pending {
			info.Waiting++
		}
	}
	if open := state.Open(); len(open) > 0 {
		lost := p.lostOf(s.Key())
		for _, h := range open {
			info.Calls = append(info.Calls, operator.CallInfo{
				Number: h.Number, Tool: h.Tool, Since: h.Since, Unknown: h.Unknown || lost[h.Number], More: h.More, Arguments: p.admission.Recent.Arguments(s.Key(), h.Number),
			})
		}
	}
	info.Calls = p.unwrittenOf(s.ID, info.Calls)
	return info
}

// netsOf describes the nets of a session.
func netsOf(state *gate.State) []operator.NetInfo {
	all := []operator.NetInfo{}
	shadow := state.Policy().ShadowOf(state)
	for _, n := range state.Policy().NetsOf(state) {
		net := operator.NetInfo{Name: n.Name, Active: n.Active, Moved: n.Moved, Marking: map[string]int{}, InFlight: len(n.InFlight), Shadow: netShadow(shadow, n.Name)}
		for _, t := range n.Marking {
			if t.Count > 0 {
				net.Marking[t.Place] = t.Count
			}
		}
		n.Shadow = false // net.Shadow shows what would be enforced
		net.Status = n.String()
		all = append(all, net)
	}
	return all
}

// newSessionInfo describes a session without its clients, nets and calls.
func newSessionInfo(s *session.Session) operator.SessionInfo {
	return operator.SessionInfo{ID: s.ID, Principal: s.Principal, By: s.By, Name: text.Escape(s.Label), Since: s.Since, Clients: []string{}, Nets: []operator.NetInfo{}, Calls: []operator.CallInfo{}}
}

func clientName(c *session.Client) string {
	return c.Transport + " " + cmp.Or(text.Escape(c.Peer().Name), "(no name)")
}

// withDatabaseInfo adds the information from the database to a session of another process.
func withDatabaseInfo(info operator.SessionInfo, s admission.SessionInfo) operator.SessionInfo {
	info.Used, info.Process, info.Gone = s.Used, s.Process, s.Gone
	return info
}

func (p *sessionView) describeRemote(s admission.SessionInfo) operator.SessionInfo {
	return withDatabaseInfo(p.describe(remoteSession(s)), s)
}

// lostOf returns the numbers of the open calls of a session whose processes have ended.
func (p *sessionView) lostOf(k admission.Key) map[uint64]bool {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	lost, err := p.durable.LostOf(ctx, k)
	if err != nil {
		return nil // the caller has just read the session and reports errors itself
	}
	return lost
}

// unwrittenOf marks the calls of a session whose outcomes could not be recorded, and adds those
// that are missing in calls because the database was unavailable.
func (p *sessionView) unwrittenOf(session string, calls []operator.CallInfo) []operator.CallInfo {
	for _, e := range p.unwrittenCalls() {
		if e.Session != session {
			continue
		}
		at := slices.IndexFunc(calls, func(c operator.CallInfo) bool { return c.Number == e.Call })
		if at < 0 {
			at, calls = len(calls), append(calls, operator.CallInfo{Number: e.Call, Tool: e.Tool, Since: e.Since})
		}
		calls[at].Unknown, calls[at].Outcome = true, e.Outcome
	}
	return calls
}

// unwrittenCalls lists the calls whose outcomes this process knows but could not record.
func (p *sessionView) unwrittenCalls() []operator.UnknownCall {
	list := []operator.UnknownCall{}
	for _, e := range p.admission.Unwritten.List() {
		list = append(list, operator.UnknownCall{Session: e.Session, Process: p.writerOf(), Call: e.Call, Tool: e.Tool, Since: e.Since, Outcome: e.Outcome})
	}
	return list
}

// writerOf returns the name of this process in the database, or an empty string without a database.
func (p *sessionView) writerOf() string {
	if p.options.Database == nil {
		return ""
	}
	return p.options.Database.Writer()
}
