package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// This file is what people see of approvals, and the one door for their answers.

// An ApprovalInfo is one question to a person.
type ApprovalInfo struct {
	ID        string          `json:"id"`
	State     ApprovalState   `json:"state"`
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Upstream  string          `json:"upstream"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // null in a list where they are long, and where they are not kept
	Size      int             `json:"size"`      // of the arguments, in bytes
	SHA256    string          `json:"sha256"`
	Rules     []string        `json:"rules"`
	Steps     []ApprovalStep  `json:"steps,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Answered  time.Time       `json:"answered,omitzero"`   // when
	Stands    time.Time       `json:"stands,omitzero"`     // until when a denial does: the same call is refused, and no one is asked
	PIN       bool            `json:"pin,omitempty"`       // to approve it by cli, web or url, a person has to type the PIN
	Needs     int             `json:"needs,omitempty"`     // different persons, where it is more than one
	Approvals int             `json:"approvals,omitempty"` // of them, who have approved
	Question  string          `json:"question,omitempty"`  // as a person is shown it; not in a list
	Shown     string          `json:"shown,omitempty"`     // digest of it, without the time that is left

	Client     string          `json:"client,omitempty"`   // its name and version, as it says
	Via        string          `json:"via,omitempty"`      // the only channel by which it may be answered
	Channels   []string        `json:"channels,omitempty"` // by which an answer counts now: where it was put
	Beside     json.RawMessage `json:"beside,omitempty"`   // what is forwarded beside the arguments
	Meta       json.RawMessage `json:"meta,omitempty"`     // the _meta that is forwarded
	Masked     int             `json:"masked,omitempty"`   // values of all three that are masked; Size and SHA256 are those of what is forwarded
	Warnings   []string        `json:"warnings,omitempty"` // of what may mislead a person
	Definition string          `json:"definition"`         // of the tool, by its hash
	Policy     string          `json:"policy"`             // that asks, by its fingerprint

	// What differs from the last call of the tool that was approved for the principal.
	LastApproved    *time.Time   `json:"lastApproved,omitempty"` // nil: none was, as far as this proxy knows
	LastApproval    string       `json:"lastApproval,omitempty"` // its id
	Redefined       bool         `json:"redefined,omitempty"`    // the definition of the tool was another one then
	NotCompared     bool         `json:"notCompared,omitempty"`  // the arguments of one of the two are too long
	Differences     []Difference `json:"differences,omitempty"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // that are not listed

	Rejections []Rejection `json:"rejections,omitempty"` // answers that do not count
}

// An ApprovalStep is a transition that fires if the call is approved, and the rule that has a
// person asked for it.
type ApprovalStep struct {
	Net        string `json:"net"`
	Transition string `json:"transition"`
	Rule       string `json:"rule,omitempty"`
	Reason     string `json:"reason"`
}

// A Difference is a value of the arguments that is another one than in the last call that was
// approved, as people see it: two that are masked may look the same.
type Difference struct {
	Path string          `json:"path"`
	Was  json.RawMessage `json:"was,omitempty"` // nil: it was not there
	Is   json.RawMessage `json:"is,omitempty"`  // nil: it is gone
}

// A Rejection is what a person said to an approval, where it does not count. It is on record,
// and has changed nothing.
type Rejection struct {
	Kind    string    `json:"kind"` // why: late, or own, where who calls has approved
	Approve bool      `json:"approve"`
	Channel string    `json:"channel"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
}

// String is r for people, without the reason.
func (r Rejection) String() string {
	why := map[string]string{approval.TooLate: "too late", approval.OwnCall: "of whoever makes the call"}[r.Kind]
	return fmt.Sprintf("%s: %s by %s via %s", why, map[bool]string{true: "approved", false: "denied"}[r.Approve], text.Escape(r.Actor), r.Channel)
}

// ApprovalState is where a question stands.
type ApprovalState string

// The states of an approval. All but Pending and Approved are final.
const (
	Pending   = ApprovalState(approval.Pending)
	Approved  = ApprovalState(approval.Approved)
	Denied    = ApprovalState(approval.Denied)
	Expired   = ApprovalState(approval.Expired)
	Withdrawn = ApprovalState(approval.Withdrawn)
	Consumed  = ApprovalState(approval.Consumed)
)

// Word is the state as people read it. Programs read the state itself.
func (s ApprovalState) Word() string { return approval.State(s).Word() }

// maxListed is how many bytes of arguments a list of approvals gives: it stays
// small whatever is asked about.
const maxListed = 1 << 10

// Approvals lists the questions that wait and those that were answered lately.
// It renders none of them, and leaves differences and long arguments out.
func (p *Proxy) Approvals() []ApprovalInfo {
	list := []ApprovalInfo{}
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

// Approval is one question, whole, as a person is shown it.
func (p *Proxy) Approval(id string) (ApprovalInfo, error) {
	a, ok := p.approvals.Find(id)
	if !ok {
		return ApprovalInfo{}, fmt.Errorf("no approval %q", id)
	}
	info := p.approvalInfo(a)
	info.Question, info.Shown = a.Text(p.where, p.life.Now()), a.Shown(p.where)
	return info, nil
}

// MaskedApproval is [Proxy.Approval] for a place that is not to see everything: mask returns
// what it may see of the arguments, of _meta and of what else is sent.
func (p *Proxy) MaskedApproval(id string, mask func([]byte) []byte) (ApprovalInfo, error) {
	a, ok := p.approvals.Find(id)
	if !ok {
		return ApprovalInfo{}, fmt.Errorf("no approval %q", id)
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
	a.Since = nil // which shows values of before
	info := p.approvalInfo(a)
	info.Question = a.Text(p.where, p.life.Now())
	return info, nil
}

// PutApproval notes that a question is put to people by a channel. Answers by it count from
// then on, if it is configured and the rules that ask allow it.
func (p *Proxy) PutApproval(id, channel string) error {
	a, ok := p.approvals.Find(id)
	switch {
	case !ok:
		return fmt.Errorf("no approval %q", id)
	case !p.approvals.Put(a.Request, channel):
		return fmt.Errorf("approval %s is not for %s", id, channel)
	}
	return nil
}

// ApprovalState is where a question stands; empty: it is not kept.
func (p *Proxy) ApprovalState(id string) ApprovalState {
	a, ok := p.approvals.Find(id)
	if !ok {
		return ""
	}
	return ApprovalState(p.approvals.Status(a.Request).State)
}

func (p *Proxy) approvalInfo(a approval.Record) ApprovalInfo {
	r, c, said := a.Request, a.Call, a.Answer
	info := ApprovalInfo{
		ID: r.ID, State: ApprovalState(said.State), Session: c.Session, Principal: c.Principal,
		Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Shown(), Size: c.Size, SHA256: c.SHA256,
		Rules: []string{}, Created: r.Created, Expires: r.Expires,
		Channel: said.Channel, Actor: said.Actor, Reason: said.Reason, Answered: said.At, Stands: a.Stands,
		Client: c.Client, Via: r.Via, Beside: c.Beside, Meta: c.ShownMeta(), Masked: c.Masked, Warnings: c.Warnings,
		Definition: r.Key.Definition, Policy: r.Key.Policy,
	}
	if said.State == approval.Pending {
		info.Channels = a.Open
	}
	info.PIN = p.pin != nil
	if r.Needs > 1 {
		info.Needs, info.Approvals = r.Needs, said.Approvals
	}
	for _, s := range a.Steps {
		info.Rules = append(info.Rules, cmp.Or(p.where(s.Rule), s.Net))
		info.Steps = append(info.Steps, ApprovalStep{Net: s.Net, Transition: s.Transition, Rule: p.where(s.Rule), Reason: s.Reason})
	}
	for _, r := range a.Rejections {
		info.Rejections = append(info.Rejections, Rejection(r))
	}
	info.compare(a.Since)
	return info
}

// compare says what differs from the last call that was approved.
func (i *ApprovalInfo) compare(since *approval.Comparison) {
	if since == nil {
		return
	}
	i.LastApproved, i.LastApproval, i.Redefined, i.NotCompared = &since.At, since.Approval, since.Redefined, since.TooLong
	i.MoreDifferences = since.More
	for _, c := range since.Changes {
		i.Differences = append(i.Differences, Difference(c))
	}
}

// An Answer is what a person says to an approval.
type Answer struct {
	Approve bool
	Channel string // by which it came
	Person  string // who it is, as far as the channel proves it; the caller must have found out
	Actor   string // a name for the record
	Reason  string
	Shown   string // [ApprovalInfo.Shown] of the text that the person has read; empty: it is not known
	Grant   *Grant // that the person gives with the approval; nil: none
	PIN     string // that the person has typed, where the approval needs one
}

// ChannelCLI is the channel of an operator at a terminal.
const ChannelCLI = approval.CLI

// Answer notes what a person says. It counts only by a channel that is open, and where
// this approval was put, and for the text that the person has read.
func (p *Proxy) Answer(id string, a Answer) error {
	if a.Channel == ChannelCLI && !slices.Contains(p.options.Approval.Channels, ChannelCLI) {
		return fmt.Errorf("approvals by an operator are off in this proxy")
	}
	if a.Shown != "" {
		if r, ok := p.approvals.Find(id); ok && r.Answer.State == approval.Pending && r.Shown(p.where) != a.Shown {
			return fmt.Errorf("approval %s is not what was shown any more, so it was not answered; look at it again", id)
		}
	}
	if err := checkAnswerPIN(p, id, a); err != nil {
		return err
	}
	if a.Grant != nil {
		return answerAndGrant(p, id, a)
	}
	return p.pipeline.Resolve(a.Person, id, a.Approve, a.Channel, a.Actor, a.Reason)
}

// checkAnswerPIN returns why an approval does not count for want of the PIN. A wrong one goes on
// record. A webhook is another system, whose signature is what it has.
func checkAnswerPIN(p *Proxy, id string, a Answer) error {
	if !a.Approve || a.Channel == approval.Webhook {
		return nil
	}
	r, ok := p.approvals.Find(id)
	if !ok || r.Answer.State != approval.Pending { // it does not count anyway, and tells nothing of the PIN
		return nil
	}
	return checkPIN(p, a.PIN, func() error {
		said := approval.Rejection{Kind: approval.WrongPIN, Approve: true, Channel: a.Channel, Actor: a.Actor, At: p.life.Now()}
		return p.admission.NoteAnswer(p.life.Ctx, said, r)
	})
}

// Resolve is [Proxy.ResolveAs] for a person who is known by the name of the actor.
func (p *Proxy) Resolve(id string, approve bool, actor, reason string) error {
	return p.ResolveAs(actor, id, approve, actor, reason)
}

// ResolveAs answers a question for a person at the command line.
func (p *Proxy) ResolveAs(person, id string, approve bool, actor, reason string) error {
	return p.Answer(id, Answer{Approve: approve, Channel: ChannelCLI, Person: person, Actor: actor, Reason: reason})
}

// ApprovalsChanged returns a channel that is closed with the next change of an approval.
func (p *Proxy) ApprovalsChanged() <-chan struct{} { return p.approvals.Changed() }
