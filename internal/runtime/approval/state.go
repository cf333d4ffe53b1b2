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

// Word returns the state as a word for display: "used" for Consumed.
func (s State) Word() string {
	if s == Consumed {
		return "used"
	}
	return string(s)
}

// isLive reports whether the call of a request in state s can still run.
func isLive(s State) bool { return s == Pending || s == Approved }

// Channels with code outside package daemon; see package channel.
const (
	Elicit  = channel.Elicit
	URL     = channel.URL
	Web     = channel.Web
	CLI     = channel.CLI
	Webhook = channel.Webhook
)

// listed reports whether the channel lists all requests that it may answer, even those it was not
// notified of.
func listed(name string) bool {
	c, _ := channel.Find(name)
	return c.Lists
}

// An Answer is the state of a request and, once the request is answered, who answered it.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // number of different people who have approved; Actor names them all
	Grant     string `json:",omitempty"` // ID of the grant that approved the request; empty if a person did
}

// An approver is a person who has approved a request, as far as the channels can tell people apart.
type approver struct {
	Client bool   `json:",omitempty"` // the person at the client
	Person string `json:",omitempty"` // another person, identified by the channel
}

// PersonAt returns the identity of a person who answers through the webhook, as vouched for by the
// external system. If actor is empty, the person is anonymous.
func PersonAt(actor string) string {
	name := strings.ToLower(strings.Join(strings.Fields(actor), " "))
	if name == "" {
		return Webhook
	}
	return Webhook + ":" + name
}

// mayBe reports whether a and b could be the same person. An anonymous answer through the webhook
// could come from any of the webhook's users.
func (a approver) mayBe(b approver) bool {
	return a == b || a.atHook() && b.atHook() && (a.Person == Webhook || b.Person == Webhook)
}

func (a approver) atHook() bool {
	return a.Person == Webhook || strings.HasPrefix(a.Person, Webhook+":")
}
