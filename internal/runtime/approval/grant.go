package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	MaxGrant   = time.Hour      // the longest time that a grant may be valid
	MaxSession = 24 * time.Hour // of one that ends with its session, which may have no end
)

const (
	maxGrants    = 100  // of one session
	maxGrantsAll = 1000 // of all
)

// A Grant approves further calls for a while without asking: those that are like one that a
// person has approved. They are of the same session and principal, tool and definition,
// policy and steps; their arguments have the same members with values of the same kinds; and
// the pinned ones are equal. It changes in its uses only.
type Grant struct {
	ID        string
	Approval  string // that it was given with
	Key       Key    // of its call, whose arguments need not be the same
	Principal string
	Client    string
	Upstream  string
	Tool      string // the upstream's name
	Pins      []Pin
	Shape     string // of the arguments
	Channel   string // by which it was given
	Actor     string
	Created   time.Time
	Until     time.Time
	ToEnd     bool `json:",omitempty"` // it ends with its session, and at Until at the latest
	Uses      int

	version int64
}

// Terms are what a person wants of a [Grant].
type Terms struct {
	For  time.Duration
	Like []string // the arguments that have to stay as they are; empty: all

	Session bool // as long as the session is there, instead of For
}

// covers reports whether g approves q, of which the arguments are a.
func (g *Grant) covers(q *Request, a arguments) bool {
	key := q.Key
	key.Arguments = g.Key.Arguments
	return key == g.Key && q.question.Call.Principal == g.Principal && q.question.Call.Upstream == g.Upstream && q.question.Call.Tool == g.Tool && q.Needs == 1 && q.Allows(g.Channel) &&
		a.shape != "" && a.shape == g.Shape && a.hold(g.Pins)
}

// String says what g allows, for logs and records.
func (g *Grant) String() string {
	end := ""
	if g.ToEnd {
		end = "the end of its session, or "
	}
	return fmt.Sprintf("%s: %s on %s with the same %s, until %s%s", g.ID, text.Escape(g.Tool), text.Escape(g.Upstream),
		strings.Join(g.Like(), ", "), end, g.Until.UTC().Format(time.RFC3339))
}

// Like names what has to stay as it is.
func (g *Grant) Like() []string {
	if len(g.Pins) == 1 && g.Pins[0].Field == "" {
		return []string{"arguments"}
	}
	var names []string
	for _, p := range g.Pins {
		names = append(names, text.Escape(p.Field))
	}
	return names
}

// newGrant returns a grant for calls like that of q.
func newGrant(q *Request, t Terms, most time.Duration, channel, actor string, now time.Time) (*Grant, error) {
	switch {
	case most <= 0:
		return nil, errors.New("this proxy gives no grants: approval.grants is false")
	case t.Session && t.For != 0:
		return nil, errors.New("a grant is for a time or for the session, not both")
	case t.Session && most < MaxGrant:
		return nil, fmt.Errorf("a grant is for %s at most, as approval.grants says, and a session may last longer; say for how long", text.Exact(most))
	case !t.Session && (t.For <= 0 || t.For > most):
		return nil, fmt.Errorf("a grant is for %s at most", text.Exact(most))
	case q.Needs > 1:
		return nil, fmt.Errorf("approval %s needs %d persons, and there are no grants for such calls", q.ID, q.Needs)
	}
	if q.question.Call.Masked > 0 {
		return nil, errors.New("there are no grants for calls with values that approval.mask hides")
	}
	if t.Session {
		t.For = MaxSession
	}
	a := readArguments(q.question.Call)
	if a.shape == "" {
		return nil, errors.New("there are no grants for calls whose arguments are that long, or are not read by all in one way")
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

// Grants keeps the grants of a [Broker]. With a store it keeps what the store has, and a use counts once
// the store has it, so that a grant that was revoked anywhere is used nowhere.
type Grants struct {
	store Store // nil: none
	now   func() time.Time

	mu   sync.Mutex
	byID map[string]*Grant
}

// List returns the grants that are valid, the oldest first. Those of other brokers are among
// them after a [Broker.Refresh].
func (s *Grants) List() []Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Grant
	for id, g := range s.byID {
		if !s.now().Before(g.Until) {
			delete(s.byID, id)
			continue
		}
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Grant) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Add keeps a grant: it is valid from now on.
func (s *Grants) Add(g *Grant) error {
	all := s.List()
	ofSession := func(one Grant) bool { return one.Key.Session == g.Key.Session }
	if n := len(slices.Collect(filter(all, ofSession))); n >= maxGrants || len(all) >= maxGrantsAll {
		return errors.New("there are too many grants already; revoke some (petrigate approvals grants)")
	}
	version, err := s.put(*g, Approved)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g.version = version
	s.byID[g.ID] = g
	return nil
}

// Revoke ends a grant, and returns it: the next call is asked about.
func (s *Grants) Revoke(id string) (Grant, error) {
	for range 50 * maxStale { // it must not lose against those who use it
		s.mu.Lock()
		known, ok := s.byID[id]
		var g Grant
		if ok {
			g = *known
		}
		s.mu.Unlock()
		if !ok || !s.now().Before(g.Until) {
			return Grant{}, fmt.Errorf("no grant %s is valid", id)
		}
		_, err := s.put(g, Withdrawn)
		switch {
		case err == nil:
			s.drop(id)
			return g, nil
		case !errors.Is(err, backend.ErrStale):
			return Grant{}, err
		}
		if err := s.reload(id); err != nil {
			return Grant{}, err
		}
	}
	return Grant{}, fmt.Errorf("grant %s is used so often that it cannot be revoked now; stop its session", id)
}

// draft returns the progress of a new request, which a grant may approve.
func (s *Grants) draft(q *Request) (Progress, error) {
	g, ok, err := s.use(q)
	if err != nil || !ok {
		return q.progress, err
	}
	return q.approve(g, s.now()), nil
}

// EndSession ends the grants of a session that has ended, as far as they are known here. Its
// error is of those that the store still has: nobody can use them.
func (s *Grants) EndSession(session string) error {
	if s.empty() {
		return nil
	}
	var failed error
	for g := range filter(s.List(), func(g Grant) bool { return g.Key.Session == session }) {
		if _, err := s.Revoke(g.ID); errors.Is(err, ErrStore) {
			failed = errors.Join(failed, fmt.Errorf("grant %s: %w", g.ID, err))
		}
	}
	return failed
}

// most is how long a grant of the store may be valid at most.
func (g *Grant) most() time.Duration {
	if g.ToEnd {
		return MaxSession
	}
	return MaxGrant
}

// use finds a grant that approves q, and counts the use.
func (s *Grants) use(q *Request) (g Grant, ok bool, err error) {
	candidates := s.candidates(q)
	if len(candidates) == 0 {
		return g, false, nil
	}
	a := readArguments(q.question.Call)
	for _, g := range candidates {
		if !g.covers(q, a) {
			continue
		}
		if ok, err := s.count(g); ok || err != nil {
			return g, ok, err
		}
	}
	return g, false, nil
}

// candidates are the grants of the session of q for its tool.
func (s *Grants) candidates(q *Request) []Grant {
	if s.empty() {
		return nil
	}
	return slices.Collect(filter(s.List(), func(g Grant) bool { return g.Key.Session == q.Key.Session && g.Key.Tool == q.Key.Tool }))
}

func (s *Grants) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID) == 0
}

// count counts a use of a grant, and reports false where it is not valid any more.
func (s *Grants) count(g Grant) (bool, error) {
	for range maxStale {
		s.mu.Lock()
		now, ok := s.byID[g.ID]
		if ok = ok && s.now().Before(now.Until); ok && s.store == nil {
			now.Uses++
		}
		if ok {
			g = *now
		}
		s.mu.Unlock()
		if !ok || s.store == nil {
			return ok, nil
		}
		g.Uses++
		version, err := s.put(g, Approved)
		switch {
		case err == nil:
			s.take(g, version)
			return true, nil
		case !errors.Is(err, backend.ErrStale):
			return false, err
		}
		if err := s.reload(g.ID); err != nil {
			return false, err
		}
	}
	return false, nil // others use it all the time: a person is asked
}

// take notes what the store has of a grant.
func (s *Grants) take(g Grant, version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byID[g.ID]; known == nil || known.version < version {
		g.version = version
		s.byID[g.ID] = &g
	}
}

func (s *Grants) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// isGrant reports whether a row of the store is a grant: it stands among the requests.
func isGrant(row backend.Approval) bool { return strings.HasPrefix(row.ID, "gr_") }

// learn takes over a grant of the store.
func (s *Grants) learn(row backend.Approval) error {
	var g Grant
	if err := json.Unmarshal(row.Data, &g); err != nil || g.ID != row.ID || grantKey(g.ID) != row.Key || g.Key.Session != row.Session {
		return fmt.Errorf("grant %s in the state database is not as it was written", row.ID)
	}
	if State(row.State) != Approved || !s.now().Before(g.Until) || g.Until.Sub(g.Created) > g.most() {
		s.drop(g.ID)
		return nil
	}
	s.take(g, row.Version)
	return nil
}

// reload reads a grant from the store, which knows better.
func (s *Grants) reload(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	rows, err := s.store.Approvals(ctx, id, "", time.Time{})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	if len(rows) == 0 {
		s.drop(id)
		return nil
	}
	return s.learn(rows[0])
}

// put writes a grant to the store, where there is one.
func (s *Grants) put(g Grant, state State) (version int64, err error) {
	if s.store == nil {
		return 0, nil
	}
	data, err := json.Marshal(g)
	if err != nil {
		return 0, err
	}
	return write(s.store, backend.Approval{
		ID: g.ID, Key: grantKey(g.ID), State: string(state), Session: g.Key.Session, Version: g.version,
		Created: g.Created, Expires: g.Until, Data: data,
	})
}

// grantKey is the key of a grant in the store, which no request has.
func grantKey(id string) string {
	sum := sha256.Sum256([]byte("grant " + id))
	return hex.EncodeToString(sum[:])
}

func filter[T any](all []T, which func(T) bool) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for _, one := range all {
			if which(one) && !yield(one) {
				return
			}
		}
	}
}

// approve makes q one that g has approved. Nobody is shown the _meta of its call, so none is
// forwarded.
func (q *Request) approve(g Grant, now time.Time) Progress {
	q.question.Call.Meta = nil
	d := q.progress
	d.Answer = Answer{State: Approved, Channel: g.Channel, Actor: g.Actor + " (grant " + g.ID + ")", At: now, Approvals: 1, Grant: g.ID}
	d.Approvers = []approver{{Person: "grant " + g.ID}}
	return d
}
