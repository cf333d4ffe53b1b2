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

// A Key identifies the one call that a consent is valid for.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes tells keys apart.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// A Call is a call as a person is asked about it: the very values that are
// forwarded.
type Call struct {
	Upstream, Tool  string // the upstream's names
	Arguments       []byte // the source bytes, in a [Record] as people see them; empty: it has none
	Size            int    // of them, as they are forwarded
	SHA256          string // of them, as they are forwarded
	Beside, Meta    []byte // what else is forwarded: objects; nil: nothing
	Session, Client string
	Principal       string
	Ignored         []string `json:",omitempty"` // arguments that are no part of its identity: an approval is for other values of them too

	Own     bool `json:",omitempty"` // Upstream is an agent, which has the tool itself: its hook asks
	Dropped bool // the call cannot run any more, and what it would have sent is not kept

	// The broker sets the rest.
	SeenMeta []byte   `json:",omitempty"` // Meta as people see it, where some of it is masked
	Masked   int      `json:",omitempty"` // values that people do not see
	Warnings []string `json:",omitempty"` // of what may mislead a person

	exact     []byte // the arguments as they are forwarded; nil: they are not known, or too long to be compared
	given     int    // bytes of the arguments and of what is beside them, before some of it was masked
	copied    int    // bytes of it that are no part of the message of a call that waits
	presented bool   // the broker has set what it sets
}

// Subject is the tool and whose it is, for people: an upstream has it, or the agent itself.
func (c Call) Subject() string {
	whose := " on upstream "
	if c.Own {
		whose = " of "
	}
	return text.Escape(c.Tool) + whose + text.Escape(c.Upstream)
}

// Shown is the arguments as a person sees them; nil: they are not kept.
func (c Call) Shown() []byte {
	switch {
	case c.Dropped:
		return nil
	case len(c.Arguments) == 0:
		return []byte("{}")
	}
	return c.Arguments
}

// beyond are the arguments of c that are no part of its identity.
func (c Call) beyond() []string {
	return slices.DeleteFunc(slices.Clone(c.Ignored), func(field string) bool {
		_, has := rawjson.Member(c.Arguments, field)
		return !has
	})
}

// ShownMeta is the _meta as a person sees it.
func (c Call) ShownMeta() []byte {
	if c.SeenMeta != nil {
		return c.SeenMeta
	}
	return c.Meta
}

// bytes is how much of c, and of why it is asked about, its client has written.
func (c Call) bytes(steps []gate.Step) int {
	n := max(c.given, len(c.Arguments)+len(c.Beside)+len(c.Meta)+len(c.SeenMeta)) + len(c.Client)
	for _, s := range steps {
		n += len(s.Name) + len(s.Reason)
	}
	return n
}

// State is the state of a request.
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

// Word is the state as people read it: a consumed approval has been used, for the one call that
// it was for.
func (s State) Word() string {
	if s == Consumed {
		return "used"
	}
	return string(s)
}

// The channels by which people answer; package channel has their table.
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

// A Question is what a request asks a person.
type Question struct {
	Call  Call // that is forwarded; what is left of it once the request has ended
	Steps []gate.Step
	Since *Comparison `json:",omitempty"` // with the last call of the tool that was approved; nil: there was none
}

// Conditions say how a request may be answered. They never change.
type Conditions struct {
	Via   string // the only channel; empty: any
	Needs int    // how many different persons must approve; at least one
	Size  int    // bytes that the client has written
}

// Progress is what answers, or the end of the request, have made of it.
type Progress struct {
	Answer     Answer
	Approvers  []approver  `json:",omitempty"` // who has approved so far
	Shared     bool        `json:",omitempty"` // calls at several brokers wait for it
	Unasked    bool        `json:",omitempty"` // the client said that it asked nobody
	Stands     time.Time   // until when a denial does; zero: it was not denied
	Rejections []Rejection `json:",omitempty"` // answers that do not count, the oldest first
}

// A Request asks a person to approve one call. Its [Broker] knows its state.
type Request struct {
	ID  string
	Key Key
	Conditions
	Created time.Time
	Expires time.Time

	channels []string      // by which it may be answered: configured, and allowed by its rules
	answered chan struct{} // closed when it leaves pending
	unasked  chan struct{} // closed when the client said that it asked nobody

	accounts [3]*account // of its session, of its principal, and of all
	opened   atomic.Bool // the client said that a person has opened the page

	// Guarded by the lock of the broker.
	question  Question
	progress  Progress
	open      []string      // channels where it was put
	waiters   int           // calls that wait for the answer
	shown     chan struct{} // not nil: the client of the session has it before it, until it is closed
	weighed   int           // bytes that are put down to its accounts
	version   int64         // in the store; without one, how often it was answered
	parked    bool          // a call was told to come back for the answer
	announced bool          // somebody was told that it waits
	claimed   bool          // a call is about to use it up
	foreign   bool          // another broker has opened it
	doubt     bool          // the store knows better
	refused   bool          // the store has not let it be used
	endedAt   time.Time

	place *list.Element // in one of the lists of the broker
	new   *list.Element // among the recent ones; nil: it is none of them
	own   *list.Element // among those of its principal that have ended
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
	Open []string // channels where it was put
	Progress
}

// Answered is closed when the request is pending no more.
func (q *Request) Answered() <-chan struct{} { return q.answered }

// Unasked is closed when a channel, where it was put, has shown the request to
// nobody.
func (q *Request) Unasked() <-chan struct{} { return q.unasked }

// WasUnasked reports whether a channel showed the request to nobody.
func (q *Request) WasUnasked() bool {
	select {
	case <-q.unasked:
		return true
	default:
		return false
	}
}

// Allows reports whether the request may be put by the channel.
func (q *Request) Allows(channel string) bool { return slices.Contains(q.channels, channel) }

// AllowsBeside reports whether the request may be put by another channel than these.
func (q *Request) AllowsBeside(channels ...string) bool {
	return slices.ContainsFunc(q.channels, func(c string) bool { return !slices.Contains(channels, c) })
}

// MarkOpened notes that a person has opened the page of the request, where the client sent them.
func (q *Request) MarkOpened() { q.opened.Store(true) }

// WasOpened reports whether the client has sent a person to the page of the request.
func (q *Request) WasOpened() bool { return q.opened.Load() }

// needs returns how many different persons must approve the steps of a request.
func needs(ask *gate.Ask) int {
	n := 1
	for _, s := range ask.Steps {
		n = max(n, s.Approvals)
	}
	return n
}

// viaOf is the channel by which the steps of a request want it answered; empty:
// any. One answer cannot come by two.
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
