package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// maxName is the maximum length of names and keys in bytes. An index entry can be at most 2,704
// bytes long.
const maxName = 1000

// batch encodes ops as arrays, the arguments of the SQL function petrigate_commit.
type batch struct {
	ops []*backend.Op // ops to send; the other ops already have their Err set

	scopes    []string
	names     [][]byte
	inserts   []int32 // indexes of the parts of the state that may need to be inserted, counting from 1
	positions map[backend.PartID]int32
	ends      []int32 // for each run of parts, the index of its last part, counting from 1; a run consists of adjacent parts that are all written or all only read
	shared    []bool  // whether the parts of each run are only read

	sessions, uses [][]byte
	reserve        []bool
	times          []*time.Time // time of each op; nil means the server's time
	writes, events []int32      // end indexes of each op's writes and events
	writePart      []int32
	writeVersion   []int64
	writeRead      []bool
	writeData      [][]byte
	valueWrite     []int32
	valueKey       [][]byte
	valueData      [][]byte
	eventTime      []time.Time
	eventSession   [][]byte
	eventObject    [][]byte
	switched       *bool
	stopSession    []byte
	actor, reason  []byte
	stopTime       *time.Time
}

// newBatch returns a batch with the given ops. It leaves out the ops that are certain to fail, and
// sets their Err.
func newBatch(ops []*backend.Op, f *freshParts) *batch {
	b := &batch{
		// not nil, because an empty array must not become NULL
		ops: []*backend.Op{}, scopes: []string{}, names: [][]byte{}, inserts: []int32{}, positions: map[backend.PartID]int32{}, ends: []int32{}, shared: []bool{},
		sessions: [][]byte{}, uses: [][]byte{}, reserve: []bool{}, times: []*time.Time{}, writes: []int32{}, events: []int32{},
		writePart: []int32{}, writeVersion: []int64{}, writeRead: []bool{}, writeData: [][]byte{}, valueWrite: []int32{}, valueKey: [][]byte{}, valueData: [][]byte{},
		eventTime: []time.Time{}, eventSession: [][]byte{}, eventObject: [][]byte{},
	}
	p := plan{fresh: f, parts: map[backend.PartID]*part{}}
	for _, op := range ops {
		if op.Err = p.add(op); op.Err == nil {
			b.ops = append(b.ops, op)
		}
	}
	b.orderParts(p.parts)
	for _, op := range b.ops {
		b.addOp(op)
	}
	return b
}

// plan records which parts of the state the ops of a batch read, write or insert.
type plan struct {
	fresh *freshParts
	parts map[backend.PartID]*part
}

type part struct {
	mayInsert bool // whether the part must be inserted if it does not exist
	written   bool // whether an op that will be sent writes the part
	refused   bool // whether a rejected op would have written the part
	sent      bool // whether an op that will be sent uses the part
}

func (p *plan) part(id backend.PartID) *part {
	if p.parts[id] == nil {
		p.parts[id] = &part{}
	}
	return p.parts[id]
}

// add adds an op to the plan. It returns an error if the op is certain to fail, whatever the
// database contains.
func (p *plan) add(op *backend.Op) error {
	err := p.reject(op)
	for _, w := range op.Writes {
		x := p.part(w.ID)
		if err != nil {
			x.refused = x.refused || !w.Read
			continue
		}
		x.sent = true
		x.mayInsert = x.mayInsert || w.Version == 0
		x.written = x.written || !w.Read
	}
	return err
}

func (p *plan) reject(op *backend.Op) error {
	for _, w := range op.Writes {
		x := p.part(w.ID)
		if x.refused || w.Version != 0 && !x.written && !p.fresh.has(w.ID) {
			return backend.ErrStale
		}
		if len(w.ID.Name) > maxName {
			return fmt.Errorf("the name of a %s has %d bytes; the limit is %d", w.ID.Scope, len(w.ID.Name), maxName)
		}
		for key := range w.Values {
			if len(key) > maxName {
				return fmt.Errorf("a key value has %d bytes; the limit is %d", len(key), maxName)
			}
		}
	}
	return nil
}

// orderParts adds the parts of the state to the batch, in the order that all processes use to lock
// them.
func (b *batch) orderParts(parts map[backend.PartID]*part) {
	ids := make([]backend.PartID, 0, len(parts))
	for id, p := range parts {
		if p.sent {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y backend.PartID) int {
		return cmp.Or(cmp.Compare(x.Scope, y.Scope), cmp.Compare(x.Name, y.Name))
	})
	for n, id := range ids {
		p, at := parts[id], int32(n+1)
		b.positions[id] = at
		b.scopes, b.names = append(b.scopes, string(id.Scope)), append(b.names, []byte(id.Name))
		if p.mayInsert {
			b.inserts = append(b.inserts, at)
		}
		if last := len(b.ends) - 1; last >= 0 && b.shared[last] == !p.written {
			b.ends[last] = at
		} else {
			b.ends, b.shared = append(b.ends, at), append(b.shared, !p.written)
		}
	}
}

func (b *batch) addOp(op *backend.Op) {
	for _, w := range op.Writes {
		b.writePart, b.writeVersion = append(b.writePart, b.positions[w.ID]), append(b.writeVersion, w.Version)
		b.writeData, b.writeRead = append(b.writeData, w.Data), append(b.writeRead, w.Read)
		if w.Data == nil || w.Read {
			continue
		}
		for key, data := range w.Values {
			b.valueWrite = append(b.valueWrite, int32(len(b.writePart)))
			b.valueKey, b.valueData = append(b.valueKey, []byte(key)), append(b.valueData, data)
		}
	}
	for _, e := range op.Events {
		b.eventTime, b.eventSession = append(b.eventTime, e.Time), append(b.eventSession, []byte(e.Session))
		b.eventObject = append(b.eventObject, e.Object)
	}
	var uses []byte
	if op.Uses != "" {
		uses = []byte(op.Uses)
	}
	b.sessions, b.reserve = append(b.sessions, []byte(op.Session)), append(b.reserve, op.Reserve)
	b.uses, b.times = append(b.uses, uses), append(b.times, timeOrNil(op.Time))
	b.writes, b.events = append(b.writes, int32(len(b.writePart))), append(b.events, int32(len(b.eventTime)))
}

// timeOrNil returns a pointer to t, or nil if t is the zero time.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// addStop adds a use of the kill switch to the batch.
func (b *batch) addStop(s backend.Stop, on bool) {
	b.switched, b.stopTime = &on, &s.Time
	b.stopSession, b.actor, b.reason = []byte(s.Session), []byte(s.Actor), []byte(s.Reason)
}

// args returns the arguments of the SQL function petrigate_commit, except the first ones, which
// identify the writer.
func (b *batch) args() []any {
	return []any{
		b.scopes, b.names, b.inserts, b.ends, b.shared,
		b.sessions, b.reserve, b.uses, b.times, b.writes, b.events,
		b.writePart, b.writeVersion, b.writeRead, b.writeData,
		b.valueWrite, b.valueKey, b.valueData,
		b.eventTime, b.eventSession, b.eventObject,
		b.switched, b.stopSession, b.actor, b.reason, b.stopTime,
	}
}

// answer is the result of the SQL function petrigate_commit.
type answer struct {
	codes  []int32
	newest *time.Time // time of the newest record; set only if an op has an earlier time
}

// applyAnswer sets the field Err of each op that was sent. If an op was committed, applyAnswer also
// marks the parts that the op has read or written: they are now fresh; see [freshParts]. The
// argument mark is the database's mark at the time of the answer. This mark changes when the server
// recovers from a crash.
func (b *batch) applyAnswer(a answer, mark string, f *freshParts) error {
	if len(a.codes) != len(b.ops) {
		return fmt.Errorf("petrigate_commit answered for %d of %d ops", len(a.codes), len(b.ops))
	}
	for i, op := range b.ops {
		switch op.Err = [...]error{nil, backend.ErrStale, backend.ErrUsed, backend.ErrStopped, backend.ErrClock}[a.codes[i]]; {
		case op.Err == nil:
			for _, w := range op.Writes {
				f.add(mark, w.ID) // the database has confirmed the version, even if the op only read the part
			}
		case a.codes[i] == 4 && a.newest != nil:
			op.Err = backend.Behind(op.Time, *a.newest)
		}
	}
	return nil
}
