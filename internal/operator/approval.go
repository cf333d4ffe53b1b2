package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// An ApprovalInfo describes an approval request: the call, the rules that require the approval, the
// state of the request, and its answers.
type ApprovalInfo struct {
	ID        string          `json:"id"`
	State     ApprovalState   `json:"state"`
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Upstream  string          `json:"upstream"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // arguments of the call; null if they have been removed or, in a list of approvals, if the call is too long
	Size      int             `json:"size"`      // size of the forwarded arguments in bytes
	SHA256    string          `json:"sha256"`
	Rules     []string        `json:"rules"`
	Steps     []ApprovalStep  `json:"steps,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Answered  time.Time       `json:"answered,omitzero"`   // when the request was answered; zero if it has not been answered
	Stands    time.Time       `json:"stands,omitzero"`     // end of the cooldown after a denial, during which the same call is refused without asking again
	PIN       bool            `json:"pin,omitempty"`       // whether answers through the channels cli, web and url require the approval PIN
	Needs     int             `json:"needs,omitempty"`     // number of people who must approve the call, or 0 if one is enough
	Approvals int             `json:"approvals,omitempty"` // number of people who have approved so far
	Question  string          `json:"question,omitempty"`  // text that the person must read before answering; empty in a list of approvals
	Shown     string          `json:"shown,omitempty"`     // hash of the question, ignoring the remaining time; see [Answer.Shown]

	Client     string          `json:"client,omitempty"`   // client name and version, as reported by the client
	Via        string          `json:"via,omitempty"`      // only channel that the rule allows for answers; empty if it allows all configured channels
	Channels   []string        `json:"channels,omitempty"` // channels that have shown this request; only answers through these channels count
	Beside     json.RawMessage `json:"beside,omitempty"`   // members of the request's params that are forwarded in addition to the arguments and _meta
	Meta       json.RawMessage `json:"meta,omitempty"`     // _meta member of the request's params, as forwarded
	Masked     int             `json:"masked,omitempty"`   // number of values masked in Arguments, Beside and Meta; Size and SHA256 describe the unmasked arguments
	Warnings   []string        `json:"warnings,omitempty"` // warnings about text that might mislead a person
	Definition string          `json:"definition"`         // hash of the tool's definition
	Policy     string          `json:"policy"`             // fingerprint of the policy that requires the approval

	// The following fields compare the call with an earlier one: the last call to this tool that
	// was approved for the same principal.
	LastApproved    *time.Time   `json:"lastApproved,omitempty"` // when the earlier call was approved; nil if this proxy does not know of an earlier call
	LastApproval    string       `json:"lastApproval,omitempty"` // ID of the earlier call's approval
	Redefined       bool         `json:"redefined,omitempty"`    // whether the tool's definition has changed since the earlier call was approved
	NotCompared     bool         `json:"notCompared,omitempty"`  // whether the arguments could not be compared, because one of the calls has arguments that are too long or only partly known
	Differences     []Difference `json:"differences,omitempty"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // number of differences left out of Differences

	Rejections []Rejection `json:"rejections,omitempty"` // answers that were rejected
}

// ApprovalOf converts an approval record to an [ApprovalInfo]. pin is true if the proxy requires a
// PIN. The where function formats the position of a rule for people.
func ApprovalOf(a approval.Record, pin bool, where func(gate.Position) string) ApprovalInfo {
	r, c, said := a.Request, a.Call, a.Answer
	info := ApprovalInfo{
		ID: r.ID, State: said.State, Session: c.Session, Principal: c.Principal,
		Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Shown(), Size: c.Size, SHA256: c.SHA256,
		Rules: []string{}, Created: r.Created, Expires: r.Expires,
		Channel: said.Channel, Actor: said.Actor, Reason: said.Reason, Answered: said.At, Stands: a.Stands, PIN: pin,
		Client: c.Client, Via: r.Via, Beside: c.Beside, Meta: c.ShownMeta(), Masked: c.Masked, Warnings: c.Warnings,
		Definition: r.Key.Definition, Policy: r.Key.Policy,
	}
	if said.State == Pending {
		info.Channels = a.Open
	}
	if r.Needs > 1 {
		info.Needs, info.Approvals = r.Needs, said.Approvals
	}
	for _, s := range a.Steps {
		info.Rules = append(info.Rules, cmp.Or(where(s.Rule), s.Net))
		info.Steps = append(info.Steps, ApprovalStep{Net: s.Net, Transition: s.Transition, Rule: where(s.Rule), Reason: s.Reason})
	}
	info.Rejections = list.Map(a.Rejections, func(r approval.Rejection) Rejection { return Rejection(r) })
	if since := a.Since; since != nil {
		info.LastApproved, info.LastApproval, info.Redefined, info.NotCompared = &since.At, since.Approval, since.Redefined, since.TooLong
		info.MoreDifferences = since.More
		info.Differences = list.Map(since.Changes, func(c approval.Change) Difference { return Difference(c) })
	}
	return info
}

// An ApprovalStep describes a transition that will fire if the call is approved, along with the
// rule that requires the approval.
type ApprovalStep struct {
	Net        string `json:"net"`
	Transition string `json:"transition"`
	Rule       string `json:"rule,omitempty"`
	Reason     string `json:"reason"`
}

// A Difference is a change to the arguments of a call or to the definition of a tool, as shown to
// people. If the values are masked, the old and the new value may look the same.
type Difference struct {
	Path string          `json:"path"`
	Was  json.RawMessage `json:"was,omitempty"` // old value; nil if the value was added
	Is   json.RawMessage `json:"is,omitempty"`  // new value; nil if the value was removed
}

// A Rejection describes a rejected answer to an approval request.
type Rejection struct {
	Kind    string    `json:"kind"` // why the answer was rejected: "late" if it came too late, or "own" if the caller tried to approve its own call
	Approve bool      `json:"approve"`
	Channel string    `json:"channel"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
}

// String describes the rejection for people. The description does not include the answer's Reason.
func (r Rejection) String() string {
	why := map[string]string{approval.TooLate: "too late", approval.OwnCall: "of whoever makes the call"}[r.Kind]
	return fmt.Sprintf("%s: %s by %s via %s", why, map[bool]string{true: "approved", false: "denied"}[r.Approve], text.Escape(r.Actor), r.Channel)
}

// An ApprovalState is the state of an approval request.
type ApprovalState = approval.State

// The states of an approval request. All except Pending and Approved are final.
const (
	Pending   = approval.Pending
	Approved  = approval.Approved
	Denied    = approval.Denied
	Expired   = approval.Expired
	Withdrawn = approval.Withdrawn
	Consumed  = approval.Consumed
)

// An Answer is a person's answer to an approval request.
type Answer struct {
	Approve bool
	Channel string // channel of the answer
	Person  string // identity of the person, authenticated through the channel; empty if the channel cannot tell who answers
	Actor   string // person's name, as shown in records
	Reason  string
	Shown   string // hash of the question that the person read, as in [ApprovalInfo.Shown]; empty if unknown
	Grant   *Grant // grant to create along with the approval, or nil
	PIN     string // PIN as typed by the person, if the approval requires one
}

// ChannelCLI is the channel for answers given at a terminal.
const ChannelCLI = approval.CLI
