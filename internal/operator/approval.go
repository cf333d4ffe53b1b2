package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
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
	Arguments json.RawMessage `json:"arguments"` // null in a list if they are long, and where the store keeps no arguments
	Size      int             `json:"size"`      // size of the forwarded arguments, in bytes
	SHA256    string          `json:"sha256"`
	Rules     []string        `json:"rules"`
	Steps     []ApprovalStep  `json:"steps,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Answered  time.Time       `json:"answered,omitzero"`   // time of the answer
	Stands    time.Time       `json:"stands,omitzero"`     // end of a denial's cooldown: until then the same call is refused without a question
	PIN       bool            `json:"pin,omitempty"`       // approving by cli, web or url requires the PIN
	Needs     int             `json:"needs,omitempty"`     // number of different persons who must approve, if more than one
	Approvals int             `json:"approvals,omitempty"` // number of persons who have approved so far
	Question  string          `json:"question,omitempty"`  // text that a person is shown; empty in a list
	Shown     string          `json:"shown,omitempty"`     // digest of Question without the remaining time

	Client     string          `json:"client,omitempty"`   // name and version that the client claims
	Via        string          `json:"via,omitempty"`      // the only channel that the rule allows; empty: every configured one
	Channels   []string        `json:"channels,omitempty"` // channels that showed this request; answers by others do not count
	Beside     json.RawMessage `json:"beside,omitempty"`   // members of the params that are forwarded with the arguments
	Meta       json.RawMessage `json:"meta,omitempty"`     // the forwarded _meta
	Masked     int             `json:"masked,omitempty"`   // number of masked values in Arguments, Beside and Meta; Size and SHA256 describe the forwarded bytes
	Warnings   []string        `json:"warnings,omitempty"` // warnings about text that could mislead a person
	Definition string          `json:"definition"`         // hash of the tool's definition
	Policy     string          `json:"policy"`             // fingerprint of the policy that requires the approval

	// Differences from the last call of the tool that was approved for the same principal.
	LastApproved    *time.Time   `json:"lastApproved,omitempty"` // nil: this proxy knows of no approved call
	LastApproval    string       `json:"lastApproval,omitempty"` // id of that approval
	Redefined       bool         `json:"redefined,omitempty"`    // the tool's definition has changed since
	NotCompared     bool         `json:"notCompared,omitempty"`  // the arguments of one of the two calls are too long to compare
	Differences     []Difference `json:"differences,omitempty"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // number of further differences

	Rejections []Rejection `json:"rejections,omitempty"` // answers that did not count
}

// ApprovalOf converts an approval record. pin tells whether the proxy requires a PIN. The function
// where formats the position of a rule for people.
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
	for _, r := range a.Rejections {
		info.Rejections = append(info.Rejections, Rejection(r))
	}
	if since := a.Since; since != nil {
		info.LastApproved, info.LastApproval, info.Redefined, info.NotCompared = &since.At, since.Approval, since.Redefined, since.TooLong
		info.MoreDifferences = since.More
		for _, c := range since.Changes {
			info.Differences = append(info.Differences, Difference(c))
		}
	}
	return info
}

// An ApprovalStep is a transition that will fire if the call is approved, with the rule that
// requires the approval.
type ApprovalStep struct {
	Net        string `json:"net"`
	Transition string `json:"transition"`
	Rule       string `json:"rule,omitempty"`
	Reason     string `json:"reason"`
}

// A Difference is an argument value that has changed, in the form shown to people. Two masked
// values may look alike.
type Difference struct {
	Path string          `json:"path"`
	Was  json.RawMessage `json:"was,omitempty"` // nil: the value is new
	Is   json.RawMessage `json:"is,omitempty"`  // nil: the value was removed
}

// A Rejection records an answer that was not accepted and changed nothing.
type Rejection struct {
	Kind    string    `json:"kind"` // reason: late, or own if the caller approved the call
	Approve bool      `json:"approve"`
	Channel string    `json:"channel"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
}

// String describes the rejection for people. It omits the reason given with the answer.
func (r Rejection) String() string {
	why := map[string]string{approval.TooLate: "too late", approval.OwnCall: "of whoever makes the call"}[r.Kind]
	return fmt.Sprintf("%s: %s by %s via %s", why, map[bool]string{true: "approved", false: "denied"}[r.Approve], text.Escape(r.Actor), r.Channel)
}

// An ApprovalState is the state of an approval request.
type ApprovalState = approval.State

// States of an approval request. All except Pending and Approved are final.
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
	Channel string // channel through which the answer came
	Person  string // person authenticated by the channel; the caller must have verified this
	Actor   string // name to record
	Reason  string
	Shown   string // [ApprovalInfo.Shown] of the text that the person has read; empty if unknown
	Grant   *Grant // grant to create together with the approval, or nil
	PIN     string // PIN as typed, if the approval requires one
}

// ChannelCLI is the channel for operators at a terminal.
const ChannelCLI = approval.CLI
