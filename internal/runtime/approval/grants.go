package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Grants holds the grants of a [Broker]. If there is a store, a use of a grant counts only after
// the store has accepted it. Thus a grant that was revoked at one broker cannot be used at another.
type Grants struct {
	store Store // nil if grants are kept only in memory
	now   func() time.Time

	mu   sync.Mutex
	byID map[string]*Grant
}

// List returns the valid grants, oldest first. Grants of other brokers are listed in their state at
// the last [Broker.Refresh].
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

// sessionGrants returns the valid grants of a session, oldest first.
func (s *Grants) sessionGrants(session string) []Grant {
	return slices.DeleteFunc(s.List(), func(g Grant) bool { return g.Key.Session != session })
}

// Add adds the grant g to the valid grants.
func (s *Grants) Add(g *Grant) error {
	if len(s.sessionGrants(g.Key.Session)) >= maxGrants || len(s.List()) >= maxGrantsAll {
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

// Revoke revokes a grant and returns it.
func (s *Grants) Revoke(id string) (Grant, error) {
	for range 50 * maxStale { // retry often, because concurrent uses must not prevent the revocation
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
	return Grant{}, fmt.Errorf("grant %s is in use too often to be revoked now; stop its session", id)
}

// draft returns the initial progress of the new request q. If a grant covers q, the request is
// already approved.
func (s *Grants) draft(q *Request) (Progress, error) {
	g, ok, err := s.use(q)
	if err != nil || !ok {
		return q.progress, err
	}
	return q.approve(g, s.now()), nil
}

// EndSession revokes the known grants of a session that has ended. If some of them cannot be
// removed from the store, the error lists them, but they can no longer be used either.
func (s *Grants) EndSession(session string) error {
	var failed error
	for _, g := range s.sessionGrants(session) {
		if _, err := s.Revoke(g.ID); errors.Is(err, ErrStore) {
			failed = errors.Join(failed, fmt.Errorf("grant %s: %w", g.ID, err))
		}
	}
	return failed
}

// use looks for a grant that approves q and, if it finds one, records the use.
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

// candidates returns the valid grants for q's session and tool.
func (s *Grants) candidates(q *Request) []Grant {
	return slices.DeleteFunc(s.sessionGrants(q.Key.Session), func(g Grant) bool { return g.Key.Tool != q.Key.Tool })
}

// count records one use of the grant g. It returns false if g has become invalid.
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
			s.apply(g, version)
			return true, nil
		case !errors.Is(err, backend.ErrStale):
			return false, err
		}
		if err := s.reload(g.ID); err != nil {
			return false, err
		}
	}
	return false, nil // there were too many conflicts, so the grant is not used and a person is asked instead
}

// apply adds the given version of g to the known grants, unless this version or a newer one is
// already known.
func (s *Grants) apply(g Grant, version int64) {
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

// learn updates the known grants from a stored row that contains a grant.
func (s *Grants) learn(row backend.Approval) error {
	var g Grant
	if err := json.Unmarshal(row.Data, &g); err != nil || g.ID != row.ID || grantKey(g.ID) != row.Key || g.Key.Session != row.Session {
		return fmt.Errorf("grant %s in the state database is damaged", row.ID)
	}
	if State(row.State) != Approved || !s.now().Before(g.Until) || g.Until.Sub(g.Created) > g.maxLifetime() {
		s.drop(g.ID)
		return nil
	}
	s.apply(g, row.Version)
	return nil
}

// reload reads a grant from the store again after a conflict.
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

// put writes a grant to the store. Without a store it does nothing.
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

// isGrant reports whether a row contains a grant. The store keeps grants and requests in the same
// table.
func isGrant(row backend.Approval) bool { return strings.HasPrefix(row.ID, "gr_") }

// approve returns the progress of q after its approval by the grant g. It removes the call's _meta
// object, which no person has reviewed.
func (q *Request) approve(g Grant, now time.Time) Progress {
	q.question.Call.Meta = nil
	d := q.progress
	d.Answer = Answer{State: Approved, Channel: g.Channel, Actor: g.Actor + " (grant " + g.ID + ")", At: now, Approvals: 1, Grant: g.ID}
	d.Approvers = []approver{{Person: "grant " + g.ID}}
	return d
}

const (
	maxGrants    = 100  // maximum number of grants per session
	maxGrantsAll = 1000 // maximum number of grants in total
)

// grantKey returns the key of a grant in the store. It differs from the keys of all requests.
func grantKey(id string) string { return audit.HashOf("grant " + id) }
