package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// maxName bounds names and keys: an index takes no more than 2,704 bytes.
const maxName = 1000

// A batch is ops as the arrays that petrigate_commit takes.
type batch struct {
	ops []*backend.Op // that are sent; the others have their Err

	scopes []string
	names  [][]byte
	fresh  []int32 // parts that may have to be made
	places map[backend.PartID]int32
	ends   []int32 // of runs of parts that are all only read, or all written
	shared []bool  // by run

	sessions, uses [][]byte
	reserve        []bool
	times          []*time.Time // nil: now
	writes, events []int32      // the end of those of each op
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

// newBatch encodes ops, but for those of which it is known that they cannot be committed.
func newBatch(ops []*backend.Op, f *fresh) *batch {
	b := &batch{
		// Not nil: an array without elements is not NULL.
		ops: []*backend.Op{}, scopes: []string{}, names: [][]byte{}, fresh: []int32{}, places: map[backend.PartID]int32{}, ends: []int32{}, shared: []bool{},
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
	b.place(p.parts)
	for _, op := range b.ops {
		b.add(op)
	}
	return b
}

// A plan is what the ops of a batch do with parts.
type plan struct {
	fresh *fresh
	parts map[backend.PartID]*part
}

type part struct {
	made    bool // it may not be there yet
	written bool // by an op that is sent
	refused bool // an op that is not sent would have written it
	sent    bool // an op that is sent has it
}

func (p *plan) part(id backend.PartID) *part {
	if p.parts[id] == nil {
		p.parts[id] = &part{}
	}
	return p.parts[id]
}

// add says why an op cannot be committed, whatever the database says, or adds it.
func (p *plan) add(op *backend.Op) error {
	err := p.unfit(op)
	for _, w := range op.Writes {
		x := p.part(w.ID)
		if err != nil {
			x.refused = x.refused || !w.Read
			continue
		}
		x.sent = true
		x.made = x.made || w.Version == 0
		x.written = x.written || !w.Read
	}
	return err
}

func (p *plan) unfit(op *backend.Op) error {
	for _, w := range op.Writes {
		x := p.part(w.ID)
		if x.refused || w.Version != 0 && !x.written && !p.fresh.has(w.ID) {
			return backend.ErrStale
		}
		if len(w.ID.Name) > maxName {
			return fmt.Errorf("the name of a %s has %d bytes; %d are stored", w.ID.Scope, len(w.ID.Name), maxName)
		}
		for key := range w.Values {
			if len(key) > maxName {
				return fmt.Errorf("a value of a key has %d bytes; %d are stored", len(key), maxName)
			}
		}
	}
	return nil
}

// place puts the parts in the order in which all processes lock them.
func (b *batch) place(parts map[backend.PartID]*part) {
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
		b.places[id] = at
		b.scopes, b.names = append(b.scopes, string(id.Scope)), append(b.names, []byte(id.Name))
		if p.made {
			b.fresh = append(b.fresh, at)
		}
		if last := len(b.ends) - 1; last >= 0 && b.shared[last] == !p.written {
			b.ends[last] = at
		} else {
			b.ends, b.shared = append(b.ends, at), append(b.shared, !p.written)
		}
	}
}

func (b *batch) add(op *backend.Op) {
	for _, w := range op.Writes {
		b.writePart, b.writeVersion = append(b.writePart, b.places[w.ID]), append(b.writeVersion, w.Version)
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
	b.uses, b.times = append(b.uses, uses), append(b.times, known(op.Time))
	b.writes, b.events = append(b.writes, int32(len(b.writePart))), append(b.events, int32(len(b.eventTime)))
}

// known is nil for no time at all.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// turn adds a use of the kill switch.
func (b *batch) turn(s backend.Stop, on bool) {
	b.switched, b.stopTime = &on, &s.Time
	b.stopSession, b.actor, b.reason = []byte(s.Session), []byte(s.Actor), []byte(s.Reason)
}

// args are the arguments of petrigate_commit after those that say who commits.
func (b *batch) args() []any {
	return []any{
		b.scopes, b.names, b.fresh, b.ends, b.shared,
		b.sessions, b.reserve, b.uses, b.times, b.writes, b.events,
		b.writePart, b.writeVersion, b.writeRead, b.writeData,
		b.valueWrite, b.valueKey, b.valueData,
		b.eventTime, b.eventSession, b.eventObject,
		b.switched, b.stopSession, b.actor, b.reason, b.stopTime,
	}
}

// answer is what petrigate_commit said.
type answer struct {
	codes  []int32
	newest *time.Time // of the records, where a clock is behind them
}

// answered sets the errors of the ops.
func (b *batch) answered(a answer, mark string, f *fresh) error {
	if len(a.codes) != len(b.ops) {
		return fmt.Errorf("petrigate_commit answered for %d of %d ops", len(a.codes), len(b.ops))
	}
	for i, op := range b.ops {
		switch op.Err = [...]error{nil, backend.ErrStale, backend.ErrUsed, backend.ErrStopped, backend.ErrClock}[a.codes[i]]; {
		case op.Err == nil:
			for _, w := range op.Writes {
				f.add(mark, w.ID) // of a part that was only read, it was seen to be as it was
			}
		case a.codes[i] == 4 && a.newest != nil:
			op.Err = backend.Behind(op.Time, *a.newest)
		}
	}
	return nil
}
