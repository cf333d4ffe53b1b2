package toolpin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/runtime/toolpin"
)

// guard returns a guard with the database of the DSN, as in another process.
func guard(t *testing.T, dsn string, before ...toolpin.Pin) *toolpin.Guard {
	t.Helper()
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &toolpin.Guard{Enforce: true, Store: toolpin.NewTable(d, before, time.Now, slog.New(slog.DiscardHandler))}
}

func says(tool, words string) toolpin.Definition {
	return toolpin.Read("s", tool, fmt.Appendf(nil, `{"description":%q}`, words))
}

func list(words string, tools ...string) (all []json.RawMessage) {
	for _, tool := range tools {
		all = append(all, fmt.Appendf(nil, `{"name":%q,"description":%q}`, tool, words))
	}
	return all
}

// meet registers the tools of a server and expects no error.
func meet(t *testing.T, g *toolpin.Guard, tools []json.RawMessage) {
	t.Helper()
	if err := g.Register(t.Context(), "s", tools); err != nil {
		t.Error(err)
	}
}

// refresh refreshes the store, and checks whether anything has changed.
func refresh(t *testing.T, g *toolpin.Guard, want bool) {
	t.Helper()
	if changed, err := g.Store.Refresh(t.Context()); changed != want || err != nil {
		t.Errorf("changed: %v, want %v; %v", changed, want, err)
	}
}

func holds(t *testing.T, g *toolpin.Guard, d toolpin.Definition, want string) {
	t.Helper()
	if why := g.RejectionReason(d); want == "" && why != "" || !strings.Contains(why, want) {
		t.Errorf("%s %s: %q, want %q", d.Tool, d.Text, why, want)
	}
}

const changed = "its definition differs from the one accepted on 20"

// TestTableConcurrentFirstSight: if several replicas see a new tool at the same time with different definitions,
// one definition is accepted, and the other replicas see a change.
func TestTableConcurrentFirstSight(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	const replicas, tools = 4, 60
	var guards []*toolpin.Guard
	for range replicas {
		guards = append(guards, guard(t, dsn))
	}
	var names []string
	for n := range tools {
		names = append(names, fmt.Sprint("tool", n))
	}
	var all sync.WaitGroup
	for n, g := range guards {
		all.Go(func() {
			for _, name := range names {
				meet(t, g, list(fmt.Sprint("replica ", n), name))
			}
		})
	}
	all.Wait()
	for _, name := range names {
		var winners []int
		for n, g := range guards {
			if g.RejectionReason(says(name, fmt.Sprint("replica ", n))) == "" {
				winners = append(winners, n)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("%s: accepted as replicas %v see it, want one", name, winners)
		}
		for _, g := range guards {
			holds(t, g, says(name, fmt.Sprint("replica ", winners[0])), "")
		}
	}
	late := guard(t, dsn) // needs more than one page
	meet(t, late, list("later", names...))
	for _, name := range names {
		holds(t, late, says(name, "later"), changed)
	}
}

// hurried is a database that another replica writes just before this one does.
type hurried struct {
	*postgres.DB
	other func()
}

func (h hurried) AddPins(ctx context.Context, pins []backend.Pin) (int, error) {
	h.other()
	return h.DB.AddPins(ctx, pins)
}

// TestTableLateFirstSight: a replica that finds no pin of a tool, but is not the first to write one, uses the
// pin of the first.
func TestTableLateFirstSight(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	first := guard(t, dsn)
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	slow := hurried{d, func() { meet(t, first, list("A", "a")) }}
	last := &toolpin.Guard{Enforce: true, Store: toolpin.NewTable(slow, nil, time.Now, slog.New(slog.DiscardHandler))}
	meet(t, last, list("B", "a", "b"))
	meet(t, first, nil)
	for _, g := range []*toolpin.Guard{first, last} {
		holds(t, g, says("a", "A"), "")
		holds(t, g, says("a", "B"), changed)
		holds(t, g, says("b", "B"), "")
	}
}

// TestTableAccept: a definition accepted at one replica is accepted at the others after their next
// read, and the earlier definition then counts as a change.
func TestTableAccept(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	one, other := guard(t, dsn), guard(t, dsn)
	meet(t, one, list("A", "a", "b"))
	meet(t, other, list("A", "a", "b"))
	refresh(t, other, false)
	if err := one.Store.Accept(t.Context(), says("a", "B"), "ann"); err != nil {
		t.Fatal(err)
	}
	holds(t, one, says("a", "B"), "")
	holds(t, other, says("a", "B"), changed) // until it has read the pin
	refresh(t, other, true)
	holds(t, other, says("a", "B"), "")
	holds(t, other, says("a", "A"), changed)
	holds(t, other, says("b", "A"), "")
	if pin, _ := other.Store.Find("s", "a"); pin.By != "ann" || time.Since(pin.Since) > time.Hour {
		t.Errorf("%+v", pin)
	}
	if err := other.Store.Accept(t.Context(), toolpin.Read("s", "a", fmt.Appendf(nil, `{"title":"%s"}`, strings.Repeat("x", 1<<20))), "ann"); err == nil {
		t.Error("a definition that is too large is accepted")
	}
	holds(t, guard(t, dsn), says("new", "A"), "is not accepted yet") // it was not registered
}

// TestTableRemoved: an administrator may remove a pin, even the newest one.
func TestTableRemoved(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	one, other := guard(t, dsn), guard(t, dsn)
	meet(t, one, list("A", "a", "b"))
	refresh(t, other, true)
	postgrestest.Run(t, dsn, `DELETE FROM petrigate_pin WHERE tool = 'b'`)
	meet(t, one, list("B", "c"))
	refresh(t, other, true)
	if _, known := other.Store.Find("s", "b"); known {
		t.Error("what was removed is still accepted")
	}
	meet(t, other, list("B", "b"))
	for _, g := range []*toolpin.Guard{one, other} {
		meet(t, g, nil)
		holds(t, g, says("a", "A"), "")
		holds(t, g, says("b", "A"), changed)
		holds(t, g, says("c", "B"), "")
	}
}

// TestTableUnreachable: while the database is unreachable no new tool is accepted, and known tools stay
// accepted.
func TestTableUnreachable(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	way := postgrestest.NewProxy(t, dsn)
	g := guard(t, way.DSN())
	meet(t, g, list("A", "a"))
	way.Set(postgrestest.Refuse)
	way.Cut()
	if err := g.Register(t.Context(), "s", list("A", "a", "b")); err == nil {
		t.Error("a tool was kept in a database that is away")
	}
	if err := g.Store.Accept(t.Context(), says("a", "B"), "ann"); err == nil {
		t.Error("a change was accepted in a database that is away")
	}
	holds(t, g, says("a", "A"), "")
	holds(t, g, says("a", "B"), changed)
	holds(t, g, says("b", "A"), "could not be stored")
	if !g.MustRegister("s") {
		t.Error("the tools are not met again")
	}
	meet(t, guard(t, dsn), list("B", "b")) // another replica is faster
	way.Set(postgrestest.Pass)
	for g.MustRegister("s") { // the first connections may be the cut ones
		_ = g.Register(t.Context(), "s", list("A", "a", "b"))
	}
	holds(t, g, says("a", "A"), "")
	holds(t, g, says("b", "A"), changed)
}

// TestTableImportsFile: the pins of a file are imported, except for tools with a pin in the database.
func TestTableImportsFile(t *testing.T) {
	file, err := toolpin.Open(filepath.Join(t.TempDir(), "tools.json"), func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Register(t.Context(), "s", []toolpin.Definition{says("a", "A"), says("b", "A")}); err != nil {
		t.Fatal(err)
	}
	if err := file.Accept(t.Context(), says("a", "B"), "ann"); err != nil {
		t.Fatal(err)
	}
	dsn := postgrestest.NewSchema(t)
	meet(t, guard(t, dsn), list("C", "b"))
	for range 2 { // also the second time
		g := guard(t, dsn, file.Pins()...)
		meet(t, g, list("Z", "a", "b", "c"))
		holds(t, g, says("a", "B"), "")
		holds(t, g, says("a", "Z"), "accepted on 1970-01-01")
		holds(t, g, says("b", "C"), "")
		holds(t, g, says("c", "Z"), "")
		if pin, _ := g.Store.Find("s", "a"); pin.By != "ann" {
			t.Errorf("%+v", pin)
		}
	}
}
