package journal

import (
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// maxVersions is the maximum number of versions in an image's cache. The cache holds versions of
// parts that have not changed since the checkpoint.
const maxVersions = 1 << 16

// image holds the difference between the checkpoint and the state at a position in the log.
type image struct {
	at     position
	folded uint64 // last step in the checkpoint

	parts    map[backend.PartID]*part
	versions map[backend.PartID]int64 // cached versions of parts of the state that have not changed since the checkpoint
	stops    map[string]backend.Stop  // all stops in force
	switched map[string]uint64        // number of the last step that used the kill switch since the checkpoint, keyed by session; the empty key stands for all sessions
	used     map[string]use           // approvals used by steps since the checkpoint
	heads    map[string]head          // last record of each chain that has grown since the checkpoint, keyed by writer
	clock    sqlite.Clock

	since time.Time // time when the first step since the checkpoint was applied; zero if the checkpoint is up to date
	bytes int64     // total size in bytes of the log's lines since the checkpoint
}

// part holds the changes made to a [backend.Part] since the checkpoint.
type part struct {
	step    uint64
	version int64
	changed time.Time
	data    []byte   // nil if the data is the same as in the checkpoint
	changes [][]byte // changes to the data; see [statecode.Merge]
	cleared bool     // whether the part's values in the checkpoint are obsolete
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

// newImage returns an image without changes, at the checkpoint's position.
func newImage(at *sqlite.Place, stops map[string]backend.Stop, clock sqlite.Clock) image {
	return image{
		at: position{at.Step, at.Hash, at.Segment, at.Offset}, folded: at.Step,
		parts: map[backend.PartID]*part{}, versions: map[backend.PartID]int64{}, stops: stops, switched: map[string]uint64{},
		used: map[string]use{}, heads: map[string]head{}, clock: clock,
	}
}

// version returns the version of a [backend.Part]. It returns false if the version must be read
// from the checkpoint.
func (i *image) version(id backend.PartID) (int64, bool) {
	if p := i.parts[id]; p != nil {
		return p.version, true
	}
	v, ok := i.versions[id]
	return v, ok
}

// setVersion caches the version of a [backend.Part] that has not changed since the checkpoint.
func (i *image) setVersion(id backend.PartID, version int64) {
	if len(i.versions) >= maxVersions {
		clear(i.versions)
	}
	i.versions[id] = version
}

// apply applies the changes of a step to the image. The caller must update the image's position.
func (i *image) apply(s *step) {
	for k := range s.moves {
		i.applyMove(s.number, &s.moves[k])
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
		at := s.stop.Time.UnixMicro()
		i.clock.Told, i.clock.Ahead = at, max(at, i.clock.Latest)
	}
	if i.since.IsZero() {
		i.since = time.Now()
	}
}

func (i *image) applyMove(step uint64, m *move) {
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

// pendingFold returns the changes that the checkpoint lacks.
func (i *image) pendingFold() *sqlite.Fold {
	f := &sqlite.Fold{
		From:  i.folded,
		To:    sqlite.Place{Step: i.at.step, Hash: i.at.hash, Segment: i.at.segment, Offset: i.at.offset},
		Parts: make([]sqlite.Change, 0, len(i.parts)), Stops: map[string]*backend.Stop{}, Used: map[string]time.Time{}, Clock: i.clock,
	}
	for id, p := range i.parts {
		f.Parts = append(f.Parts, p.snapshot(id))
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

// snapshot returns a copy of the part's changes.
func (p *part) snapshot(id backend.PartID) sqlite.Change {
	return sqlite.Change{Cleared: p.cleared, Changes: slices.Clip(p.changes),
		Part: backend.Part{ID: id, Version: p.version, Data: p.data, Values: maps.Clone(p.values), Changed: p.changed}}
}

// dropFolded removes the changes of all steps up to the given one, because the checkpoint now
// contains them. n is the total size of their lines in bytes.
func (i *image) dropFolded(step uint64, n int64) {
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
			i.setVersion(id, p.version)
		}
	}
	maps.DeleteFunc(i.switched, func(_ string, at uint64) bool { return at <= step })
	maps.DeleteFunc(i.used, func(_ string, u use) bool { return u.step <= step })
	maps.DeleteFunc(i.heads, func(_ string, h head) bool { return h.step <= step })
}
