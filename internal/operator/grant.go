package operator

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// A Grant allows calls that are similar to an approved call, for a limited time and without asking
// again. Similar calls belong to the same session and principal, and call the same tool with the
// same definition under the same policy. The same rules require approval for them. Their arguments
// have the same member names and the same types of values. Apart from the arguments and _meta,
// their params are the same.
type Grant struct {
	For  time.Duration
	Like []string // names or paths of the arguments whose values must not change; if empty, no value may change

	Session bool `json:",omitempty"` // whether the grant lasts until the session ends, but at most a day; if set, For is ignored
}

// Span describes how long the grant is valid, as a phrase to follow the word "for".
func (g Grant) Span() string {
	if g.Session {
		return "the session, a day at most"
	}
	return text.Exact(g.For)
}

// A GrantInfo describes a grant that has not ended.
type GrantInfo struct {
	ID        string     `json:"id"`
	Approval  string     `json:"approval"` // ID of the approval that created the grant
	Session   string     `json:"session"`
	Principal string     `json:"principal"`
	Client    string     `json:"client,omitempty"`
	Upstream  string     `json:"upstream"`
	Tool      string     `json:"tool"`
	Like      []GrantPin `json:"like"`
	Channel   string     `json:"channel"`
	Actor     string     `json:"actor"`
	Created   time.Time  `json:"created"`
	Until     time.Time  `json:"until"`
	ToEnd     bool       `json:"toEnd,omitempty"` // whether the grant ends when its session ends, even if that is before Until
	Uses      int        `json:"uses"`
}

// GrantOf converts a grant to a [GrantInfo].
func GrantOf(g *approval.Grant) GrantInfo {
	info := GrantInfo{
		ID: g.ID, Approval: g.Approval, Session: g.Key.Session, Principal: g.Principal, Client: g.Client, Upstream: g.Upstream, Tool: g.Tool,
		Like: []GrantPin{}, Channel: g.Channel, Actor: g.Actor, Created: g.Created, Until: g.Until, ToEnd: g.ToEnd, Uses: g.Uses,
	}
	for _, pin := range g.Pins {
		info.Like = append(info.Like, GrantPin{Field: pin.Field, Value: pin.Value})
	}
	return info
}

// A GrantPin is an argument whose value must be the same in every call that the grant allows.
type GrantPin struct {
	Field string `json:"field"` // name or path of the argument; empty if all arguments must be the same
	Value string `json:"value"` // the required value, truncated for display
}
