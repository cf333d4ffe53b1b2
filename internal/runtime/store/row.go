package store

import (
	"slices"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// row describes a row of the database, usually that of an [entry] or a [part]. It contains the
// row's version and the changes since the last write. A row becomes invalid when a failed step or a
// check of its version shows that it might differ from the database. An invalid row is dropped, and
// the entry or part reads a new one. The lock of the entry or part guards all fields except the
// atomic ones.
type row struct {
	id      backend.PartID
	version int64       // version after all staged steps, even if they are not committed yet
	size    int         // size in bytes of the data in the last write
	last    *queuedStep // last staged step, or nil
	dirty   map[valueID]struct{}
	removed []string // names of the value rows that the next write must remove; each value row stores a net's state for one value of the net's key (see row.encodeValues)

	sinceFull int              // 0 if the next write must contain the whole part; otherwise 1 plus the number of change-only writes since the whole part was last read or written
	change    statecode.Change // changes since the last write

	durable atomic.Int64          // version after the steps that are already committed
	dropped atomic.Pointer[error] // reason for dropping the row, or nil if the row is valid
}

// valueID identifies a net's state for one value of the net's key.
type valueID struct {
	net int
	key string
}

func newRow(p *backend.Part) *row {
	r := &row{id: p.ID, version: p.Version}
	r.durable.Store(p.Version)
	return r
}

// drop marks the row as invalid for the given reason, unless it is invalid already.
func (r *row) drop(why error) { r.dropped.CompareAndSwap(nil, &why) }

// dropReason returns the reason for dropping the row, or nil if the row is valid.
func (r *row) dropReason() error {
	if why := r.dropped.Load(); why != nil {
		return *why
	}
	return nil
}

// pending reports whether the row has queued steps that are not committed yet.
func (r *row) pending() bool { return r.version != r.durable.Load() }

// maxChangeWrites is the maximum number of consecutive writes that contain only changes. More
// changes would make reading the row slow, because a read applies all of them.
const maxChangeWrites = 64

// changesOnly reports whether the next write may contain only the changes instead of the whole part
// of the state.
func (r *row) changesOnly(b backend.Backend) bool {
	return r.sinceFull > 0 && r.sinceFull <= maxChangeWrites && b.Merges()
}

// markNet records that a net has changed, so that the next write contains it.
func (r *row) markNet(net int) { r.change.Nets = list.Add(r.change.Nets, net) }

// markCall records that an open call was added, changed or closed, so that the next write contains
// the change. The number 0 is ignored.
func (r *row) markCall(number uint64) {
	if number != 0 && !slices.Contains(r.change.Calls, number) {
		r.change.Calls = append(r.change.Calls, number)
	}
}

// markValue records that the state of a net for one value of its key has changed.
func (r *row) markValue(net int, key string) {
	if r.dirty == nil {
		r.dirty = map[valueID]struct{}{}
	}
	r.dirty[valueID{net, key}] = struct{}{}
}

// markValues records that the states of a net for all the given values of its key have changed.
func (r *row) markValues(net int, values ...*gate.Values) {
	for _, v := range values {
		for key := range v.All() {
			r.markValue(net, key)
		}
	}
}

// buffer returns an empty buffer with enough capacity for the next write.
func (r *row) buffer() []byte { return make([]byte, 0, r.size+r.size/8+128) }

// encodeValues encodes the value rows (one for each value of a net's key) that have changed since
// the last write. The result contains nil for each row that must be removed.
func (r *row) encodeValues(c *statecode.Codec, s *gate.State) (map[string][]byte, error) {
	if len(r.dirty)+len(r.removed) == 0 {
		return nil, nil
	}
	rows := make(map[string][]byte, len(r.dirty)+len(r.removed))
	for _, name := range r.removed { // removals come first, because the next loop may write some of these rows again
		rows[name] = nil
	}
	for v := range r.dirty {
		name := c.RowName(v.net, v.key)
		d := s.Nets[v.net].Values.Get(v.key)
		if d == nil {
			rows[name] = nil
			continue
		}
		data, err := c.AppendValue(nil, v.net, d)
		if err != nil {
			return nil, err
		}
		rows[name] = data
	}
	return rows, nil
}
