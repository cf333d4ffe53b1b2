package approval

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	MaxGrant   = time.Hour      // maximum lifetime of a grant
	MaxSession = 24 * time.Hour // maximum lifetime of a session grant; needed because a session might never end
)

// A Grant approves similar calls for a limited time without asking. A similar call has the same
// session, principal, tool, tool definition, policy and approval steps as the approved call, and
// the same object in [Call].Beside. Its arguments have the same members, with values of the same
// kinds. A person can require that some values are equal (see [Terms].Like). The _meta objects can
// differ, because they are not forwarded. A grant is immutable except for its number of uses.
type Grant struct {
	ID        string
	Approval  string // ID of the request that was approved together with the grant
	Key       Key    // key of the approved call; the arguments of other calls that the grant covers can differ
	Principal string
	Client    string
	Upstream  string
	Tool      string // the upstream's name for the tool
	Pins      []Pin
	Shape     string // hash of the shape that the arguments must have; see [arguments]
	Channel   string // name of the channel that received the approving answer
	Actor     string
	Created   time.Time
	Until     time.Time
	ToEnd     bool `json:",omitempty"` // whether the grant ends with its session, or at Until if that is earlier
	Uses      int

	version int64
}

// Terms are the conditions of a [Grant], as chosen by a person.
type Terms struct {
	For  time.Duration
	Like []string // names of the arguments to pin; empty means all arguments

	Session bool // whether the grant lasts until the session ends; For must then be zero
}

// covers reports whether g approves q, a request for a call with the arguments a.
func (g *Grant) covers(q *Request, a arguments) bool {
	key := q.Key
	key.Arguments = g.Key.Arguments
	return key == g.Key && q.question.Call.Principal == g.Principal && q.question.Call.Upstream == g.Upstream && q.question.Call.Tool == g.Tool && q.Needs == 1 && q.Allows(g.Channel) &&
		a.shape != "" && a.shape == g.Shape && a.match(g.Pins)
}

// String describes g for logs and records.
func (g *Grant) String() string {
	end := ""
	if g.ToEnd {
		end = "the end of its session, or "
	}
	return fmt.Sprintf("%s: %s on %s with the same %s, until %s%s", g.ID, text.Escape(g.Tool), text.Escape(g.Upstream),
		strings.Join(g.Like(), ", "), end, g.Until.UTC().Format(time.RFC3339))
}

// Like returns the names of the arguments that must have the same values as in the approved call,
// for display.
func (g *Grant) Like() []string {
	if len(g.Pins) == 1 && g.Pins[0].Field == "" {
		return []string{"arguments"}
	}
	return list.Map(g.Pins, func(p Pin) string { return text.Escape(p.Field) })
}

// newGrant returns a grant that covers calls similar to the one that q asks about.
func newGrant(q *Request, t Terms, most time.Duration, channel, actor string, now time.Time) (*Grant, error) {
	switch {
	case most <= 0:
		return nil, errors.New("this proxy does not allow grants: approval.grants is false")
	case t.Session && t.For != 0:
		return nil, errors.New("a grant lasts for a duration or for the session, not both")
	case t.Session && most < MaxGrant:
		return nil, fmt.Errorf("a grant lasts at most %s (approval.grants), and a session may last longer; give the grant a duration", text.Exact(most))
	case !t.Session && (t.For <= 0 || t.For > most):
		return nil, fmt.Errorf("a grant lasts at most %s", text.Exact(most))
	case q.Needs > 1:
		return nil, fmt.Errorf("approval %s needs %d people, and such calls cannot have grants", q.ID, q.Needs)
	}
	if q.question.Call.Masked > 0 {
		return nil, errors.New("calls with values that approval.mask hides cannot have grants")
	}
	if t.Session {
		t.For = MaxSession
	}
	a := readArguments(q.question.Call)
	if a.shape == "" {
		return nil, errors.New("calls with arguments that are too long or ambiguous cannot have grants")
	}
	pins, err := a.pin(t.Like)
	if err != nil {
		return nil, err
	}
	return &Grant{
		ID: "gr_" + rand.Text()[:8], Approval: q.ID, Key: q.Key, Principal: q.question.Call.Principal, Client: clip(q.question.Call.Client, maxKept),
		Upstream: q.question.Call.Upstream, Tool: clip(q.question.Call.Tool, maxKept), Pins: pins, Shape: a.shape, Channel: channel, Actor: actor, Created: now, Until: now.Add(t.For), ToEnd: t.Session,
	}, nil
}

// maxLifetime returns the maximum lifetime of g. The maximum is longer for a grant that ends with
// its session.
func (g *Grant) maxLifetime() time.Duration {
	if g.ToEnd {
		return MaxSession
	}
	return MaxGrant
}
