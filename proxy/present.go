package proxy

import (
	"context"
	"slices"
	"sort"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// State returns a copy of the state of a session with the tools that can be called. Without an id
// it is the state of a new session, and the state per principal is that of the only principal.
func (p *sessionView) State(id string) (*gate.State, error) {
	if id == "" {
		state, err := p.admission.Fresh(p.life.Ctx)
		if err == nil {
			state.Tools = p.pool.Catalogue.Load().Calls
		}
		return state, err
	}
	s, _, err := p.find(id)
	if err != nil {
		return nil, err
	}
	return p.pool.Snapshot(s)
}

// ListSessions lists the sessions like [Proxy.AllSessions], but without their nets, which take long
// to read for many sessions.
func (p *sessionView) ListSessions() ([]operator.SessionInfo, error) {
	list, _, err := p.listSessions()
	return list, err
}

// listSessions lists the sessions without their nets, oldest first, and returns each by its id.
func (p *sessionView) listSessions() ([]operator.SessionInfo, map[string]*session.Session, error) {
	local, clients, waiting, used := p.sessions.All(), map[*session.Session][]string{}, map[string]int{}, p.sessions.Uses()
	for _, c := range p.sessions.Clients() {
		clients[c.State] = append(clients[c.State], clientName(c))
	}
	for _, a := range p.approvals.List() {
		if a.Answer.State == approval.Pending {
			waiting[a.Call.Session]++
		}
	}
	list, known, all := make([]operator.SessionInfo, 0, len(local)), make(map[string]int, len(local)), map[string]*session.Session{}
	add := func(s *session.Session, info operator.SessionInfo) {
		all[s.ID] = s
		info.Waiting = waiting[info.ID]
		info.Calls = p.unwrittenOf(info.ID, info.Calls)
		list = append(list, info)
	}
	for i, s := range local {
		info := newSessionInfo(s)
		info.Clients, info.Used = append(info.Clients, clients[s]...), used[s]
		sort.Strings(info.Clients)
		known[s.ID] = i
		if p.durable == nil {
			info.Calls = p.openIn(s)
		}
		add(s, info)
	}
	if p.durable == nil {
		return list, all, nil
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	for s, err := range p.admission.Sessions(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if at, ok := known[s.Session]; ok {
			list[at].Used, list[at].Calls = s.Used, p.unwrittenOf(s.Session, openOf(s))
			continue
		}
		from := remoteSession(s)
		info := withDatabaseInfo(newSessionInfo(from), s)
		info.Calls = openOf(s)
		add(from, info)
	}
	slices.SortStableFunc(list, func(a, b operator.SessionInfo) int { return a.Since.Compare(b.Since) })
	return list, all, nil
}

// openOf returns the open calls of a session according to the database.
func openOf(s admission.SessionInfo) []operator.CallInfo {
	calls := []operator.CallInfo{}
	for _, c := range s.Calls {
		calls = append(calls, operator.CallInfo{Number: c.Number, Tool: c.Tool, Since: c.Since, Unknown: c.Unknown, More: c.More})
	}
	return calls
}

// openIn returns the open calls of a session whose state is in memory.
func (p *sessionView) openIn(s *session.Session) []operator.CallInfo {
	calls := []operator.CallInfo{}
	state, err := p.pool.Snapshot(s)
	if err != nil { // it has ended meanwhile
		return calls
	}
	for _, h := range state.Open() {
		calls = append(calls, operator.CallInfo{Number: h.Number, Tool: h.Tool, Since: h.Since, Unknown: h.Unknown, More: h.More})
	}
	return calls
}

// ChannelsOf lists the channels through which approvals of the session can be answered now: the
// configured ones, without forms in the client if none of its clients can show forms. A rule or a
// call can allow fewer.
func (p *sessionView) ChannelsOf(id string) ([]string, error) {
	s, elsewhere, err := p.find(id)
	if err != nil {
		return nil, err
	}
	form := elsewhere != nil // the capabilities of its clients are unknown here
	for _, c := range p.sessions.Clients() {
		form = form || c.State == s && c.Peer().Elicit
	}
	return slices.DeleteFunc(slices.Clone(p.options.Approval.Channels), func(channel string) bool { return channel == approval.Elicit && !form }), nil
}
