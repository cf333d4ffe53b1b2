package backendtest

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

var start = time.Date(2026, 11, 23, 12, 0, 0, 123456000, time.UTC)

func session(name string) backend.PartID {
	return backend.PartID{Scope: backend.Session, Name: name}
}

// write returns an op that replaces a [backend.Part].
func write(id backend.PartID, version int64, data string) *backend.Op {
	return &backend.Op{Reserve: true, Time: start, Writes: []backend.Write{{ID: id, Version: version, Data: []byte(data)}}}
}

// sessionlessEvent is the number of the test event that has no session. All other events have one.
const sessionlessEvent = 8

func event(n int) backend.Event {
	e := backend.Event{Time: start.Add(time.Duration(n) * time.Second), Object: []byte(`{"n":` + strconv.Itoa(n) + `}`)}
	if n != sessionlessEvent {
		e.Session = "s" + strconv.Itoa(n%2)
	}
	return e
}

// commit commits ops and fails the test unless the error of each op is want.
func commit(t *testing.T, b backend.Backend, want error, ops ...*backend.Op) {
	t.Helper()
	if err := b.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	for i, op := range ops {
		if !errors.Is(op.Err, want) {
			t.Fatalf("op %d: %v, want %v", i, op.Err, want)
		}
	}
}

// load reads a [backend.Part].
func load(t *testing.T, b backend.Backend, id backend.PartID) backend.Part {
	t.Helper()
	all, err := b.Load(t.Context(), id)
	if err != nil || len(all) != 1 || all[0].ID != id {
		t.Fatal(all, err)
	}
	return all[0]
}

func expect(t *testing.T, b backend.Backend, id backend.PartID, version int64, data string) {
	t.Helper()
	if p := load(t, b, id); p.Version != version || string(p.Data) != data {
		t.Fatalf("%v is version %d with %s, want %d with %s", id, p.Version, p.Data, version, data)
	}
}

func all[V any](t *testing.T, seq iter.Seq2[V, error]) (list []V) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func testParts(t *testing.T, open func() backend.Backend) {
	b := open()
	ids := []backend.PartID{session("a"), session("none"), {Scope: backend.Principal, Name: "a"}, {Scope: backend.Global}}
	commit(t, b, nil, write(ids[0], 0, `{"a":1}`), write(ids[2], 0, `{"p":"<é>"}`), write(ids[3], 0, `{}`))
	got, err := b.Load(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"a":1}`, "", `{"p":"<é>"}`, `{}`} {
		if p := got[i]; p.ID != ids[i] || string(p.Data) != want || p.Version != min(1, int64(len(want))) {
			t.Errorf("%v is version %d with %s, want %s", p.ID, p.Version, p.Data, want)
		}
	}
	if !got[0].Changed.Equal(start) {
		t.Errorf("changed %v, want %v", got[0].Changed, start)
	}
	commit(t, b, nil, write(ids[0], 1, `{"a":2}`))
	expect(t, open(), ids[0], 2, `{"a":2}`)
	commit(t, b, nil, &backend.Op{Writes: []backend.Write{{ID: ids[0], Version: 2}}})
	expect(t, open(), ids[0], 0, "")
	commit(t, b, backend.ErrStale, write(ids[0], 2, `{}`))
	commit(t, b, nil, write(ids[0], 0, `{"a":3}`))
	expect(t, open(), ids[0], 1, `{"a":3}`)
}

func testValues(t *testing.T, open func() backend.Backend) {
	b := open()
	id := session("a")
	step := func(version int64, data []byte, v map[string][]byte) *backend.Op {
		return &backend.Op{Writes: []backend.Write{{ID: id, Version: version, Data: data, Values: v}}}
	}
	check := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for k, v := range load(t, b, id).Values {
			got[k] = string(v)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("values are %v, want %v", got, want)
		}
	}
	state := []byte("{}")
	first := map[string][]byte{"x": []byte(`{"x":1}`), "y'\"": []byte(`{"y":1}`)}
	commit(t, b, nil, step(0, state, first))
	check(map[string]string{"x": `{"x":1}`, "y'\"": `{"y":1}`})
	commit(t, b, nil, step(1, state, map[string][]byte{"x": nil, "z": []byte(`{"z":1}`)}))
	check(map[string]string{"y'\"": `{"y":1}`, "z": `{"z":1}`})
	commit(t, b, nil, step(2, state, nil))
	// Commit must not modify the Values maps of the ops in a batch.
	set := map[string][]byte{"z": []byte(`{"z":2}`), "w": []byte(`{"w":1}`)}
	commit(t, b, nil, step(3, state, set), step(4, state, map[string][]byte{"w": nil, "v": []byte(`{"v":1}`)}))
	check(map[string]string{"y'\"": `{"y":1}`, "z": `{"z":2}`, "v": `{"v":1}`})
	if len(set) != 2 || len(first) != 2 {
		t.Fatal("a map of a write was changed")
	}
	commit(t, b, nil, step(5, nil, nil), step(0, state, map[string][]byte{"new": []byte("{}")}))
	check(map[string]string{"new": "{}"})
	commit(t, b, nil, step(1, nil, nil))
	commit(t, b, nil, step(0, state, nil))
	check(map[string]string{})
}

func testList(t *testing.T, open func() backend.Backend) {
	b := open()
	for i, name := range []string{"c", "a", "b"} {
		op := write(session(name), 0, `{"name":"`+name+`"}`)
		op.Time = start.Add(time.Duration(i) * time.Second)
		commit(t, b, nil, op, write(backend.PartID{Scope: backend.Principal, Name: name}, 0, "{}"))
	}
	again := write(session("c"), 1, `{"name":"c"}`)
	again.Time = start.Add(time.Minute)
	commit(t, b, nil, again)
	names := ""
	for p, err := range open().List(t.Context(), backend.Session, "") {
		if err != nil || string(p.Data) != `{"name":"`+p.ID.Name+`"}` || p.ID.Scope != backend.Session || p.Version == 0 {
			t.Fatal(p, err)
		}
		names += p.ID.Name
		expect(t, b, p.ID, p.Version, string(p.Data)) // the database can be used during the iteration
	}
	if names != "abc" {
		t.Errorf("the oldest first are %s", names)
	}
	for _, err := range b.List(t.Context(), backend.Session, "") {
		if err != nil {
			t.Error(err)
		}
		break
	}
	for p, err := range b.List(t.Context(), backend.Session, `"name":"b`) {
		if err != nil || p.ID != session("b") || p.Version != 1 || string(p.Data) != `{"name":"b"}` {
			t.Errorf("%+v, %v", p, err)
		}
		names += p.ID.Name
	}
	if names != "abcb" {
		t.Errorf("listed are %s", names)
	}
}

func testStale(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	commit(t, a, nil, write(session("x"), 0, `{"v":1}`))
	commit(t, b, backend.ErrStale, write(session("x"), 0, `{"v":2}`))
	commit(t, b, nil, write(session("x"), 1, `{"v":2}`))
	commit(t, a, backend.ErrStale, write(session("x"), 1, `{"v":3}`))
	commit(t, a, nil, write(session("x"), 2, `{"v":3}`))
	commit(t, b, backend.ErrStale, write(session("x"), 4, `{"v":4}`), write(session("y"), 1, `{"v":4}`))
	expect(t, b, session("x"), 3, `{"v":3}`)
	expect(t, a, session("y"), 0, "")
}

// testRead verifies that an op can depend on the version of a [backend.Part] without changing the part.
func testRead(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	x, y := session("x"), session("y")
	commit(t, a, nil, write(x, 0, `{"v":1}`))
	op := func(version int64) *backend.Op {
		op := write(y, 0, `{"v":1}`)
		op.Writes = append(op.Writes, backend.Write{ID: x, Version: version, Read: true})
		return op
	}
	commit(t, b, backend.ErrStale, op(0), op(2))
	commit(t, b, backend.ErrStale, op(2), &backend.Op{Writes: []backend.Write{{ID: y, Version: 1, Read: true}}})
	commit(t, b, nil, write(x, 1, `{"v":2}`), op(2))
	expect(t, a, x, 2, `{"v":2}`)
	commit(t, a, nil, &backend.Op{Writes: []backend.Write{{ID: session("none"), Read: true}}})
	versions, err := a.Versions(t.Context(), y, session("none"), x)
	if err != nil || !slices.Equal(versions, []int64{1, 0, 2}) {
		t.Error(versions, err)
	}
}

// testWhole verifies that an op is committed completely or not at all, including its parts, records
// and approval.
func testWhole(t *testing.T, open func() backend.Backend) {
	b := open()
	put(t, b, approval("q", "k", backend.Approved))
	commit(t, b, nil, write(session("x"), 0, `{"v":1}`))
	op := &backend.Op{Reserve: true, Time: start, Uses: "q", Events: []backend.Event{event(1)}, Writes: []backend.Write{
		{ID: backend.PartID{Scope: backend.Global}, Data: []byte(`{"g":1}`), Values: map[string][]byte{"k": []byte("{}")}},
		{ID: session("x"), Version: 7, Data: []byte(`{"v":2}`)},
	}}
	commit(t, b, backend.ErrStale, op)
	op.Writes[1].Version, op.Uses = 1, "other"
	commit(t, b, backend.ErrUsed, op)
	expect(t, b, session("x"), 1, `{"v":1}`)
	expect(t, b, backend.PartID{Scope: backend.Global}, 0, "")
	if n := len(all(t, b.Records(t.Context(), backend.Query{}))); n != 0 {
		t.Fatalf("%d records of steps that were not taken", n)
	}
	op.Uses = "q"
	commit(t, b, nil, op)
	expect(t, b, session("x"), 2, `{"v":2}`)
	expect(t, b, backend.PartID{Scope: backend.Global}, 1, `{"g":1}`)
	if n := len(all(t, b.Records(t.Context(), backend.Query{}))); n != 1 {
		t.Fatalf("%d records of one step", n)
	}
}

// testBatch verifies that ops see the writes of earlier ops, and that a stale op does not affect other
// ops.
func testBatch(t *testing.T, open func() backend.Backend) {
	b := open()
	x, y := session("x"), session("y")
	ops := []*backend.Op{
		write(x, 0, `{"v":1}`), write(x, 1, `{"v":2}`), write(x, 1, `{"v":"stale"}`), write(y, 0, `{"v":1}`), write(x, 2, `{"v":3}`), write(y, 2, `{"v":"stale"}`),
	}
	for i, op := range ops {
		op.Events = []backend.Event{event(i)}
	}
	if err := b.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, backend.ErrStale, nil, nil, backend.ErrStale} {
		if !errors.Is(ops[i].Err, want) {
			t.Errorf("op %d: %v, want %v", i, ops[i].Err, want)
		}
	}
	expect(t, b, x, 3, `{"v":3}`)
	expect(t, b, y, 1, `{"v":1}`)
	var got []string
	for _, r := range all(t, b.Records(t.Context(), backend.Query{})) {
		got = append(got, string(r.Object))
	}
	if want := []string{`{"n":0}`, `{"n":1}`, `{"n":3}`, `{"n":4}`}; !slices.Equal(got, want) {
		t.Errorf("records are %v, want %v", got, want)
	}
	if err := b.Commit(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// testBetween verifies that a commit does not rely on cached versions: it must notice that another
// process has changed the [backend.Part] since the last commit.
func testBetween(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	for i := range int64(5) {
		commit(t, a, nil, write(session("x"), 2*i, `{}`))
		commit(t, b, nil, write(session("x"), 2*i+1, `{}`))
		commit(t, a, backend.ErrStale, write(session("x"), 2*i+1, `{}`))
	}
	commit(t, b, nil, &backend.Op{Writes: []backend.Write{{ID: session("x"), Version: 10}}})
	commit(t, a, nil, write(session("x"), 0, `{}`))
}

// testBuilt verifies that an op is refused if it depends on changes of a refused op, even if
// another process has written a version with the expected number.
func testBuilt(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	x, y := session("x"), session("y")
	commit(t, a, nil, write(x, 0, `{"v":1}`))
	commit(t, b, nil, write(x, 1, `{"v":"other"}`))
	read := write(y, 0, `{}`)
	read.Writes = append(read.Writes, backend.Write{ID: x, Version: 2, Read: true})
	commit(t, a, backend.ErrStale, write(x, 1, `{"v":2}`), write(x, 2, `{"v":3}`), read)
	expect(t, b, x, 2, `{"v":"other"}`)
	commit(t, a, nil, read, write(x, 2, `{"v":3}`))
}

func testChain(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	if a.Writer() == b.Writer() || a.Writer() == "" {
		t.Fatal("two processes have one chain")
	}
	for i := range 20 {
		op := write(session("x"), int64(2*i), `{}`)
		op.Events = []backend.Event{event(i), event(i)}
		commit(t, a, nil, op)
		op = write(session("x"), int64(2*i+1), `{}`)
		op.Events = []backend.Event{event(i)}
		commit(t, b, nil, op)
	}
	if n := verifyChain(t, a, a.Writer()) + verifyChain(t, a, b.Writer()); n != 60 {
		t.Errorf("%d records are on the chains, want 60", n)
	}
}

// verifyChain verifies a chain and returns the number of its records.
func verifyChain(t *testing.T, b backend.Backend, writer string) (n int) {
	t.Helper()
	var hash [32]byte
	for r, err := range b.Records(t.Context(), backend.Query{Writer: writer}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if hash = audit.Link(hash, uint64(n), r.Object); r.Seq != uint64(n) || r.Hash != hash || r.Writer != writer {
			t.Fatalf("record %d of %s is number %d of %s, hash is right: %v", n, writer, r.Seq, r.Writer, r.Hash == hash)
		}
	}
	return n
}

func testHeads(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	if list, err := a.Heads(t.Context()); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	for i := range 3 {
		commit(t, a, nil, &backend.Op{Events: []backend.Event{event(i)}})
	}
	commit(t, b, nil, &backend.Op{Events: []backend.Event{event(9)}})
	list, err := b.Heads(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, h := range list {
		want := map[string]string{a.Writer(): `{"n":2}`, b.Writer(): `{"n":9}`}[h.Writer]
		if string(h.Object) != want || h.Hash == [32]byte{} {
			t.Errorf("the head of %s is %s, want %s", h.Writer, h.Object, want)
		}
	}
}

func testClosed(t *testing.T, open func() backend.Backend) {
	b, other := open(), open()
	commit(t, b, nil, write(session("x"), 0, `{"v":1}`))
	if err := b.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if b.Commit(t.Context(), []*backend.Op{write(session("y"), 0, `{}`)}) == nil || b.Ready(t.Context()) == nil {
		t.Error("it writes after the end")
	}
	if _, err := b.Load(t.Context(), session("x")); err == nil {
		t.Error("it reads after the end")
	}
	expect(t, other, session("x"), 1, `{"v":1}`)
	expect(t, open(), session("y"), 0, "")
}

func approval(id, key, state string) backend.Approval {
	return backend.Approval{ID: id, Key: key, State: state, Session: "s", Created: start, Expires: start.Add(time.Hour), Data: []byte(`{"id":"` + id + `"}`)}
}

func put(t *testing.T, b backend.Backend, a backend.Approval) int64 {
	t.Helper()
	v, err := b.PutApproval(t.Context(), a)
	if err != nil || v != a.Version+1 {
		t.Fatal(v, err)
	}
	return v
}
