package operator

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// A Grant lets calls similar to the approved one pass for a while without asking. Similar calls
// belong to the same session and principal, call the same tool under the same policy, and have
// arguments with the same members and the same kinds of values.
type Grant struct {
	For  time.Duration
	Like []string // arguments, by name or path, whose values must be the same; empty: all

	Session bool `json:",omitempty"` // instead of For: until the session ends, for a day at most
}

// Span returns how long the grant is valid, as text that can follow the word "for".
func (g Grant) Span() string {
	if g.Session {
		return "the session, a day at most"
	}
	return text.Exact(g.For)
}

// A GrantInfo describes a valid grant.
type GrantInfo struct {
	ID        string     `json:"id"`
	Approval  string     `json:"approval"` // id of the approval that came with the grant
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
	ToEnd     bool       `json:"toEnd,omitempty"` // the grant ends with its session, at Until at the latest
	Uses      int        `json:"uses"`
}

// GrantOf converts a grant.
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

// A GrantPin is an argument whose value must be the same in each call.
type GrantPin struct {
	Field string `json:"field"` // name or path; empty: all arguments
	Value string `json:"value"` // first part of the value
}
