package store

import (
	"slices"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// row is what an entry or a part is in a database, as long as it is as it was read and as
// steps of this process left it. It is dropped, and never read again, once that is not
// known to be so. The lock of the entry or of the part guards it.
type row struct {
	id      backend.PartID
	version int64   // after the steps that were staged
	size    int     // of the data that was written last
	last    *queued // that was staged last; nil: none
	dirty   map[value]struct{}
	gone    []string // rows of values that are to be removed with the next write

	written int              // by this process, or like it: so many writes, the first one of the whole part; 0: it was not
	change  statecode.Change // since the last write

	durable atomic.Int64          // version after the steps that were committed
	dropped atomic.Pointer[error] // why; nil: it is not
}

// value is a value of the key of a net whose state is not written yet.
type value struct {
	net int
	key string
}

func newRow(p *backend.Part) *row {
	r := &row{id: p.ID, version: p.Version}
	r.durable.Store(p.Version)
	return r
}

// drop says that what this process believes of the row is wrong.
func (r *row) drop(why error) { r.dropped.CompareAndSwap(nil, &why) }

// faulty returns why the row was dropped.
func (r *row) faulty() error {
	if why := r.dropped.Load(); why != nil {
		return *why
	}
	return nil
}

// pending reports whether steps were staged whose end is not known.
func (r *row) pending() bool { return r.version != r.durable.Load() }

// mostChanges is how many writes of changes follow a write of the whole part: it is made of them again.
const mostChanges = 64

// changesOnly reports whether the next write has only the changes.
func (r *row) changesOnly(b backend.Backend) bool {
	return r.written > 0 && r.written <= mostChanges && b.Merges()
}

// moves notes that a net has moved.
func (r *row) moves(net int) {
	if !slices.Contains(r.change.Nets, net) {
		r.change.Nets = append(r.change.Nets, net)
	}
}

// calls notes that an open call was opened, closed or changed.
func (r *row) calls(number uint64) {
	if number != 0 && !slices.Contains(r.change.Calls, number) {
		r.change.Calls = append(r.change.Calls, number)
	}
}

// spoil notes that the state for a value has changed.
func (r *row) spoil(net int, key string) {
	if r.dirty == nil {
		r.dirty = map[value]struct{}{}
	}
	r.dirty[value{net, key}] = struct{}{}
}

// spoilAll notes the values that a net had or has.
func (r *row) spoilAll(net int, values ...*gate.Values) {
	for _, v := range values {
		for key := range v.All() {
			r.spoil(net, key)
		}
	}
}

// room returns space for the data of the next write.
func (r *row) room() []byte { return make([]byte, 0, r.size+r.size/8+128) }

// values returns the rows of values that have changed since they were written.
func (r *row) values(c *statecode.Codec, s *gate.State) (map[string][]byte, error) {
	if len(r.dirty)+len(r.gone) == 0 {
		return nil, nil
	}
	rows := make(map[string][]byte, len(r.dirty)+len(r.gone))
	for _, name := range r.gone { // those that are there again come after
		rows[name] = nil
	}
	for v := range r.dirty {
		name := c.Row(v.net, v.key)
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
