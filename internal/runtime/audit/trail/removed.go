package trail

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Removed describes the records that were removed from a database because of their age.
type Removed struct {
	Records uint64    `json:"records"`
	Before  time.Time `json:"before"`
}

// String describes the removal in one line.
func (r *Removed) String() string {
	return fmt.Sprintf("removed %s from before %s (audit.keep)", Records(r.Records), r.Before.UTC().Format(TimeStamp))
}

// Removed returns a description of the records that were removed because of their age, or nil. It
// does not read any records. The command "verify" checks that recorded events confirm the removal.
func (d Database) Removed(ctx context.Context) (*Removed, error) {
	e, err := d.removed(ctx)
	if e == nil || err != nil {
		return nil, err
	}
	return &Removed{e.Records, e.Before}, nil
}

// Whole returns the time since which the log is complete. Earlier records may have been removed
// because of their age, so the beginning of a session may be missing. The zero time means that no
// record was removed.
func Whole(ctx context.Context, s Source) (time.Time, error) {
	d, ok := s.(Database)
	if !ok {
		return time.Time{}, nil // for a file, its first record shows this
	}
	r, err := d.Removed(ctx)
	return r.Whole(), err
}

// Whole implements [Whole]; r may be nil.
func (r *Removed) Whole() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.Before.Add(backend.Skew) // the clocks of different processes may differ
}

// removed reads the copy of the newest removal event. The copy is not part of a chain.
func (d Database) removed(ctx context.Context) (*audit.Removed, error) {
	e, removal, _, err := backend.ReadRemoval(ctx, d.Backend)
	if err != nil || removal.Event == nil {
		return nil, err
	}
	return e, nil
}

// removals holds, for each chain, the position of the last record that may be missing.
type removals struct {
	assumed map[string]audit.Place // positions from the copy of the newest event; reading starts there
	onChain map[string]audit.Place // positions from recorded events
	newest  *Removed               // newest recorded removal, or nil
}

func newRemovals(e *audit.Removed) (*removals, error) {
	m := &removals{assumed: map[string]audit.Place{}, onChain: map[string]audit.Place{}}
	if e == nil {
		return m, nil
	}
	for _, h := range e.Chains {
		p, err := h.Place()
		if err != nil {
			return nil, fmt.Errorf("reading which old records were removed: %q is not a hash", h.Hash)
		}
		m.assumed[h.Writer] = p
	}
	return m, nil
}

// add adds a recorded event.
func (m *removals) add(s *rowSubject) {
	for _, h := range s.Chains {
		if p, err := h.Place(); err == nil && p.Seq > m.onChain[h.Writer].Seq {
			m.onChain[h.Writer] = p
		}
	}
	if m.newest == nil || s.Before.After(m.newest.Before) {
		m.newest = &Removed{s.Records, s.Before}
	}
}

// covers reports whether the record named by a head may be missing. why is not empty if another
// record was removed in its place.
func (m *removals) covers(h audit.Head) (may bool, why string) {
	switch p := m.onChain[h.Writer]; {
	case h.Seq > p.Seq:
		return false, ""
	case h.Seq == p.Seq && h != p.Head(h.Writer):
		return false, "it is not the removed record"
	}
	return true, ""
}
