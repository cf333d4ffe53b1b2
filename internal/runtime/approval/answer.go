package approval

import (
	"strings"
	"time"
)

// An Answer is the state of a request and, after an answer, who gave it.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // number of different people who have approved; Actor names all of them
	Grant     string `json:",omitempty"` // grant that approved the request; empty: a person did
}

// An approver is one person, as far as the channels can distinguish people.
type approver struct {
	Client bool   `json:",omitempty"` // the person at the client
	Person string `json:",omitempty"` // another person, as proven by the channel
}

// PersonAt returns the identity of a person who answers through the webhook: the actor that the
// external system vouches for, or an anonymous identity if actor is empty.
func PersonAt(actor string) string {
	name := strings.ToLower(strings.Join(strings.Fields(actor), " "))
	if name == "" {
		return Webhook
	}
	return Webhook + ":" + name
}

// mayBe reports whether a and b may be the same person. An anonymous webhook answer may come from
// any person who uses the webhook.
func (a approver) mayBe(b approver) bool {
	return a == b || a.atHook() && b.atHook() && (a.Person == Webhook || b.Person == Webhook)
}

func (a approver) atHook() bool {
	return a.Person == Webhook || strings.HasPrefix(a.Person, Webhook+":")
}
