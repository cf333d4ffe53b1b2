package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// lookups is the timeout of database queries for an operator.
const lookups = 10 * time.Second

// stateInfo describes the database as far as the proxy knows it.
func (p *Proxy) stateInfo() operator.StateInfo {
	info := operator.StateInfo{Driver: "memory", Unknown: unwrittenCalls(p)}
	if p.durable == nil {
		return info
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookups)
	defer cancel()
	info.Process = writerOf(p)
	err := p.durable.Ready()
	if err == nil || errors.Is(err, audit.ErrUnrecorded) { // ErrUnrecorded concerns the audit file, not the database
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

// unwrittenCalls lists the calls whose outcomes this process knows but could not record.
func unwrittenCalls(p *Proxy) []operator.UnknownCall {
	list := []operator.UnknownCall{}
	for _, e := range p.admission.Unwritten.List() {
		list = append(list, operator.UnknownCall{Session: e.Session, Process: writerOf(p), Call: e.Call, Tool: e.Tool, Since: e.Since, Outcome: e.Outcome})
	}
	return list
}

// unwrittenOf marks the calls of a session whose outcomes could not be recorded, and adds those
// that are missing in calls because the database was unavailable.
func unwrittenOf(p *Proxy, session string, calls []operator.CallInfo) []operator.CallInfo {
	for _, e := range unwrittenCalls(p) {
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

// lostOf returns the numbers of the open calls of a session whose processes have ended.
func lostOf(p *Proxy, k admission.Key) map[uint64]bool {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookups)
	defer cancel()
	lost, err := p.durable.LostOf(ctx, k)
	if err != nil {
		return nil // the caller has just read the session and reports errors itself
	}
	return lost
}

// writerOf returns the name of this process in the database, or an empty string without a database.
func writerOf(p *Proxy) string {
	if p.options.Database == nil {
		return ""
	}
	return p.options.Database.Writer()
}

// surveyState counts the records, and lists the open calls of processes that have ended.
func (p *Proxy) surveyState(ctx context.Context) (records uint64, unknown []operator.UnknownCall, err error) {
	if records, err = store.Stored(ctx, p.options.Database); err != nil {
		return 0, nil, err
	}
	lost, err := p.durable.Lost(ctx)
	for _, c := range lost {
		unknown = append(unknown, operator.UnknownCall{Session: c.Session, Process: c.Process, Call: c.Call, Tool: c.Tool, Since: c.Since})
	}
	return records, unknown, err
}

// Sessions lists the sessions of this process, oldest first.
func (p *Proxy) Sessions() []operator.SessionInfo {
	list := []operator.SessionInfo{}
	for _, s := range p.sessions.All() {
		list = append(list, p.describe(s))
	}
	return list
}

// AllSessions lists the sessions, oldest first: those of this process and, if states are in a
// database, all others there. It returns an error if the database cannot be read.
func (p *Proxy) AllSessions() ([]operator.SessionInfo, error) {
	list, all, err := listed(p)
	for i := range list {
		if state, err := p.pool.Snapshot(all[list[i].ID]); err == nil { // otherwise it has ended meanwhile
			list[i].Nets = netsOf(state)
		}
		if p.durable == nil {
			list[i].Used = time.Time{}
		}
	}
	return list, err
}

// Session returns the state of one session.
func (p *Proxy) Session(id string) (operator.SessionInfo, error) {
	s, info, err := p.find(id)
	if err != nil {
		return operator.SessionInfo{}, err
	}
	if info != nil {
		return p.describeElsewhere(*info), nil
	}
	return p.describe(s), nil
}

// isLocal returns the session if this process has it, and otherwise nil.
func (p *Proxy) isLocal(id string) *session.Session {
	s, err := p.sessions.Find(id)
	if err != nil {
		return nil
	}
	return s
}

// find returns a session of this process or, with its description from the database, a session of
// another process.
func (p *Proxy) find(id string) (*session.Session, *admission.SessionInfo, error) {
	s, unknown := p.sessions.Find(id)
	if unknown == nil {
		return s, nil, nil
	}
	if p.durable == nil {
		return nil, nil, unknown
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookups)
	defer cancel()
	info, err := p.admission.Find(ctx, id)
	switch {
	case errors.Is(err, admission.ErrNoSession):
		return nil, nil, unknown
	case err != nil:
		return nil, nil, fmt.Errorf("looking for session %q: %w", id, err)
	}
	return elsewhere(info), &info, nil
}

// elsewhere returns a session that this process does not serve.
func elsewhere(info admission.SessionInfo) *session.Session {
	a := session.ReadAbout(info.About)
	by := a.By
	if by == "" {
		by = "connection"
	}
	return &session.Session{ID: info.Session, Principal: info.Principal, By: by, Label: a.Label, Since: info.Since}
}

func (p *Proxy) describeElsewhere(s admission.SessionInfo) operator.SessionInfo {
	return placed(p.describe(elsewhere(s)), s)
}

// placed adds the information from the database to a session of another process.
func placed(info operator.SessionInfo, s admission.SessionInfo) operator.SessionInfo {
	info.Used, info.Process, info.Gone = s.Used, s.Process, s.Gone
	return info
}
