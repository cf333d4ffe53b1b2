package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Bounds of one event of a removal, beside which another one follows.
const (
	roundRecords = 50_000 // that it is about
	roundWhole   = 500    // chains that it removes whole
	mostBegun    = 500    // chains of which it keeps the rest; others are left whole
)

// startSlack is by how much an event of a removal outlives the starts before it, whose clocks may differ.
const startSlack = 5 * backend.Skew

// A removable is a chain with old records. It begins with those that can be removed.
type removable struct {
	writer  string
	from    audit.Place // before the first record: what is there was removed before
	place   audit.Place // of the last one that can be removed
	records uint64      // that can be removed
	start   time.Time   // the first record among them that begins a process; zero: none does
	over    bool        // what comes now stays
	broken  bool        // a record does not follow the one before it
	removed []placed    // events of removals among them
}

// placed is an event of a removal at its place.
type placed struct {
	at     time.Time
	before audit.Place // of the record before it
	nth    uint64      // among the records that can be removed
}

// A survey finds the records that can be removed. These stay:
//   - the decision on a call that is open or of unknown end,
//   - the last record of a process that is there, by which it knows its chain,
//   - an event of a removal, as long as a start may name a chain that it removed whole,
//   - what comes after one of these in the same chain, and what another process has changed:
//     the records before it could not be verified without it.
type survey struct {
	cutoff time.Time
	open   map[string]map[uint64]bool // calls, by session
	live   map[string]bool            // writers of processes that are there
	ends   map[string]uint64          // the number of the last record of each chain
	chains map[string]*removable
	order  []*removable // as they were found
	total  uint64
	oldest time.Time // a start that stays may be as old; zero: none is
}

// plan returns the event of the next removal; nil: there is nothing to remove.
func (r *Retention) plan(ctx context.Context, last *audit.Removed, cutoff time.Time) (*audit.Removed, error) {
	s := &survey{cutoff: cutoff, live: map[string]bool{}, ends: map[string]uint64{}, chains: map[string]*removable{}}
	for p, err := range r.database.List(ctx, processes) {
		if err != nil {
			return nil, err
		}
		s.live[p.ID.Name] = p.ID.Name != r.database.Writer() // whose last record is to be the event
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
			c := s.chain(h.Writer)
			if c.from, err = placeOf(h); err != nil {
				return nil, err
			}
			c.place = c.from
		}
	}
	if s.open, err = r.openCalls(ctx); err != nil {
		return nil, err
	}
	if err := s.read(ctx, r); err != nil {
		return nil, err
	}
	for _, c := range s.order {
		if c.broken {
			r.log.Warn("records of a process were changed: none of them is removed; see petrigate audit verify", "chain", c.writer)
		}
	}
	e := &audit.Removed{Time: r.now(), Event: "removed", Before: cutoff.UTC(), Records: last.Records}
	if s.choose(e) {
		return e, nil
	}
	return nil, nil
}

func placeOf(h audit.Head) (p audit.Place, err error) {
	p.Seq = h.Seq
	_, err = hex.Decode(p.Hash[:], []byte(h.Hash))
	return p, err
}

func headOf(writer string, p audit.Place) audit.Head {
	return audit.Head{Writer: writer, Seq: p.Seq, Hash: hex.EncodeToString(p.Hash[:])}
}

// openCalls are the calls that are open or of unknown end.
func (r *Retention) openCalls(ctx context.Context) (map[string]map[uint64]bool, error) {
	open := map[string]map[uint64]bool{}
	for p, err := range r.database.ListWith(ctx, backend.Session, statecode.OpenCalls) {
		if err != nil {
			return nil, err
		}
		_, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
		if err != nil {
			return nil, err
		}
		of := map[uint64]bool{}
		for _, c := range calls {
			of[c.Number] = true
		}
		open[p.ID.Name] = of
	}
	return open, nil
}

func (s *survey) chain(writer string) *removable {
	c := s.chains[writer]
	if c == nil {
		c = &removable{writer: writer}
		s.chains[writer], s.order = c, append(s.order, c)
	}
	return c
}

// read reads the oldest records until a page of them is not old: clocks differ.
func (s *survey) read(ctx context.Context, of *Retention) error {
	young, n := 0, 0
	for r, err := range of.database.Records(ctx, backend.Query{Page: readAtOnce}) {
		if err != nil {
			return err
		}
		if n++; n%readAtOnce == 0 {
			if err := of.rest(ctx, readRest); err != nil {
				return err
			}
		}
		switch old := r.Time.Before(s.cutoff); {
		case old && s.total == roundRecords:
			s.stays(r.Time) // with all that follow
			return nil
		case old:
			young = 0
		default:
			if young++; young == backend.PageSize {
				return nil
			}
		}
		s.take(&r)
	}
	return nil
}

// stays notes that a start which is as old as that may not be removed.
func (s *survey) stays(at time.Time) {
	if s.oldest.IsZero() || at.Before(s.oldest) {
		s.oldest = at
	}
}

// take says what becomes of the next record.
func (s *survey) take(r *backend.Record) {
	c := s.chain(r.Writer)
	kind, call := s.kind(r)
	switch {
	case c.over:
	case !r.Time.Before(s.cutoff), kind == "decision" && s.open[r.Session][call]:
		c.over = true
	case kind == "removed" && !r.Time.Add(startSlack).Before(s.cutoff):
		c.over = true
	case r.Seq == s.ends[r.Writer] && s.live[r.Writer]:
		c.over = true
	case r.Seq != c.place.Seq+1, audit.Link(c.place.Hash, r.Seq, r.Object) != r.Hash:
		c.over, c.broken = true, true
	}
	if c.over {
		if kind == "start" {
			s.stays(r.Time)
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
		c.removed = append(c.removed, placed{r.Time, c.place, c.records})
	}
	c.place = audit.Place{Seq: r.Seq, Hash: r.Hash}
}

// kind returns what a record is, as far as that decides whether it stays.
func (s *survey) kind(r *backend.Record) (event string, call uint64) {
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

// whole reports whether the chain is removed whole.
func (s *survey) whole(c *removable) bool { return c.place.Seq >= s.ends[c.writer] }

// bounded reports whether nothing of the chain is removed now since the event names enough others.
func (s *survey) bounded(c *removable, begun, whole int) bool {
	if s.whole(c) {
		return whole >= roundWhole
	}
	return c.from.Seq == 0 && begun >= mostBegun
}

// choose says in the event what is removed, and reports whether anything is but events of removals: one
// would follow the other for ever.
func (s *survey) choose(e *audit.Removed) bool {
	var begun, whole []*removable
	for _, c := range s.order {
		if c.broken || s.bounded(c, len(begun), len(whole)) {
			c.place, c.records, c.removed = c.from, 0, nil
			if !c.start.IsZero() {
				s.stays(c.start)
			}
		}
		switch {
		case c.place.Seq == 0:
		case s.whole(c):
			whole = append(whole, c)
		default:
			begun = append(begun, c)
		}
	}
	worth := false
	for _, c := range slices.Concat(begun, whole) {
		s.spare(c)
		if c.place.Seq > 0 {
			e.Chains = append(e.Chains, headOf(c.writer, c.place))
			e.Records += c.records
			worth = worth || c.records > uint64(len(c.removed))
		}
	}
	slices.SortFunc(e.Chains, func(a, b audit.Head) int { return strings.Compare(a.Writer, b.Writer) })
	return worth
}

// spare keeps the events of removals that a start which stays may need, with what comes after them.
func (s *survey) spare(c *removable) {
	for i, p := range c.removed {
		if !s.oldest.IsZero() && !p.at.Add(startSlack).Before(s.oldest) {
			c.place, c.records, c.removed = p.before, p.nth-1, c.removed[:i]
			return
		}
	}
}
