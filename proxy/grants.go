package proxy

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// answerAndGrant approves a request and creates the grant. A grant that cannot be recorded is not
// created.
func (p *approvalControl) answerAndGrant(id string, a operator.Answer) error {
	if !a.Approve {
		return errors.New("a grant is given with an approval, not with a denial")
	}
	g, err := p.approvals.Grant(id, approval.Terms(*a.Grant), a.Channel, a.Actor)
	if r, ok := p.approvals.Find(id); err != nil && (!ok || r.Answer.State == approval.Pending) {
		return err
	}
	// An answer that comes too late is recorded.
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

// Grants lists the valid grants, oldest first.
func (p *approvalControl) Grants() []operator.GrantInfo {
	p.approvals.Refresh(p.life.Ctx)
	list := []operator.GrantInfo{}
	for _, g := range p.approvals.Grants().List() {
		list = append(list, operator.GrantOf(&g))
	}
	return list
}

// endGrants ends the grants of a session that has ended.
func (p *approvalControl) endGrants(session string) {
	if err := p.approvals.Grants().EndSession(session); err != nil {
		p.life.Log.Warn("grants of a session that has ended are still listed", "session", session, "error", err)
	}
}

// Revoke ends a grant. Later calls need an approval again.
func (p *approvalControl) Revoke(id, actor string) error {
	p.approvals.Refresh(p.life.Ctx)
	g, err := p.approvals.Grants().Revoke(id)
	if err != nil {
		return err
	}
	if err := p.admission.Note(p.life.Ctx, "revoke", g.Key.Session, actor, text.Escape(g.ID)); err != nil {
		return fmt.Errorf("grant %s is revoked, but recording that failed: %w", id, err)
	}
	return nil
}
