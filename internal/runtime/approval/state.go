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

// Word returns the state for display: a consumed approval is shown as "used".
func (s State) Word() string {
	if s == Consumed {
		return "used"
	}
	return string(s)
}

// isLive reports whether a request in state s has a call that can still run.
func isLive(s State) bool { return s == Pending || s == Approved }

// The channels through which people answer. The package channel describes them.
const (
	Elicit  = channel.Elicit
	URL     = channel.URL
	Web     = channel.Web
	CLI     = channel.CLI
	Webhook = channel.Webhook
)

// listed reports whether the channel lists every request that it may answer, including requests
// about which it has received no notice.
func listed(name string) bool {
	c, _ := channel.Find(name)
	return c.Lists
}

// An Answer is a request's state. Once the request is answered, it also contains the person who
// answered.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // number of different people who have approved; Actor names all of them
	Grant     string `json:",omitempty"` // grant that approved the request; empty: a person approved it
}

// An approver is one person, as far as the channels can distinguish people.
type approver struct {
	Client bool   `json:",omitempty"` // the person at the client
	Person string `json:",omitempty"` // another person, as proven by the channel
}

// PersonAt returns the identity of a person who answers through the webhook. The identity is the
// actor that the external system vouches for, or is anonymous if actor is empty.
func PersonAt(actor string) string {
	name := strings.ToLower(strings.Join(strings.Fields(actor), " "))
	if name == "" {
		return Webhook
	}
	return Webhook + ":" + name
}

// mayBe reports whether a and b may be the same person. An anonymous webhook answer may come from
// any webhook user.
func (a approver) mayBe(b approver) bool {
	return a == b || a.atHook() && b.atHook() && (a.Person == Webhook || b.Person == Webhook)
}

func (a approver) atHook() bool {
	return a.Person == Webhook || strings.HasPrefix(a.Person, Webhook+":")
}
