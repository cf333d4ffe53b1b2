package approval

import (
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
)

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

// Word returns the state for display. It is the state's value, except that Consumed is shown as
// "used".
func (s State) Word() string {
	if s == Consumed {
		return "used"
	}
	return string(s)
}

// isLive reports whether the call can still run if its request is in state s.
func isLive(s State) bool { return s == Pending || s == Approved }

// Names of the channels; see package channel.
const (
	Elicit  = channel.Elicit
	URL     = channel.URL
	Web     = channel.Web
	CLI     = channel.CLI
	Webhook = channel.Webhook
)

// listed reports whether the channel lists its requests. Such a channel need not be notified of
// each request.
func listed(name string) bool {
	c, _ := channel.Find(name)
	return c.Lists
}

// An Answer describes the state of a request and who has answered it so far.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // number of different people who have approved; Actor contains all their names
	Grant     string `json:",omitempty"` // ID of the grant that approved the request; empty if people answered it
}

// An approver is a person who has approved a request, as far as the channels can tell people apart.
type approver struct {
	Client bool   `json:",omitempty"` // whether the approver is the person at the client
	Person string `json:",omitempty"` // name of the approver, unless Client is true; see approverAt
}

// approverAt returns the approver who answers through the named channel. For [Elicit], this is the
// client's user. For a webhook, another system identifies the people who answer. The approver's
// name is then the channel's name and the person's name in that system, separated by a colon, or
// only the channel's name if the person is anonymous. For any other channel, the approver is a user
// of this machine.
func approverAt(name, person string) approver {
	c, _ := channel.Find(name)
	switch {
	case name == Elicit:
		return approver{Client: true}
	case !c.Vouches:
		return approver{Person: person}
	}
	person = strings.ToLower(strings.Join(strings.Fields(person), " "))
	if person == "" {
		return approver{Person: name}
	}
	return approver{Person: name + ":" + person}
}

// mayBe reports whether a and b could be the same person. An anonymous approver could be any user
// of the same system.
func (a approver) mayBe(b approver) bool {
	at, name := a.split()
	system, other := b.split()
	return a == b || !a.Client && !b.Client && at == system && (name == "" || other == "")
}

// split splits a.Person into the name of a channel and the approver's name in the system behind
// that channel. It returns no channel for a user of this machine, and no name for an anonymous
// approver.
func (a approver) split() (system, name string) {
	system, name, _ = strings.Cut(a.Person, ":")
	if c, _ := channel.Find(system); c.Vouches {
		return system, name
	}
	return "", a.Person
}
