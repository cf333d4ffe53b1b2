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

// guard holds tools to what is accepted in the database of the DSN, as another process would.
func guard(t *testing.T, dsn string, before ...toolpin.Pin) *toolpin.Guard {
	t.Helper()
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &toolpin.Guard{Enforce: true, Book: toolpin.NewTable(d, before, time.Now, slog.New(slog.DiscardHandler))}
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

// meet has the guard meet what a server lists, which is to be kept as far as it is new.
func meet(t *testing.T, g *toolpin.Guard, tools []json.RawMessage) {
	t.Helper()
	if err := g.Meet(t.Context(), "s", tools); err != nil {
		t.Error(err)
	}
}

// refresh has the guard read what others have accepted, of which there is something, or is not.
func refresh(t *testing.T, g *toolpin.Guard, want bool) {
	t.Helper()
	if changed, err := g.Book.Refresh(t.Context()); changed != want || err != nil {
		t.Errorf("changed: %v, want %v; %v", changed, want, err)
	}
}

func holds(t *testing.T, g *toolpin.Guard, d toolpin.Definition, want string) {
	t.Helper()
	if why := g.Why(d); want == "" && why != "" || !strings.Contains(why, want) {
		t.Errorf("%s %s: %q, want %q", d.Tool, d.Text, why, want)
	}
}

const changed = "the server says something else of it than what was accepted on 20"

// TestTableFirst: of several replicas that see a tool first at once, and see different
// definitions, one has its own accepted, and the others a change.
func TestTableFirst(t *testing.T) {
	dsn := postgrestest.Schema(t)
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
			if g.Why(says(name, fmt.Sprint("replica ", n))) == "" {
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
	late := guard(t, dsn) // reads more than a page
	meet(t, late, list("later", names...))
	for _, name := range names {
		holds(t, late, says(name, "later"), changed)
	}
}

// hurried is a database to which another replica writes just before this one does.
type hurried struct {
	*postgres.DB
	other func()
}

func (h hurried) AddPins(ctx context.Context, pins []backend.Pin) (int, error) {
	h.other()
	return h.DB.AddPins(ctx, pins)
}

// TestTableLast: a replica that finds nothing of a tool, and is not the first to write, accepts
// what the first one saw.
func TestTableLast(t *testing.T) {
	dsn := postgrestest.Schema(t)
	first := guard(t, dsn)
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	slow := hurried{d, func() { meet(t, first, list("A", "a")) }}
	last := &toolpin.Guard{Enforce: true, Book: toolpin.NewTable(slow, nil, time.Now, slog.New(slog.DiscardHandler))}
	meet(t, last, list("B", "a", "b"))
	meet(t, first, nil)
	for _, g := range []*toolpin.Guard{first, last} {
		holds(t, g, says("a", "A"), "")
		holds(t, g, says("a", "B"), changed)
		holds(t, g, says("b", "B"), "")
	}
}

// TestTableAccept: what is accepted at one replica is accepted at the others once they read
// it, and what was accepted before is a change then.
func TestTableAccept(t *testing.T) {
	dsn := postgrestest.Schema(t)
	one, other := guard(t, dsn), guard(t, dsn)
	meet(t, one, list("A", "a", "b"))
	meet(t, other, list("A", "a", "b"))
	refresh(t, other, false)
	if err := one.Book.Accept(t.Context(), says("a", "B"), "ann"); err != nil {
		t.Fatal(err)
	}
	holds(t, one, says("a", "B"), "")
	holds(t, other, says("a", "B"), changed) // until it has read that
	refresh(t, other, true)
	holds(t, other, says("a", "B"), "")
	holds(t, other, says("a", "A"), changed)
	holds(t, other, says("b", "A"), "")
	if pin, _ := other.Book.Find("s", "a"); pin.By != "ann" || time.Since(pin.Since) > time.Hour {
		t.Errorf("%+v", pin)
	}
	if err := other.Book.Accept(t.Context(), toolpin.Read("s", "a", fmt.Appendf(nil, `{"title":"%s"}`, strings.Repeat("x", 1<<20))), "ann"); err == nil {
		t.Error("a definition that is too large is accepted")
	}
	holds(t, guard(t, dsn), says("new", "A"), "is not accepted yet") // it was not met
}

// TestTableRemoved: an administrator may remove a pin, also the newest one.
func TestTableRemoved(t *testing.T) {
	dsn := postgrestest.Schema(t)
	one, other := guard(t, dsn), guard(t, dsn)
	meet(t, one, list("A", "a", "b"))
	refresh(t, other, true)
	postgrestest.Run(t, dsn, `DELETE FROM petrigate_pin WHERE tool = 'b'`)
	meet(t, one, list("B", "c"))
	refresh(t, other, true)
	if _, known := other.Book.Find("s", "b"); known {
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

// TestTableAway: while the database is away nothing new is accepted, and what is known stays so.
func TestTableAway(t *testing.T) {
	dsn := postgrestest.Schema(t)
	way := postgrestest.NewProxy(t, dsn)
	g := guard(t, way.DSN())
	meet(t, g, list("A", "a"))
	way.Set(postgrestest.Refuse)
	way.Cut()
	if err := g.Meet(t.Context(), "s", list("A", "a", "b")); err == nil {
		t.Error("a tool was kept in a database that is away")
	}
	if err := g.Book.Accept(t.Context(), says("a", "B"), "ann"); err == nil {
		t.Error("a change was accepted in a database that is away")
	}
	holds(t, g, says("a", "A"), "")
	holds(t, g, says("a", "B"), changed)
	holds(t, g, says("b", "A"), "could not be kept")
	if !g.Deferred("s") {
		t.Error("the tools are not met again")
	}
	meet(t, guard(t, dsn), list("B", "b")) // another replica is faster
	way.Set(postgrestest.Pass)
	for g.Deferred("s") { // the first connections may be those that were cut
		_ = g.Meet(t.Context(), "s", list("A", "a", "b"))
	}
	holds(t, g, says("a", "A"), "")
	holds(t, g, says("b", "A"), changed)
}

// TestTableTakesOver: what a file of a machine has is taken over, as far as the database has
// nothing of a tool.
func TestTableTakesOver(t *testing.T) {
	file, err := toolpin.Open(filepath.Join(t.TempDir(), "tools.json"), func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Meet(t.Context(), "s", []toolpin.Definition{says("a", "A"), says("b", "A")}); err != nil {
		t.Fatal(err)
	}
	if err := file.Accept(t.Context(), says("a", "B"), "ann"); err != nil {
		t.Fatal(err)
	}
	dsn := postgrestest.Schema(t)
	meet(t, guard(t, dsn), list("C", "b"))
	for range 2 { // also a second time
		g := guard(t, dsn, file.Pins()...)
		meet(t, g, list("Z", "a", "b", "c"))
		holds(t, g, says("a", "B"), "")
		holds(t, g, says("a", "Z"), "was accepted on 1970-01-01")
		holds(t, g, says("b", "C"), "")
		holds(t, g, says("c", "Z"), "")
		if pin, _ := g.Book.Find("s", "a"); pin.By != "ann" {
			t.Errorf("%+v", pin)
		}
	}
}
