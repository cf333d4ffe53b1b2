package proxy

import (
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// A Grant is what a person gives with an approval: for a while, calls like the approved one
// pass without a question. They are calls of the same session and principal to the same tool,
// under the same policy, whose arguments have the same members, with values of the same kinds.
type Grant struct {
	For  time.Duration
	Like []string // the arguments whose values have to be the same, by name or path; empty: all

	Session bool `json:",omitempty"` // until the session ends, after a day at the latest, instead of For
}

// Span says for how long g is, after the word "for".
func (g Grant) Span() string {
	if g.Session {
		return "the session, a day at most"
	}
	return text.Exact(g.For)
}

// A GrantInfo is a grant that is valid.
type GrantInfo struct {
	ID        string     `json:"id"`
	Approval  string     `json:"approval"` // that it was given with
	Session   string     `json:"session"`
	Principal string     `json:"principal"`
	Client    string     `json:"client,omitempty"`
	Upstream  string     `json:"upstream"`
	Tool      string     `json:"tool"`
	Like      []GrantPin `json:"like"`
	Channel   string     `json:"channel"`
	Actor     string     `json:"actor"`
	Created   time.Time  `json:"created"`
	Until     time.Time  `json:"until"`
	ToEnd     bool       `json:"toEnd,omitempty"` // it ends with its session, and at Until at the latest
	Uses      int        `json:"uses"`
}

// A GrantPin is an argument that has to stay as it is.
type GrantPin struct {
	Field string `json:"field"` // empty: all arguments
	Value string `json:"value"` // its beginning
}

// answerAndGrant approves an approval, and gives the grant. What cannot be put on record is
// not given.
func answerAndGrant(p *Proxy, id string, a Answer) error {
	if !a.Approve {
		return errors.New("a grant is given with an approval, not with a denial")
	}
	g, err := p.approvals.Grant(id, approval.Terms(*a.Grant), a.Channel, a.Actor)
	if r, ok := p.approvals.Find(id); err != nil && (!ok || r.Answer.State == approval.Pending) {
		return err
	}
	// That it is too late for an answer is put on record.
	if err := p.pipeline.Resolve(a.Person, id, true, a.Channel, a.Actor, a.Reason); err != nil {
		return err
	}
	if err = p.admission.Note(p.life.Ctx, "grant", g.Key.Session, a.Actor, g.String()); err == nil {
		err = p.approvals.Grants().Add(g)
	}
	if err != nil {
		return fmt.Errorf("approval %s is approved, but the grant is not given: %w", id, err)
	}
	return nil
}

// tellGranted logs that a grant has approved a call, and tells who follows answers.
func tellGranted(p *Proxy) func(approval.Record) {
	return func(r approval.Record) {
		p.life.Log.Info(fmt.Sprintf("approval %s approved by grant %s: %s on %s, by %s via %s", r.Request.ID, r.Answer.Grant,
			text.Escape(r.Call.Tool), text.Escape(r.Call.Upstream), text.Escape(r.Answer.Actor), r.Answer.Channel), logkind.Approval)
		if f := p.options.Approval.Answered; f != nil {
			f(p.approvalInfo(r))
		}
	}
}

// Grants lists the grants that are valid, the oldest first.
func (p *Proxy) Grants() []GrantInfo {
	p.approvals.Refresh(p.life.Ctx)
	list := []GrantInfo{}
	for _, g := range p.approvals.Grants().List() {
		info := GrantInfo{
			ID: g.ID, Approval: g.Approval, Session: g.Key.Session, Principal: g.Principal, Client: g.Client, Upstream: g.Upstream, Tool: g.Tool,
			Like: []GrantPin{}, Channel: g.Channel, Actor: g.Actor, Created: g.Created, Until: g.Until, ToEnd: g.ToEnd, Uses: g.Uses,
		}
		for _, pin := range g.Pins {
			info.Like = append(info.Like, GrantPin{pin.Field, pin.Value})
		}
		list = append(list, info)
	}
	return list
}

// endGrants ends the grants of a session that has ended.
func endGrants(p *Proxy, session string) {
	if err := p.approvals.Grants().EndSession(session); err != nil {
		p.life.Log.Warn("grants of a session that has ended are still listed", "session", session, "error", err)
	}
}

// Revoke ends a grant. The next call is asked about.
func (p *Proxy) Revoke(id, actor string) error {
	p.approvals.Refresh(p.life.Ctx)
	g, err := p.approvals.Grants().Revoke(id)
	if err != nil {
		return err
	}
	if err := p.admission.Note(p.life.Ctx, "revoke", g.Key.Session, actor, text.Escape(g.ID)); err != nil {
		return fmt.Errorf("grant %s is revoked, but that is not on record: %w", id, err)
	}
	return nil
}
