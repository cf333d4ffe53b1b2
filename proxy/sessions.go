package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/text"
)

// A sessionView shows the sessions of a proxy to operators: those of this process and, if states are
// in a database, those of all others.
type sessionView struct{ *parts }

// stateInfo describes the database as far as the proxy knows it.
func (p *sessionView) stateInfo() operator.StateInfo {
	info := operator.StateInfo{Driver: "memory", Unknown: p.unwrittenCalls()}
	if p.durable == nil {
		return info
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	info.Process = p.writerOf()
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

// surveyState counts the records, and lists the open calls of processes that have ended.
func (p *sessionView) surveyState(ctx context.Context) (records uint64, unknown []operator.UnknownCall, err error) {
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
func (p *sessionView) Sessions() []operator.SessionInfo {
	list := []operator.SessionInfo{}
	for _, s := range p.sessions.All() {
		list = append(list, p.describe(s))
	}
	return list
}

// AllSessions lists the sessions, oldest first: those of this process and, if states are in a
// database, all others there. It returns an error if the database cannot be read.
func (p *sessionView) AllSessions() ([]operator.SessionInfo, error) {
	list, all, err := p.listSessions()
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
func (p *sessionView) Session(id string) (operator.SessionInfo, error) {
	s, info, err := p.find(id)
	if err != nil {
		return operator.SessionInfo{}, err
	}
	if info != nil {
		return p.describeRemote(*info), nil
	}
	return p.describe(s), nil
}
