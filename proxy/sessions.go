package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// A sessionView shows the sessions of a proxy to operators: those of this process and, if states
// are in a database, those of all other processes.
type sessionView struct{ *parts }

// stateInfo describes how the session states are stored, in a database or in memory. The
// description includes calls whose outcomes are unknown.
func (p *sessionView) stateInfo() operator.StateInfo {
	info := operator.StateInfo{Driver: "memory", Unknown: p.unwrittenCalls()}
	if p.durable == nil {
		return info
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	info.Process = p.writerOf()
	err := p.durable.Ready()
	if err == nil || errors.Is(err, audit.ErrUnrecorded) { // ErrUnrecorded concerns only the audit file; the database can still be read
		var lost []operator.UnknownCall
		info.Records, lost, err = p.surveyState(ctx)
		info.Unknown = append(info.Unknown, lost...)
	}
	if err == nil {
		err = p.durable.Clock.Behind(p.options.Now())
	}
	if err != nil {
		info.Error = text.Escape(err.Error())
	}
	return info
}

// surveyState counts the records in the database, and lists the calls left open by processes that
// have ended.
func (p *sessionView) surveyState(ctx context.Context) (records uint64, unknown []operator.UnknownCall, err error) {
	if records, err = store.CountRecords(ctx, p.options.Database); err != nil {
		return 0, nil, err
	}
	lost, err := p.durable.LostCalls(ctx)
	for _, c := range lost {
		unknown = append(unknown, operator.UnknownCall{Session: c.Session, Process: c.Process, Call: c.Call, Tool: c.Tool, Since: c.Since})
	}
	return records, unknown, err
}

// Sessions lists the sessions of this process, oldest first.
func (p *sessionView) Sessions() []operator.SessionInfo {
	list := []operator.SessionInfo{}
	for _, s := range p.sessions.All() {
		list = append(list, p.describe(s))
	}
	return list
}

// AllSessions lists all sessions, oldest first. If states are in a database, this includes the
// sessions of other processes. It returns an error if the database cannot be read.
func (p *sessionView) AllSessions() ([]operator.SessionInfo, error) {
	list, all, err := p.listSessions()
	for i := range list {
		if state, err := p.pool.Snapshot(all[list[i].ID]); err == nil { // an error means that the session has just ended
			list[i].Nets = netsOf(state)
		}
		if p.durable == nil {
			list[i].Used = time.Time{}
		}
	}
	return list, err
}

// Session returns the state of one session.
func (p *sessionView) Session(id string) (operator.SessionInfo, error) {
	s, info, err := p.find(id)
	if err != nil {
		return operator.SessionInfo{}, err
	}
	if info != nil {
		return withDatabaseInfo(p.describe(s), *info), nil
	}
	return p.describe(s), nil
}

// State returns a copy of a session's state, including the tools that can be called. If id is
// empty, it returns the state that a new session would have. If all existing sessions belong to the
// same principal, State assumes that the new session also belongs to this principal. The state then
// includes the state shared by the principal's sessions.
func (p *sessionView) State(id string) (*gate.State, error) {
	if id == "" {
		state, err := p.admission.FreshState(p.life.Ctx)
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

// ListSessions is like [Proxy.AllSessions], but omits the nets, because reading the nets of many
// sessions takes a long time. Unlike AllSessions, it always sets Used, the time when a session was
// last used, even without a database.
func (p *sessionView) ListSessions() ([]operator.SessionInfo, error) {
	list, _, err := p.listSessions()
	return list, err
}

// listSessions lists the sessions, oldest first and without their nets. The second result maps each
// ID to its session.
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
		info.Calls = p.markUnwritten(info.ID, info.Calls)
		list = append(list, info)
	}
	for i, s := range local {
		info := newSessionInfo(s)
		info.Clients, info.Used = append(info.Clients, clients[s]...), used[s]
		sort.Strings(info.Clients)
		known[s.ID] = i
		if p.durable == nil {
			if state, err := p.pool.Snapshot(s); err == nil { // an error means that the session has just ended
				info.Calls = callsOf(state)
			}
		}
		add(s, info)
	}
	if p.durable == nil {
		return list, all, nil
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	for s, err := range p.admission.Sessions.List(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if at, ok := known[s.Session]; ok {
			list[at].Used, list[at].Calls = s.Used, p.markUnwritten(s.Session, storedCallsOf(s))
			continue
		}
		from := remoteSession(s)
		info := withDatabaseInfo(newSessionInfo(from), s)
		info.Calls = storedCallsOf(s)
		add(from, info)
	}
	slices.SortStableFunc(list, func(a, b operator.SessionInfo) int { return a.Since.Compare(b.Since) })
	return list, all, nil
}

// storedCallsOf returns the calls of a session that are open according to the database.
func storedCallsOf(s admission.SessionInfo) []operator.CallInfo {
	calls := []operator.CallInfo{}
	for _, c := range s.Calls {
		calls = append(calls, operator.CallInfo{Number: c.Number, Tool: c.Tool, Since: c.Since, Unknown: c.Unknown, More: c.More})
	}
	return calls
}

// callsOf returns the open calls of a session.
func callsOf(state *gate.State) []operator.CallInfo {
	calls := []operator.CallInfo{}
	for _, h := range state.Open() {
		calls = append(calls, operator.CallInfo{Number: h.Number, Tool: h.Tool, Since: h.Since, Unknown: h.Unknown, More: h.More})
	}
	return calls
}

// ChannelsOf lists the configured channels for approval requests of the session. It omits elicit if
// no client of the session can show forms; for a session of another process, it assumes that a
// client can. A rule or a call may allow fewer channels.
func (p *sessionView) ChannelsOf(id string) ([]string, error) {
	s, elsewhere, err := p.find(id)
	if err != nil {
		return nil, err
	}
	form := elsewhere != nil // for a session of another process, assume that a client can show forms
	for _, c := range p.sessions.Clients() {
		form = form || c.State == s && c.Peer().Elicit
	}
	return slices.DeleteFunc(slices.Clone(p.options.Approval.Channels), func(channel string) bool { return channel == approval.Elicit && !form }), nil
}

func (p *sessionView) describe(s *session.Session) operator.SessionInfo {
	info := newSessionInfo(s)
	for _, c := range p.sessions.Clients() {
		if c.State == s {
			info.Clients = append(info.Clients, clientName(c))
		}
	}
	sort.Strings(info.Clients)
	state, err := p.pool.Snapshot(s)
	if err != nil { // the session has just ended, or the database is unavailable
		info.Calls = p.markUnwritten(s.ID, info.Calls)
		return info
	}
	info.Nets = netsOf(state)
	for _, a := range p.approvals.List() {
		if a.Call.Session == s.ID && a.Answer.State == approval.Pending {
			info.Waiting++
		}
	}
	if info.Calls = callsOf(state); len(info.Calls) > 0 {
		lost := p.lostCallsOf(s.Key())
		for i := range info.Calls {
			c := &info.Calls[i]
			c.Unknown, c.Arguments = c.Unknown || lost[c.Number], p.admission.Recent.Arguments(s.Key(), c.Number)
		}
	}
	info.Calls = p.markUnwritten(s.ID, info.Calls)
	return info
}

// netsOf describes the state of each of a session's nets.
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
		n.Shadow = false // omit shadow mode from the status, because net.Shadow already describes it
		net.Status = n.String()
		all = append(all, net)
	}
	return all
}

// newSessionInfo returns a description of the session without its clients, nets and calls.
func newSessionInfo(s *session.Session) operator.SessionInfo {
	return operator.SessionInfo{ID: s.ID, Principal: s.Principal, By: s.By, Name: text.Escape(s.Label), Since: s.Since, Clients: []string{}, Nets: []operator.NetInfo{}, Calls: []operator.CallInfo{}}
}

func clientName(c *session.Client) string {
	return c.Transport + " " + cmp.Or(text.Escape(c.Peer().Name), "(no name)")
}

// withDatabaseInfo sets the fields of another process's session that only the database can provide.
func withDatabaseInfo(info operator.SessionInfo, s admission.SessionInfo) operator.SessionInfo {
	info.Used, info.Process, info.Gone = s.Used, s.Process, s.Gone
	return info
}

// lostCallsOf returns the numbers of the session's open calls whose processes have ended.
func (p *sessionView) lostCallsOf(k admission.Key) map[uint64]bool {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	lost, err := p.durable.LostCallsOf(ctx, k)
	if err != nil {
		return nil // the caller has just read the session, and reports database errors itself
	}
	return lost
}

// markUnwritten marks the calls whose outcomes this process knows but could not record. It adds
// such calls of the session that are missing from the list, and returns the complete list.
func (p *sessionView) markUnwritten(session string, calls []operator.CallInfo) []operator.CallInfo {
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

// unwrittenCalls lists the calls whose outcomes are known to this process but could not be
// recorded.
func (p *sessionView) unwrittenCalls() []operator.UnknownCall {
	list := []operator.UnknownCall{}
	for _, e := range p.admission.Unwritten.List() {
		list = append(list, operator.UnknownCall{Session: e.Session, Process: p.writerOf(), Call: e.Call, Tool: e.Tool, Since: e.Since, Outcome: e.Outcome})
	}
	return list
}

// writerOf returns the name of this process in the database, or "" without a database.
func (p *sessionView) writerOf() string {
	if p.options.Database == nil {
		return ""
	}
	return p.options.Database.Writer()
}

// lookupTimeout is the timeout of an operator's database queries.
const lookupTimeout = 10 * time.Second

// find returns the session with the given ID. If it is a session of another process, find reads it
// from the database and also returns its description.
func (p *sessionView) find(id string) (*session.Session, *admission.SessionInfo, error) {
	s, unknown := p.sessions.Find(id)
	if unknown == nil {
		return s, nil, nil
	}
	if p.durable == nil {
		return nil, nil, unknown
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	info, err := p.admission.Sessions.Find(ctx, id)
	switch {
	case errors.Is(err, admission.ErrNoSession):
		return nil, nil, unknown
	case err != nil:
		return nil, nil, fmt.Errorf("looking for session %q: %w", id, err)
	}
	return remoteSession(info), &info, nil
}

// remoteSession returns a session of another process, as described by info.
func remoteSession(info admission.SessionInfo) *session.Session {
	a := session.ReadAbout(info.About)
	return &session.Session{ID: info.Session, Principal: info.Principal, By: cmp.Or(a.By, "connection"), Label: a.Label, Since: info.Since}
}

// netShadow returns the entry for a net in a report on shadow mode, or nil if the net is not in
// shadow mode.
func netShadow(r gate.ShadowReport, net string) *operator.NetShadow {
	for _, n := range r.Nets {
		if n.Name == net {
			return &operator.NetShadow{Enforced: n.Enforced.String(), Parted: n.Parted, Refused: n.Refused, Asked: n.Asked}
		}
	}
	return nil
}

// Shadow reports on the nets in shadow mode in one session or, if the session ID is empty, in all
// sessions since the proxy started.
func (p *sessionView) Shadow(id string) (operator.ShadowInfo, error) {
	sessions := p.sessions.All()
	if id != "" {
		s, _, err := p.find(id)
		if err != nil {
			return operator.ShadowInfo{}, err
		}
		sessions = []*session.Session{s}
	}
	counted := p.admission.Counts(id)
	r := operator.ShadowInfo{
		Policy: p.admission.Generation().Policy.Shadow(), Refused: counted.Refused, Asked: counted.Asked,
		Would: counted.Would, Nets: []operator.ShadowNet{},
	}
	for _, s := range sessions {
		state, err := p.pool.Snapshot(s)
		if err != nil { // the session has just ended
			continue
		}
		report := state.Policy().ShadowOf(state)
		for _, n := range report.Nets {
			if n.Active {
				r.Nets = append(r.Nets, operator.ShadowNet{Session: s.ID, Net: n.Name, Actual: n.Actual.String(), NetShadow: *netShadow(report, n.Name)})
			}
		}
	}
	return r, nil
}
