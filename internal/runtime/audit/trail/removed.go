package trail

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Removed describes the old records that were removed from a database.
type Removed struct {
	Records uint64    `json:"records"`
	Before  time.Time `json:"before"`
}

// String describes the removal in one line.
func (r *Removed) String() string {
	return fmt.Sprintf("removed %s from before %s (audit.keep)", Records(r.Records), r.Before.UTC().Format(TimeStamp))
}

// Removed returns a description of the old records that were removed from the database, or nil if
// no records were removed. It does not verify the removal; "petrigate audit verify" does.
func (d Database) Removed(ctx context.Context) (*Removed, error) {
	e, err := d.newestRemoval(ctx)
	if e == nil || err != nil {
		return nil, err
	}
	return &Removed{e.Records, e.Before}, nil
}

// CompleteSince returns the time when the complete part of the log begins. Earlier records may have
// been removed, so the beginning of a session may be missing. The time is zero if no records were
// removed.
func CompleteSince(ctx context.Context, s Source) (time.Time, error) {
	d, ok := s.(Database)
	if !ok {
		return time.Time{}, nil // for a file, the number of the first record shows whether records were removed
	}
	r, err := d.Removed(ctx)
	return r.CompleteSince(), err
}

// CompleteSince returns the time when the complete part of the log begins, like the function
// [CompleteSince]. r may be nil.
func (r *Removed) CompleteSince() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.Before.Add(backend.Skew) // the clocks of the processes can differ
}

// newestRemoval returns the newest removal event, or nil before the first removal. It reads the
// copy of the event that is kept outside the chains.
func (d Database) newestRemoval(ctx context.Context) (*audit.Removed, error) {
	e, removal, _, err := backend.ReadRemoval(ctx, d.Backend)
	if err != nil || removal.Event == nil {
		return nil, err
	}
	return e, nil
}

// removals holds the position of the last removed record of each chain.
type removals struct {
	assumed map[string]audit.Place // the positions in the copy of the newest removal event that is kept outside the chains; verification starts after them
	onChain map[string]audit.Place // positions according to the removal events in the chains
	newest  *Removed               // newest removal event in the chains, or nil
}

func newRemovals(e *audit.Removed) (*removals, error) {
	m := &removals{assumed: map[string]audit.Place{}, onChain: map[string]audit.Place{}}
	if e == nil {
		return m, nil
	}
	for _, h := range e.Chains {
		p, err := h.Place()
		if err != nil {
			return nil, fmt.Errorf("reading the list of removed records: %q is not a hash", h.Hash)
		}
		m.assumed[h.Writer] = p
	}
	return m, nil
}

// add adds a removal event read from a chain.
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

// covers reports whether the removal events in the chains cover the given record. If they name
// another record with the same number, covers returns false and a description of the mismatch.
func (m *removals) covers(h audit.Head) (may bool, why string) {
	switch p := m.onChain[h.Writer]; {
	case h.Seq > p.Seq:
		return false, ""
	case h.Seq == p.Seq && h != p.Head(h.Writer):
		return false, "it is not the removed record"
	}
	return true, ""
}
