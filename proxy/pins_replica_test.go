package proxy_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// sharingPins is a proxy that checks tools against the pins in the database of the DSN, in front of
// a server of its own. The database can be unavailable when it starts.
func sharingPins(t *testing.T, dsn, file string, enforce bool, tools ...testserver.Tool) (*site, *proxy.Pins) {
	t.Helper()
	database := store.NewLate(func(ctx context.Context) (backend.Backend, error) {
		return postgres.Open(ctx, postgres.Options{DSN: dsn, Timeout: 2 * time.Second, Poll: 50 * time.Millisecond})
	}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = database.Close() })
	pins, err := proxy.SharedPins(database, file, enforce, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	of := setup{rules: "limit safe to 9 per session\n", server: testserver.Options{Tools: tools}, change: func(o *proxy.Options) { o.Database, o.Pins = database, pins }}
	return start(t, of), pins
}

// attack is the list of tools with another deploy.
func attack() []testserver.Tool {
	tools := testserver.Attack()
	tools[slices.IndexFunc(tools, func(t testserver.Tool) bool { return t.Name == "deploy" })] = poisoned()
	return tools
}

// TestReplicaPins: B008. A definition that one replica has seen first, or a person has accepted
// there, applies to the others too: another definition of the tool is quarantined there.
func TestReplicaPins(t *testing.T) {
	dsn := postgrestest.Schema(t)
	a, pinsA := sharingPins(t, dsn, "", true)
	clientA := a.connect(legs()[0], "")
	clientA.must("deploy", `{}`)
	a.awaitSubscribed()

	b, pinsB := sharingPins(t, dsn, "", true, attack()...)
	clientB := b.connect(legs()[0], "")
	if slices.Contains(clientB.listed(), "deploy") {
		t.Error("a replica that starts later accepts what it sees first")
	}
	clientB.refuses("deploy", `{}`, "quarantined")
	clientB.must("read", `{}`)
	changes := pinsB.Changes()
	if len(changes) != 1 || changes[0].By != "first sight" || !strings.Contains(string(changes[0].Differences[0].Is), "id_rsa") {
		t.Fatalf("%+v", changes)
	}
	if err := pinsB.Accept("up.deploy", changes[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	clientB.must("deploy", `{}`)

	a.eventually("what is not accepted any more is quarantined", func() bool { return len(pinsA.Changes()) == 1 })
	clientA.refuses("deploy", `{}`, "quarantined")
	if slices.Contains(clientA.listed(), "deploy") {
		t.Error("what is not accepted any more is listed")
	}
	if c := pinsA.Changes()[0]; c.By != "ada" {
		t.Errorf("%+v", c)
	}
	a.upstream.AddTool(poisoned())
	a.eventually("what was accepted elsewhere is accepted", func() bool { return len(pinsA.Changes()) == 0 })
	clientA.must("deploy", `{}`)
	for s, want := range map[*site]int{a: 1, b: 1} {
		if n := len(s.records.matching(func(r record) bool { return r.Event == "definition" })); n != want {
			t.Errorf("%d changes on record, want %d", n, want)
		}
	}
}

// TestReplicaPinsAccepted: a replica with a quarantined tool lists it again when a person accepts
// it at another replica, and notifies its clients.
func TestReplicaPinsAccepted(t *testing.T) {
	dsn := postgrestest.Schema(t)
	a, pinsA := sharingPins(t, dsn, "", true)
	b, pinsB := sharingPins(t, dsn, "", true)
	c := a.connect(legs()[0], "")
	c.listenToPushes()
	c.list()
	for s, pins := range map[*site]*proxy.Pins{a: pinsA, b: pinsB} {
		s.awaitSubscribed()
		s.upstream.AddTool(poisoned())
		s.eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
	}
	c.await("list_changed", isListChanged)
	c.refuses("deploy", `{}`, "quarantined")
	if err := pinsB.Accept("up.deploy", pinsB.Changes()[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	c.changes("deploy was accepted")
	c.must("deploy", `{}`)
}

// TestReplicaPinsRemoved: a tool whose pin an administrator removes is new again.
func TestReplicaPinsRemoved(t *testing.T) {
	dsn := postgrestest.Schema(t)
	s, pins := sharingPins(t, dsn, "", true)
	s.awaitSubscribed()
	c := s.connect(legs()[0], "")
	c.must("deploy", `{}`)
	s.upstream.AddTool(poisoned())
	s.eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
	postgrestest.Run(t, dsn, `DELETE FROM petrigate_pin WHERE tool = 'deploy'`)
	s.eventually("the tool is new", func() bool { return len(pins.Changes()) == 0 })
	c.must("deploy", `{}`)
	c.must("read", `{}`)
}

// TestReplicaPinsAway: while the database is unavailable, unknown tools are not called if pins are
// enforced. Once it is available, they are accepted as they are, unless another replica was first.
func TestReplicaPinsAway(t *testing.T) {
	dsn := postgrestest.Schema(t)
	first, _ := sharingPins(t, dsn, "", true, poisoned())
	first.connect(legs()[0], "").must("deploy", `{}`)
	for _, enforce := range []bool{true, false} {
		way := postgrestest.NewProxy(t, dsn)
		way.Set(postgrestest.Refuse)
		s, pins := sharingPins(t, way.DSN(), "", enforce)
		c := s.connect(legs()[0], "")
		if listed := c.listed(); len(listed) > 0 == enforce {
			t.Errorf("enforce: %v, listed %q", enforce, listed)
		}
		if r := c.do("read", `{}`); !r.isError() {
			t.Errorf("%s", r.raw)
		}
		way.Set(postgrestest.Pass)
		s.eventually("the database is there", func() bool { return s.proxy.Ready() == nil && slices.Contains(c.listed(), "read") })
		s.eventually("the tools are met again", func() bool { return len(pins.Changes()) == 1 })
		c.must("read", `{}`)
		if n := len(s.records.matching(func(r record) bool { return r.Tool == "up.deploy" && strings.Contains(r.Reason, "is accepted") })); n != 1 {
			t.Errorf("enforce: %v, the change is %d times on record", enforce, n)
		}
	}
}

// TestReplicaPinsFile: the pins of a file count from the first start with a database.
func TestReplicaPinsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	before, err := proxy.OpenPins(file, true)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, setup{change: func(o *proxy.Options) { o.Pins = before }})
	s.connect(legs()[0], "").list()
	dsn := postgrestest.Schema(t)
	for range 2 {
		s, pins := sharingPins(t, dsn, file, true, attack()...)
		s.connect(legs()[0], "").refuses("deploy", `{}`, "quarantined")
		if changes := pins.Changes(); len(changes) != 1 {
			t.Errorf("%+v", changes)
		}
		file = "" // another machine
	}
}
