package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Limits of a removal event, which is the audit record about the removal of old records. Records
// beyond these limits are left for the next event.
const (
	maxRecords = 50_000 // maximum number of records that the event covers
	maxWhole   = 500    // maximum number of chains (one per process) that the event removes completely
	maxPartial = 500    // maximum number of chains that the event shortens; chains that an earlier event has shortened are always included
)

// startSlack allows for differences between the clocks of processes. The start record of a process
// lists the last record of each other chain (one per process). If a listed record is removed later,
// the removal event explains why it is missing. Therefore, a removal event is kept unless it is
// older than all kept start records by more than startSlack.
const startSlack = 5 * backend.Skew

// oldChain is a chain that begins with old records, which may be removable.
type oldChain struct {
	writer  string
	from    audit.Place    // last record that has already been removed
	through audit.Place    // last record that can be removed
	records uint64         // number of records that can be removed
	start   time.Time      // time of the first start record that can be removed (see startSlack); zero if no start record can be removed
	closed  bool           // whether all further records of the chain are kept
	broken  bool           // whether a record of the chain is missing or was changed
	removed []removalEvent // removal events among the removable records
}

// removalEvent is a removal event and its position in the chain.
type removalEvent struct {
	at     time.Time
	before audit.Place // position of the previous record
	nth    uint64      // position of the event among the removable records, counting from 1
}

// survey determines which records can be removed. The following records are kept:
//   - every record that is not older than the cutoff,
//   - the decision on a call that is open or whose outcome is unknown,
//   - the last record of another running process, which the process needs to continue its chain,
//   - a removal event that may explain why a record listed in a kept start record is missing; see
//     [startSlack],
//   - in each chain, all records after one of these, because records are removed only from the
//     beginning of a chain,
//   - all remaining records of a chain with a record that is missing or was changed.
type survey struct {
	cutoff      time.Time
	open        map[string]map[uint64]bool // calls that are open or whose outcome is unknown, keyed by session
	live        map[string]bool            // other running processes
	ends        map[string]uint64          // number of the last record of each chain
	chains      map[string]*oldChain
	order       []*oldChain // chains in the order of discovery
	total       uint64
	oldestStart time.Time // no kept start record is older than this time (see noteKeptStart); zero if all start records read so far can be removed
}

// plan returns the next removal event, or nil if nothing can be removed.
func (r *Retention) plan(ctx context.Context, last *audit.Removed, cutoff time.Time) (*audit.Removed, error) {
	s := &survey{cutoff: cutoff, open: map[string]map[uint64]bool{}, live: map[string]bool{}, ends: map[string]uint64{}, chains: map[string]*oldChain{}}
	for p, err := range r.database.List(ctx, processScope, "") {
		if err != nil {
			return nil, err
		}
		s.live[p.ID.Name] = p.ID.Name != r.database.Writer() // this process is left out, because its last record will be the removal event
	}
	heads, err := r.database.Heads(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		s.ends[h.Writer] = h.Seq
	}
	for _, h := range last.Chains {
		if s.ends[h.Writer] > h.Seq {
			c := s.chainOf(h.Writer)
			if c.from, err = h.Place(); err != nil {
				return nil, err
			}
			c.through = c.from
		}
	}
	err = eachOpen(ctx, r.database, func(session string, calls []statecode.OpenCall) {
		s.open[session] = map[uint64]bool{}
		for _, c := range calls {
			s.open[session][c.Number] = true
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.scan(ctx, r); err != nil {
		return nil, err
	}
	for _, c := range s.order {
		if c.broken {
			r.log.Warn("records of a process were changed: petrigate removes none of them; see petrigate audit verify", "chain", c.writer)
		}
	}
	e := &audit.Removed{Time: r.now(), Event: "removed", Before: cutoff.UTC(), Records: last.Records}
	if s.fillEvent(e) {
		return e, nil
	}
	return nil, nil
}

func (s *survey) chainOf(writer string) *oldChain {
	c := s.chains[writer]
	if c == nil {
		c = &oldChain{writer: writer}
		s.chains[writer], s.order = c, append(s.order, c)
	}
	return c
}

// scan reads the records, oldest first. It stops only after a page without old records, because
// clocks differ between processes.
func (s *survey) scan(ctx context.Context, of *Retention) error {
	young, n := 0, 0
	for r, err := range of.database.Records(ctx, backend.Query{Page: surveyPage}) {
		if err != nil {
			return err
		}
		if n++; n%surveyPage == 0 {
			if err := of.pause(ctx, surveyPause); err != nil {
				return err
			}
		}
		switch old := r.Time.Before(s.cutoff); {
		case old && s.total == maxRecords:
			s.noteKeptStart(r.Time) // this record and all later ones are kept
			return nil
		case old:
			young = 0
		default:
			if young++; young == backend.PageSize {
				return nil
			}
		}
		s.classify(&r)
	}
	return nil
}

// noteKeptStart notes that a start record might be kept if it has the given time or a later one.
// s.oldestStart is the earliest of the given times.
func (s *survey) noteKeptStart(at time.Time) {
	if s.oldestStart.IsZero() || at.Before(s.oldestStart) {
		s.oldestStart = at
	}
}

// classify determines whether the next record can be removed, and updates its chain's [oldChain].
func (s *survey) classify(r *backend.Record) {
	c := s.chainOf(r.Writer)
	kind, call := s.eventAndCall(r)
	switch {
	case c.closed:
	case !r.Time.Before(s.cutoff), kind == "decision" && s.open[r.Session][call]:
		c.closed = true
	case kind == "removed" && !r.Time.Add(startSlack).Before(s.cutoff):
		c.closed = true
	case r.Seq == s.ends[r.Writer] && s.live[r.Writer]:
		c.closed = true
	case r.Seq != c.through.Seq+1, audit.Link(c.through.Hash, r.Seq, r.Object) != r.Hash:
		c.closed, c.broken = true, true
	}
	if c.closed {
		if kind == "start" {
			s.noteKeptStart(r.Time)
		}
		return
	}
	s.total++
	c.records++
	switch kind {
	case "start":
		if c.start.IsZero() {
			c.start = r.Time
		}
	case "removed":
		c.removed = append(c.removed, removalEvent{r.Time, c.through, c.records})
	}
	c.through = audit.Place{Seq: r.Seq, Hash: r.Hash}
}

// eventAndCall returns the event name and the call number in a record. For a session without open
// calls, it returns zero values and does not decode the record.
func (s *survey) eventAndCall(r *backend.Record) (event string, call uint64) {
	if r.Session != "" && s.open[r.Session] == nil {
		return "", 0
	}
	var e struct {
		Event string `json:"event"`
		Call  uint64 `json:"call"`
	}
	if json.Unmarshal(r.Object, &e) != nil {
		return "", 0
	}
	return e.Event, e.Call
}

// whole reports whether the event will remove all of the chain's records.
func (s *survey) whole(c *oldChain) bool { return c.through.Seq >= s.ends[c.writer] }

// overLimit reports whether the chain must wait for the next removal event, because this one
// already contains the maximum number of chains.
func (s *survey) overLimit(c *oldChain, begun, whole int) bool {
	if s.whole(c) {
		return whole >= maxWhole
	}
	return c.from.Seq == 0 && begun >= maxPartial
}

// fillEvent adds the chains to the event. It returns false if the event removes only earlier
// removal events. Such an event must not be recorded, because each removal event would then lead to
// another one.
func (s *survey) fillEvent(e *audit.Removed) bool {
	var begun, whole []*oldChain
	for _, c := range s.order {
		if c.broken || s.overLimit(c, len(begun), len(whole)) {
			c.through, c.records, c.removed = c.from, 0, nil
			if !c.start.IsZero() {
				s.noteKeptStart(c.start)
			}
		}
		switch {
		case c.through.Seq == 0:
		case s.whole(c):
			whole = append(whole, c)
		default:
			begun = append(begun, c)
		}
	}
	worth := false
	for _, c := range slices.Concat(begun, whole) {
		s.keepRemovals(c)
		if c.through.Seq > 0 {
			e.Chains = append(e.Chains, c.through.Head(c.writer))
			e.Records += c.records
			worth = worth || c.records > uint64(len(c.removed))
		}
	}
	slices.SortFunc(e.Chains, func(a, b audit.Head) int { return strings.Compare(a.Writer, b.Writer) })
	return worth
}

// keepRemovals finds the chain's first removal event that may explain why a record is missing, and
// keeps this event and all records after it. A removal event may explain this if it is newer than
// the oldest kept start record, or older by at most [startSlack].
func (s *survey) keepRemovals(c *oldChain) {
	for i, p := range c.removed {
		if !s.oldestStart.IsZero() && !p.at.Add(startSlack).Before(s.oldestStart) {
			c.through, c.records, c.removed = p.before, p.nth-1, c.removed[:i]
			return
		}
	}
}
