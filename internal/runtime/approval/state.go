package approval

import "github.com/petrigate/petrigate/internal/channel"

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

// isLive reports whether a call can still run with a request in the state s.
func isLive(s State) bool { return s == Pending || s == Approved }

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
