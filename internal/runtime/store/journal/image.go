package journal

import (
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// mostVersions is how many versions of parts are remembered that the checkpoint has too.
const mostVersions = 1 << 16

// An image is the state as it is at a position of the log, as far as it differs from the checkpoint.
type image struct {
	at     position
	folded uint64 // the checkpoint has all steps up to this one

	parts    map[backend.PartID]*part
	versions map[backend.PartID]int64 // of other parts, as far as they are known
	stops    map[string]backend.Stop  // all
	switched map[string]uint64        // sessions whose stops have changed, and the step
	used     map[string]use           // approvals
	heads    map[string]head          // by writer
	clock    sqlite.Clock

	since time.Time // when the first step came that is not folded; zero: all are
	bytes int64     // of the lines that are not folded
}

// A part is one that was moved by a step that is not folded.
type part struct {
	step    uint64
	version int64
	changed time.Time
	data    []byte   // nil: the checkpoint has it
	changes [][]byte // of data, see [statecode.Merge]
	cleared bool     // the values in the checkpoint are not its own
	values  map[string][]byte
}

type use struct {
	step uint64
	at   time.Time
}

type head struct {
	step   uint64
	record backend.Record
}

// newImage is the state at the place of a checkpoint.
func newImage(at *sqlite.Place, stops map[string]backend.Stop, clock sqlite.Clock) image {
	return image{
		at: position{at.Step, at.Hash, at.Segment, at.Offset}, folded: at.Step,
		parts: map[backend.PartID]*part{}, versions: map[backend.PartID]int64{}, stops: stops, switched: map[string]uint64{},
		used: map[string]use{}, heads: map[string]head{}, clock: clock,
	}
}

// version is that of a part. It reports false where only the checkpoint knows it.
func (i *image) version(id backend.PartID) (int64, bool) {
	if p := i.parts[id]; p != nil {
		return p.version, true
	}
	v, ok := i.versions[id]
	return v, ok
}

// know notes the version of a part that the checkpoint has.
func (i *image) know(id backend.PartID, version int64) {
	if len(i.versions) >= mostVersions {
		clear(i.versions)
	}
	i.versions[id] = version
}

// apply moves the image by a step, which is in the log from its position on.
func (i *image) apply(s *step) {
	for k := range s.moves {
		i.move(s.number, &s.moves[k])
	}
	for k := range s.records {
		r := &s.records[k]
		i.clock.Latest = max(i.clock.Latest, r.Time.UnixMicro())
		i.heads[r.Writer] = head{s.number, *r}
	}
	if s.used != "" {
		i.used[s.used] = use{s.number, s.usedAt}
	}
	if s.stop != nil {
		if s.on {
			i.stops[s.stop.Session] = *s.stop
		} else {
			delete(i.stops, s.stop.Session)
		}
		i.switched[s.stop.Session] = s.number
		told := s.stop.Time.UnixMicro()
		i.clock.Told, i.clock.Ahead = told, max(told, i.clock.Latest)
	}
	if i.since.IsZero() {
		i.since = time.Now()
	}
}

func (i *image) move(step uint64, m *move) {
	p := i.parts[m.id]
	if p == nil {
		p = &part{}
		i.parts[m.id] = p
		delete(i.versions, m.id)
	}
	p.step, p.version, p.changed = step, m.version, m.changed
	if m.data == nil && m.version > 0 {
		p.changes = append(p.changes, m.change)
	} else {
		p.data, p.changes = m.data, nil
	}
	switch {
	case m.version == 0:
		p.cleared, p.values = true, nil
	case len(m.values) > 0:
		if p.values == nil {
			p.values = make(map[string][]byte, len(m.values))
		}
		maps.Copy(p.values, m.values)
	}
}

// fold is what the checkpoint lacks.
func (i *image) fold() *sqlite.Fold {
	f := &sqlite.Fold{
		From:  i.folded,
		To:    sqlite.Place{Step: i.at.step, Hash: i.at.hash, Segment: i.at.segment, Offset: i.at.offset},
		Parts: make([]sqlite.Change, 0, len(i.parts)), Stops: map[string]*backend.Stop{}, Used: map[string]time.Time{}, Clock: i.clock,
	}
	for id, p := range i.parts {
		f.Parts = append(f.Parts, p.now(id))
	}
	for session := range i.switched {
		f.Stops[session] = nil
		if s, on := i.stops[session]; on {
			f.Stops[session] = &s
		}
	}
	for id, u := range i.used {
		f.Used[id] = u.at
	}
	for _, h := range i.heads {
		f.Heads = append(f.Heads, h.record)
	}
	return f
}

// now returns a copy of the changes to the part.
func (p *part) now(id backend.PartID) sqlite.Change {
	return sqlite.Change{Cleared: p.cleared, Changes: slices.Clip(p.changes),
		Part: backend.Part{ID: id, Version: p.version, Data: p.data, Values: maps.Clone(p.values), Changed: p.changed}}
}

// forget forgets what the checkpoint has, which is folded up to that step. n are the bytes up to
// there that were not.
func (i *image) forget(step uint64, n int64) {
	if step <= i.folded {
		return
	}
	i.folded, i.since, i.bytes = step, time.Time{}, max(0, i.bytes-n)
	if i.at.step > step {
		i.since = time.Now()
	}
	for id, p := range i.parts {
		if p.step <= step {
			delete(i.parts, id)
			i.know(id, p.version)
		}
	}
	for session, at := range i.switched {
		if at <= step {
			delete(i.switched, session)
		}
	}
	for id, u := range i.used {
		if u.step <= step {
			delete(i.used, id)
		}
	}
	for writer, h := range i.heads {
		if h.step <= step {
			delete(i.heads, writer)
		}
	}
}
