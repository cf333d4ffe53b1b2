package proxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// An approvalControl lists a proxy's approval requests and grants for operators, and handles all
// answers except those from MCP clients. It checks the PIN if one is required.
type approvalControl struct{ *parts }

// maxListed is the maximum total size, in bytes, of a call's params and the transitions that
// require its approval. A list of approvals omits them if they are larger.
const maxListed = 1 << 10

// Approvals lists the pending approval requests, and recent requests that are no longer pending. It
// omits the text of the questions and the differences from earlier calls. If the params of a call
// and the transitions that require approval are together too long for the list, it omits them as
// well.
func (p *approvalControl) Approvals() []operator.ApprovalInfo {
	list := []operator.ApprovalInfo{}
	p.approvals.Refresh(p.life.Ctx)
	for _, a := range p.approvals.List() {
		info := p.approvalInfo(a)
		if a.Request.Size > maxListed {
			info.Arguments, info.Beside, info.Meta, info.Steps = nil, nil, nil, nil
		}
		info.Differences, info.MoreDifferences = nil, 0
		list = append(list, info)
	}
	return list
}

// Approval returns all details of an approval request, including the question shown to people.
func (p *approvalControl) Approval(id string) (operator.ApprovalInfo, error) {
	a, err := recordOf(p.approvals, id)
	if err != nil {
		return operator.ApprovalInfo{}, err
	}
	info := p.approvalInfo(a)
	info.Question, info.Shown = a.Text(p.where, p.life.Now()), a.Shown(p.where)
	return info, nil
}

// MaskedApproval is like [Proxy.Approval], but masks values that the recipient must not see. mask
// is called with the arguments, _meta and the other params, and returns their masked form.
func (p *approvalControl) MaskedApproval(id string, mask func([]byte) []byte) (operator.ApprovalInfo, error) {
	a, err := recordOf(p.approvals, id)
	if err != nil {
		return operator.ApprovalInfo{}, err
	}
	if !a.Call.Dropped {
		a.Call.Arguments = mask(a.Call.Shown())
	}
	if a.Call.Beside != nil {
		a.Call.Beside = mask(a.Call.Beside)
	}
	if meta := a.Call.ShownMeta(); meta != nil {
		a.Call.SeenMeta = mask(meta)
	}
	a.Since = nil // the differences would reveal values of an earlier call
	info := p.approvalInfo(a)
	info.Question = a.Text(p.where, p.life.Now())
	return info, nil
}

// PutApproval records that a channel shows a question to people. From then on, answers through that
// channel count, if the channel is configured and the rules allow it.
func (p *approvalControl) PutApproval(id, channel string) error {
	a, err := recordOf(p.approvals, id)
	if err == nil && !p.approvals.Put(a.Request, channel) {
		return fmt.Errorf("approval %s is not for %s", id, channel)
	}
	return err
}

// ApprovalState returns the state of an approval request, or "" if the request is unknown.
func (p *approvalControl) ApprovalState(id string) operator.ApprovalState {
	a, ok := p.approvals.Find(id)
	if !ok {
		return ""
	}
	return p.approvals.Status(a.Request).State
}

func recordOf(b *approval.Broker, id string) (a approval.Record, err error) {
	a, ok := b.Find(id)
	if !ok {
		err = fmt.Errorf("there is no approval %q", id)
	}
	return a, err
}

func (p *approvalControl) approvalInfo(a approval.Record) operator.ApprovalInfo {
	return operator.ApprovalOf(a, p.pin != nil, p.where)
}

// Answer records a person's answer. The answer counts only if it arrives through an open channel
// that shows this approval, and only if the approval has not changed since the person read it.
func (p *approvalControl) Answer(id string, a operator.Answer) error {
	if a.Channel == operator.ChannelCLI && !slices.Contains(p.options.Approval.Channels, operator.ChannelCLI) {
		return fmt.Errorf("operators cannot answer approvals at this proxy")
	}
	if a.Shown != "" {
		if r, ok := p.approvals.Find(id); ok && r.Answer.State == approval.Pending && r.Shown(p.where) != a.Shown {
			return fmt.Errorf("approval %s has changed since it was shown, so it was not answered; look at it again", id)
		}
	}
	if err := p.checkAnswerPIN(id, a); err != nil {
		return err
	}
	if a.Grant != nil {
		return p.answerAndGrant(id, a)
	}
	return p.pipeline.Resolve(a.Person, id, a.Approve, a.Channel, a.Actor, a.Reason)
}

// checkAnswerPIN checks the PIN of an answer that approves a pending request. It returns an error
// if the PIN is wrong or missing, and records a wrong PIN. Webhooks need no PIN, because the
// systems behind them sign their answers.
func (p *approvalControl) checkAnswerPIN(id string, a operator.Answer) error {
	if c, _ := channel.Find(a.Channel); !a.Approve || c.Vouches {
		return nil
	}
	r, ok := p.approvals.Find(id)
	if !ok || r.Answer.State != approval.Pending { // the answer will not count anyway, so the response must not reveal whether the PIN is correct
		return nil
	}
	return p.checkPIN(a.PIN, func() error {
		said := approval.Rejection{Kind: approval.WrongPIN, Approve: true, Channel: a.Channel, Actor: a.Actor, At: p.life.Now()}
		return p.admission.NoteAnswer(p.life.Ctx, said, r)
	})
}

// Resolve is like [Proxy.ResolveAs], but uses actor both as the person's identity and as the name
// shown in records.
func (p *approvalControl) Resolve(id string, approve bool, actor, reason string) error {
	return p.ResolveAs(actor, id, approve, actor, reason)
}

// ResolveAs answers an approval request on behalf of a person at the command line.
func (p *approvalControl) ResolveAs(person, id string, approve bool, actor, reason string) error {
	return p.Answer(id, operator.Answer{Approve: approve, Channel: operator.ChannelCLI, Person: person, Actor: actor, Reason: reason})
}

// ApprovalsChanged returns a channel that is closed when any approval changes.
func (p *approvalControl) ApprovalsChanged() <-chan struct{} { return p.approvals.Changed() }

// granted logs that a grant has approved a call, and calls Approval.Answered, if set.
func (p *approvalControl) granted(r approval.Record) {
	p.life.Log.Info(fmt.Sprintf("approval %s approved by grant %s: %s on %s, by %s via %s", r.Request.ID, r.Answer.Grant,
		text.Escape(r.Call.Tool), text.Escape(r.Call.Upstream), text.Escape(r.Answer.Actor), r.Answer.Channel), logkind.Approval)
	if f := p.options.Approval.Answered; f != nil {
		f(p.approvalInfo(r))
	}
}

// answerAndGrant approves a request, and then creates the grant that the answer asks for. A grant
// approves similar calls for a limited time. If the grant cannot be recorded, the request is
// approved nevertheless.
func (p *approvalControl) answerAndGrant(id string, a operator.Answer) error {
	if !a.Approve {
		return errors.New("only an approval can create a grant, not a denial")
	}
	g, err := p.approvals.Grant(id, approval.Terms(*a.Grant), a.Channel, a.Actor)
	if r, ok := p.approvals.Find(id); err != nil && (!ok || r.Answer.State == approval.Pending) {
		return err
	}
	// Resolve is called even if the answer arrived too late, because it also records such an answer.
	if err := p.pipeline.Resolve(a.Person, id, true, a.Channel, a.Actor, a.Reason); err != nil {
		return err
	}
	if err = p.admission.Note(p.life.Ctx, "grant", g.Key.Session, a.Actor, g.String()); err == nil {
		err = p.approvals.Grants().Add(g)
	}
	if err != nil {
		return fmt.Errorf("approval %s is approved, but without a grant: %w", id, err)
	}
	return nil
}

// Grants lists the valid grants, oldest first. A grant approves similar calls for a limited time.
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
		p.life.Log.Warn("could not remove the grants of a session that has ended", "session", session, "error", err)
	}
}

// Revoke ends a grant. Later calls require approval again.
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

// checkOrderPIN checks the operator's PIN if approvals require one. It returns an error if the PIN
// is wrong or missing. It must be called before any change by an operator that could let a call
// pass. A wrong PIN is recorded together with the requested change.
func (p *approvalControl) checkOrderPIN(a operator.Actor, session, order string) error {
	return p.checkPIN(a.PIN, func() error {
		return p.admission.Note(p.life.Ctx, "wrong pin", session, a.Name, "to "+order)
	})
}

// checkPIN returns an error if the typed PIN is wrong or missing. It calls note to record a wrong
// PIN.
func (p *approvalControl) checkPIN(typed string, note func() error) error {
	err := p.pin.Check(typed)
	if err == nil || errors.Is(err, pin.ErrMissing) {
		return err
	}
	return errors.Join(err, note())
}
