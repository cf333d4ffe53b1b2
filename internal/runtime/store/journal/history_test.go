package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
	"github.com/petrigate/petrigate/internal/soak"
)

// A keeping disk keeps a copy of each full segment that is removed because it has been sealed. Its
// flushes do nothing, because power is never lost.
type keeping struct {
	osDisk
	between func() // called at the next flush; may be nil
}

const keptSuffix = ".kept"

func (d *keeping) open(name string, flags int) (file, error) {
	f, err := d.osDisk.open(name, flags)
	if err != nil {
		return nil, err
	}
	return &unflushed{f, d}, nil
}

func (d *keeping) remove(name string) error {
	if strings.HasSuffix(name, fullSuffix) {
		err := os.Link(name, name+keptSuffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // another process has removed it too
			return err
		}
	}
	return d.osDisk.remove(name)
}

func (*keeping) syncDir(string) error { return nil }

type unflushed struct {
	file
	disk *keeping
}

func (f *unflushed) sync() error {
	if happens := f.disk.between; happens != nil {
		f.disk.between = nil
		happens()
	}
	return nil
}

// A content is the value of a part as a user of the state sees it, independent of its encoding.
type content struct {
	version int64
	data    map[string]any
	values  map[string]string
}

// A story is a model of the state in memory. It contains the expected results of all steps so far.
type story struct {
	parts     map[backend.PartID]content
	stops     map[string]bool
	approvals map[string]string // states of the approvals, keyed by ID
	records   []string          // in the order of the steps
	steps     uint64
}

func (s *story) part(id backend.PartID) content {
	if c, ok := s.parts[id]; ok {
		return c
	}
	return content{}
}

// judge returns the expected error of each op of a commit, and applies the ops to the model.
func (s *story) judge(ops []*backend.Op) (want []error) {
	moved, refused := map[backend.PartID]bool{}, map[backend.PartID]bool{}
	for _, op := range ops {
		err := s.verdict(op, moved, refused)
		want = append(want, err)
		for _, w := range op.Writes {
			switch {
			case w.Read:
			case err != nil:
				refused[w.ID] = true
			default:
				moved[w.ID] = true
				s.write(w)
			}
		}
		if err != nil {
			continue
		}
		s.steps++
		if op.Uses != "" {
			s.approvals[op.Uses] = backend.Consumed
		}
		for _, e := range op.Events {
			s.records = append(s.records, string(e.Object))
		}
	}
	return want
}

func (s *story) verdict(op *backend.Op, moved, refused map[backend.PartID]bool) error {
	if op.Reserve && (s.stops[""] || s.stops[op.Session]) {
		return backend.ErrStopped
	}
	for _, w := range op.Writes {
		if s.part(w.ID).version != w.Version || refused[w.ID] && !moved[w.ID] {
			return backend.ErrStale
		}
	}
	if op.Uses != "" && s.approvals[op.Uses] != backend.Approved {
		return backend.ErrUsed
	}
	return nil
}

func (s *story) write(w backend.Write) {
	if w.Data == nil && w.Change == nil {
		delete(s.parts, w.ID)
		return
	}
	c := content{version: w.Version + 1, data: object(w.Data), values: maps.Clone(s.part(w.ID).values)}
	if w.Data == nil {
		c.data = object(nil)
		maps.Copy(c.data, s.part(w.ID).data)
		for key, value := range object(w.Change) {
			if key != "nets" {
				c.data[key] = value
				continue
			}
			nets, _ := c.data["nets"].(map[string]any)
			if nets = maps.Clone(nets); nets == nil {
				nets = map[string]any{}
			}
			maps.Copy(nets, value.(map[string]any))
			maps.DeleteFunc(nets, func(_ string, v any) bool { return v == nil })
			c.data["nets"] = nets
		}
	}
	if nets, _ := c.data["nets"].(map[string]any); len(nets) == 0 {
		delete(c.data, "nets")
	}
	for key, data := range w.Values {
		if data == nil {
			delete(c.values, key)
			continue
		}
		if c.values == nil {
			c.values = map[string]string{}
		}
		c.values[key] = string(data)
	}
	s.parts[w.ID] = c
}

func object(data []byte) map[string]any {
	all := map[string]any{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &all); err != nil {
			panic(fmt.Sprintf("%s: %v", data, err))
		}
	}
	return all
}

// of returns the content of a part that was read from the state.
func of(p backend.Part) content {
	if p.Version == 0 {
		return content{}
	}
	c := content{version: p.Version, data: object(p.Data)}
	for key, data := range p.Values {
		if data == nil {
			continue
		}
		if c.values == nil {
			c.values = map[string]string{}
		}
		c.values[key] = string(data)
	}
	if nets, _ := c.data["nets"].(map[string]any); len(nets) == 0 {
		delete(c.data, "nets")
	}
	return c
}

func (c content) equal(d content) bool {
	return c.version == d.version && maps.Equal(c.values, d.values) && (c.version == 0 || reflect.DeepEqual(c.data, d.data))
}

// A history is a sequence of random operations by several processes that share a state and take
// turns.
type history struct {
	t      *testing.T
	random *rand.Rand
	path   string
	open   []*Backend
	story  story
	now    time.Time
	number int // number of the latest write or event

	flushes []func() error // flushes still to be run; the process may have ended meanwhile
}

var parts = []backend.PartID{
	{Scope: backend.Session, Name: "a"}, {Scope: backend.Session, Name: "b"}, {Scope: backend.Session, Name: "ü\xff"},
	{Scope: backend.Principal, Name: "p"}, {Scope: backend.Global},
}

// TestHistory runs random histories of several processes, some of them killed. It checks that four
// views of the state are equal: the state after a replay of the log from its beginning, the
// completely folded checkpoint, the results of reads, and a model in memory.
func TestHistory(t *testing.T) {
	t.Parallel()
	from, count := soak.Range(t, 30)
	for i := range uint64(count) {
		h := &history{
			t: t, random: rand.New(rand.NewPCG(from+i, 31)), path: place(t), now: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC),
			story: story{parts: map[backend.PartID]content{}, stops: map[string]bool{}, approvals: map[string]string{}},
		}
		for range 2 + h.random.IntN(2) {
			h.open = append(h.open, nil)
		}
		for range 5 + h.random.IntN(40) {
			h.step()
		}
		h.end()
		if t.Failed() {
			t.Fatalf("seed %d", from+i)
		}
	}
}

// process returns a random process, which it starts if necessary. It makes all other processes
// release the process lock.
func (h *history) process() (i int, b *Backend) {
	i = h.random.IntN(len(h.open))
	for k, b := range h.open {
		if b != nil && k != i {
			b.appending.Lock()
			b.process.unlock()
			b.appending.Unlock()
		}
	}
	if h.open[i] == nil {
		b, err := Open(h.t.Context(), Options{Path: h.path, segment: 700, disk: &keeping{}, Now: func() time.Time { return h.now }})
		if err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(b.abandon)
		h.open[i] = b
	}
	return i, h.open[i]
}

// step performs the next random operation.
func (h *history) step() {
	h.now = h.now.Add(time.Millisecond)
	i, b := h.process()
	var err error
	switch h.random.IntN(16) {
	case 0:
		b.abandon()
		h.open[i] = nil
	case 1:
		err = b.Close()
		h.open[i] = nil
	case 2:
		err = b.fold()
	case 3:
		err = h.folds(b)
	case 4:
		err = h.stop(b)
	case 5:
		id := strconv.Itoa(len(h.story.approvals))
		_, err = b.PutApproval(h.t.Context(), backend.Approval{ID: id, Key: id, State: backend.Approved, Created: h.now, Expires: h.now.Add(time.Hour), Data: []byte(`{}`)})
		h.story.approvals[id] = backend.Approved
	case 6, 7:
		h.reads(b)
	case 8:
		err = h.flush(h.random.IntN(1 + len(h.flushes)))
	default:
		h.commits(b)
	}
	if err != nil {
		h.t.Error(err)
	}
}

// folds folds the log while some process commits something.
func (h *history) folds(b *Backend) error {
	b.folding.Lock()
	defer b.folding.Unlock()
	d := b.log.disk.(*keeping)
	d.between = func() {
		_, other := h.process()
		defer func(before int64) { other.segment = before }(other.segment)
		other.segment = maxSegment // prevents a rotation, because it would wait for the end of the flush
		h.commits(other)
	}
	defer func() { d.between = nil }()
	return b.foldNow(true)
}

// flush runs the n oldest of the waiting flushes.
func (h *history) flush(n int) (err error) {
	for _, flush := range h.flushes[:n] {
		err = errors.Join(err, flush())
	}
	h.flushes = h.flushes[n:]
	return err
}

func (h *history) stop(b *Backend) error {
	session := []string{"", "a", "b"}[h.random.IntN(3)]
	on := h.random.IntN(3) == 0
	if on {
		h.story.stops[session] = true
	} else {
		delete(h.story.stops, session)
	}
	h.story.steps++
	e := h.event()
	h.story.records = append(h.story.records, string(e.Object))
	return b.SetStop(h.t.Context(), backend.Stop{Session: session, Reason: "r", Time: h.now}, on, e)
}

func (h *history) event() backend.Event {
	h.number++
	return backend.Event{Time: h.now, Session: "a", Object: fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, h.number, strings.Repeat("x", h.random.IntN(50)))}
}

// commits commits several random ops, most of them valid, and checks their errors.
func (h *history) commits(b *Backend) {
	var ops []*backend.Op
	ahead := map[backend.PartID]int64{}
	for range 1 + h.random.IntN(3) {
		op := &backend.Op{Session: []string{"a", "b"}[h.random.IntN(2)], Reserve: h.random.IntN(2) == 0, Lasts: h.random.IntN(2) == 0, Time: h.now}
		for _, k := range h.random.Perm(len(parts))[:1+h.random.IntN(2)] {
			op.Writes = append(op.Writes, h.write(parts[k], ahead))
		}
		for range h.random.IntN(3) {
			op.Events = append(op.Events, h.event())
		}
		if n := len(h.story.approvals); n > 0 && h.random.IntN(3) == 0 {
			op.Uses = strconv.Itoa(h.random.IntN(n + 1))
		}
		ops = append(ops, op)
	}
	want := h.story.judge(ops)
	if err := b.Commit(h.t.Context(), ops); err != nil {
		h.t.Error(err)
		return
	}
	for i, op := range ops {
		if op.Flush != nil {
			h.flushes = append(h.flushes, op.Flush)
		}
		if !errors.Is(op.Err, want[i]) {
			h.t.Errorf("op %d: %v, want %v", i, op.Err, want[i])
		}
	}
}

func (h *history) write(id backend.PartID, ahead map[backend.PartID]int64) backend.Write {
	version, known := ahead[id]
	if !known {
		version = h.story.part(id).version
	}
	w := backend.Write{ID: id, Version: version}
	if h.random.IntN(12) == 0 {
		w.Version += int64(h.random.IntN(3)) - 1
	}
	h.number++
	ahead[id] = w.Version + 1
	switch h.random.IntN(8) {
	case 0:
		w.Read = true
		ahead[id] = w.Version
		return w
	case 1:
		ahead[id] = 0
		return w // the part is removed
	case 2, 3, 4:
		if w.Version > 0 {
			w.Change = fmt.Appendf(nil, `{"v":1,"last":%d,"nets":{"n%d":%s}}`, h.number, h.random.IntN(3), []string{"null", "[1]", strconv.Itoa(h.number)}[h.random.IntN(3)])
			break
		}
		fallthrough
	default:
		w.Data = fmt.Appendf(nil, `{"v":1,"last":%d,"nets":{"n%d":%d}}`, h.number, h.random.IntN(3), h.number)
	}
	for range h.random.IntN(3) {
		if w.Values == nil {
			w.Values = map[string][]byte{}
		}
		key := "k" + strconv.Itoa(h.random.IntN(4))
		if w.Values[key] = nil; h.random.IntN(3) > 0 {
			w.Values[key] = []byte(`{"v":` + strconv.Itoa(h.number) + `}`)
		}
	}
	return w
}

// reads compares the results of reads with the model.
func (h *history) reads(b *Backend) {
	ctx := h.t.Context()
	all, err := b.Load(ctx, parts...)
	if err != nil {
		h.t.Error(err)
		return
	}
	versions, err := b.Versions(ctx, parts...)
	for i, p := range all {
		if err != nil || !of(p).equal(h.story.part(p.ID)) || versions[i] != p.Version {
			h.t.Errorf("%v is read as %v (version %v, %v), want %v", p.ID, of(p), versions, err, h.story.part(p.ID))
		}
	}
	listed := 0
	for _, scope := range []backend.Scope{backend.Session, backend.Principal, backend.Global} {
		for p, err := range b.List(ctx, scope, "") {
			listed++
			if err != nil || of(p).version != h.story.part(p.ID).version || !reflect.DeepEqual(of(p).data, h.story.part(p.ID).data) {
				h.t.Errorf("%v is listed as %v (%v), want %v", p.ID, of(p), err, h.story.part(p.ID))
			}
		}
	}
	stops, err := b.Stops(ctx)
	if err != nil || listed != len(h.story.parts) || len(stops) != len(h.story.stops) || slices.ContainsFunc(stops, func(s backend.Stop) bool { return !h.story.stops[s.Session] }) {
		h.t.Errorf("%d parts, want %d; stops: %v (%v), want %v", listed, len(h.story.parts), stops, err, h.story.stops)
	}
	approvals, err := b.Approvals(ctx, "", "", time.Time{})
	if err != nil || len(approvals) != len(h.story.approvals) {
		h.t.Error(approvals, err)
	}
	for _, a := range approvals {
		if a.State != h.story.approvals[a.ID] {
			h.t.Errorf("approval %s is %s, want %s", a.ID, a.State, h.story.approvals[a.ID])
		}
	}
	var records []string
	for r, err := range b.Records(ctx, backend.Query{}) {
		if err != nil {
			h.t.Error(err)
		}
		records = append(records, string(r.Object))
	}
	if !slices.Equal(records, h.story.records) {
		h.t.Errorf("records: %q, want %q", records, h.story.records)
	}
}

// end ends the history and checks that all views of the state are equal.
func (h *history) end() {
	_, b := h.process()
	h.reads(b)
	replayed, at := h.replay()
	if at.step != h.story.steps {
		h.t.Errorf("the log has %d steps, want %d", at.step, h.story.steps)
	}
	if err := b.fold(); err != nil {
		h.t.Error(err)
	}
	err := b.checkpoint.Read(func(r sqlite.Reading) error {
		place, err := r.Place()
		if err != nil || place.Step != at.step || place.Hash != at.hash {
			h.t.Errorf("the checkpoint is at step %d (%v), the log at %d", place.Step, err, at.step)
		}
		for _, id := range parts {
			p, err := r.Part(id)
			if err != nil || !of(p).equal(h.story.part(id)) {
				h.t.Errorf("%v is folded as %v (%v), want %v", id, of(p), err, h.story.part(id))
			}
			var c sqlite.Change
			if moved := replayed.parts[id]; moved != nil {
				c = moved.snapshot(id)
				if c.Data, err = c.Merged(nil); err != nil {
					return err
				}
			}
			if !of(c.Part).equal(h.story.part(id)) {
				h.t.Errorf("%v is replayed as %v, want %v", id, of(c.Part), h.story.part(id))
			}
		}
		stops, err := r.Stops()
		if err != nil || !reflect.DeepEqual(stops, replayed.stops) || len(stops) != len(h.story.stops) {
			h.t.Errorf("stops are folded as %v (%v), replayed as %v, want %v", stops, err, replayed.stops, h.story.stops)
		}
		clock, err := r.Clock()
		if err != nil || clock != replayed.clock {
			h.t.Errorf("the clock is folded as %v (%v), replayed as %v", clock, err, replayed.clock)
		}
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	for id, state := range h.story.approvals {
		if _, used := replayed.used[id]; used != (state == backend.Consumed) {
			h.t.Errorf("approval %s is %s; used by the log: %v", id, state, used)
		}
	}
	for _, b := range h.open {
		if b != nil {
			b.abandon()
		}
	}
	if err := h.flush(len(h.flushes)); err != nil {
		h.t.Error(err)
	}
}

// replay replays the log from its beginning, including the kept segments. It returns the resulting
// state and the position of the last step.
func (h *history) replay() (image, position) {
	names, err := filepath.Glob(h.path + segmentSuffix + "*" + fullSuffix + "*")
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(names) // by segment number
	i := newImage(&sqlite.Place{}, map[string]backend.Stop{}, sqlite.Clock{})
	var at position
	last := ""
	for _, name := range append(names, h.path+logSuffix) {
		number, _, _ := strings.Cut(name, fullSuffix)
		if number == last {
			continue // skip the copy, because the segment itself still exists
		}
		last = number
		data, err := os.ReadFile(name)
		if err != nil {
			h.t.Fatal(err)
		}
		header, rest, _ := bytes.Cut(trimPadding(data), []byte{'\n'})
		_, begin, err := readHeader(header)
		if err != nil || begin.step != at.step || begin.hash != at.hash {
			h.t.Fatalf("%s begins after step %d (%v), want %d", name, begin.step, err, at.step)
		}
		s := scan{at: begin}
		for len(rest) > 0 {
			from := s.at.offset
			st, ok, err := s.next(rest)
			if !ok {
				h.t.Fatalf("%s: behind step %d: %v", name, s.at.step, errors.Join(err, io.ErrUnexpectedEOF))
			}
			rest = rest[s.at.offset-from:]
			i.apply(&st)
		}
		at = s.at
	}
	return i, at
}
