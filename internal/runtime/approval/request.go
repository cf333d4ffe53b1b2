package approval

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Key identifies the one call that an approval is valid for.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes returns an unambiguous encoding of k.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// A Call is the call that a person is asked about, with exactly the values that are forwarded.
type Call struct {
	Upstream, Tool  string // names used by the upstream
	Arguments       []byte // source bytes, or the displayed form in a [Record]; empty: no arguments
	Size            int    // size of the forwarded arguments
	SHA256          string // digest of the forwarded arguments
	Beside, Meta    []byte // other forwarded objects; may be nil
	Session, Client string
	Principal       string
	Ignored         []string `json:",omitempty"` // arguments left out of the identity: an approval also covers other values of them

	Own     bool `json:",omitempty"` // Upstream is an agent that asks about its own tool through a hook
	Dropped bool // the call cannot run any more, and its contents were removed

	// Set by the broker.
	SeenMeta []byte   `json:",omitempty"` // displayed form of Meta, if parts of it are masked
	Masked   int      `json:",omitempty"` // number of masked values
	Warnings []string `json:",omitempty"` // warnings about misleading content

	exact     []byte // arguments as forwarded; nil: unknown, or too long to compare
	given     int    // size of the arguments and other objects before masking
	copied    int    // bytes copied from the message
	presented bool   // present has been called
}

// Subject returns the tool and its owner for display: an upstream, or the agent itself.
func (c Call) Subject() string {
	whose := " on upstream "
	if c.Own {
		whose = " of "
	}
	return text.Escape(c.Tool) + whose + text.Escape(c.Upstream)
}

// Shown returns the arguments as displayed, or nil if they were removed.
func (c Call) Shown() []byte {
	switch {
	case c.Dropped:
		return nil
	case len(c.Arguments) == 0:
		return []byte("{}")
	}
	return c.Arguments
}

// ignoredPresent returns the ignored arguments that the call has.
func (c Call) ignoredPresent() []string {
	return slices.DeleteFunc(slices.Clone(c.Ignored), func(field string) bool {
		_, has := rawjson.Member(c.Arguments, field)
		return !has
	})
}

// ShownMeta returns the displayed form of _meta.
func (c Call) ShownMeta() []byte {
	if c.SeenMeta != nil {
		return c.SeenMeta
	}
	return c.Meta
}

// bytes returns the size of the client-supplied parts of c and of the steps.
func (c Call) bytes(steps []gate.Step) int {
	n := max(c.given, len(c.Arguments)+len(c.Beside)+len(c.Meta)+len(c.SeenMeta)) + len(c.Client)
	for _, s := range steps {
		n += len(s.Name) + len(s.Reason)
	}
	return n
}

// A State is the state of a request.
type State string

// The states of a request. All but Pending and Approved are final.
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Denied    State = "denied"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
	Consumed  State = "consumed"
)

// Word returns the state for display: a consumed approval is shown as "used".
func (s State) Word() string {
	if s == Consumed {
		return "used"
	}
	return string(s)
}

// Channels through which people answer; their properties are in package channel.
const (
	Elicit  = channel.Elicit
	URL     = channel.URL
	Web     = channel.Web
	CLI     = channel.CLI
	Webhook = channel.Webhook
)

// listed reports whether the channel shows every request that it can answer, without a notice.
func listed(name string) bool {
	c, _ := channel.Find(name)
	return c.Lists
}

// A Question is what a person is asked.
type Question struct {
	Call  Call // the call; without its long parts after the request has ended
	Steps []gate.Step
	Since *Comparison `json:",omitempty"` // comparison with the last approved call; nil: none
}

// Conditions restrict how a request may be answered. They never change.
type Conditions struct {
	Via   string // the only allowed channel; empty: any
	Needs int    // number of different people who must approve, at least 1
	Size  int    // client-supplied bytes
}

// Progress is the changeable part of a request: its answers and its end.
type Progress struct {
	Answer     Answer
	Approvers  []approver  `json:",omitempty"` // people who have approved so far
	Shared     bool        `json:",omitempty"` // calls at several brokers wait for the request
	Unasked    bool        `json:",omitempty"` // the client reported that it asked no person
	Stands     time.Time   // time until which a denial is in force; zero: not denied
	Rejections []Rejection `json:",omitempty"` // answers that do not count, oldest first
}

// A Request asks a person to approve one call. Its [Broker] holds its state.
type Request struct {
	ID  string
	Key Key
	Conditions
	Created time.Time
	Expires time.Time

	channels []string      // channels that may answer: configured, and allowed by the rules
	answered chan struct{} // closed when the request stops being pending
	unasked  chan struct{} // closed when the client reports that it asked no person

	accounts [3]*account // accounts of its session, its principal, and all callers
	opened   atomic.Bool // the client reported that a person opened the page

	// Guarded by Broker.mu.
	question  Question
	progress  Progress
	open      []string      // channels where it was shown
	waiters   int           // calls that wait for the answer
	shown     chan struct{} // non-nil while the client of the session shows the request; closed afterwards
	charged   int           // bytes charged to its accounts
	version   int64         // version in the store; without a store, the number of changes
	parked    bool          // a call was told to come back for the answer
	announced bool          // the request was announced
	claimed   bool          // a call is about to use the approval
	foreign   bool          // opened by another broker
	stale     bool          // the store has a newer state
	refused   bool          // the store refused its use
	endedAt   time.Time

	element       *list.Element // element in one of the broker's lists
	recentElement *list.Element // element in Broker.recent, or nil
	endedElement  *list.Element // element in the list of ended requests of its principal
}

// live reports whether the call of q can still run.
func (q *Request) live() bool { return isLive(q.progress.Answer.State) }

func (q *Request) record() Record {
	return Record{q, q.question, slices.Clone(q.open), q.progress}
}

// A Record is a snapshot of a request.
type Record struct {
	Request *Request
	Question
	Open []string // channels where it was shown
	Progress
}

// Answered returns a channel that is closed when the request stops being pending.
func (q *Request) Answered() <-chan struct{} { return q.answered }

// Unasked returns a channel that is closed when a channel reports that it showed the request to no
// person.
func (q *Request) Unasked() <-chan struct{} { return q.unasked }

// WasUnasked reports whether a channel showed the request to no person.
func (q *Request) WasUnasked() bool {
	select {
	case <-q.unasked:
		return true
	default:
		return false
	}
}

// Allows reports whether the request may be shown through the channel.
func (q *Request) Allows(channel string) bool { return slices.Contains(q.channels, channel) }

// AllowsBeside reports whether the request may be shown through a channel other than these.
func (q *Request) AllowsBeside(channels ...string) bool {
	return slices.ContainsFunc(q.channels, func(c string) bool { return !slices.Contains(channels, c) })
}

// MarkOpened records that a person has opened the page to which the client sent them.
func (q *Request) MarkOpened() { q.opened.Store(true) }

// WasOpened reports whether a person has opened that page.
func (q *Request) WasOpened() bool { return q.opened.Load() }

// needs returns how many different people must approve the steps of a request.
func needs(ask *gate.Ask) int {
	n := 1
	for _, s := range ask.Steps {
		n = max(n, s.Approvals)
	}
	return n
}

// viaOf returns the channel that the steps of a request require, or "" if any will do. Conflicting
// requirements are an error.
func viaOf(ask *gate.Ask) (string, error) {
	via := ""
	for _, s := range ask.Steps {
		switch {
		case s.Via == "" || s.Via == via:
		case via == "":
			via = s.Via
		default:
			return "", fmt.Errorf("its rules want it via %s and via %s: one answer cannot come by both", via, s.Via)
		}
	}
	return via, nil
}
