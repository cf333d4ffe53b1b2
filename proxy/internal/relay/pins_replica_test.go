package relay_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// sharingPins is a proxy that checks tools against the pins in the database of the DSN, in front of
// a server of its own. The database can be unavailable when it starts.
func sharingPins(t *testing.T, dsn, file string, enforce bool, tools ...testserver.Tool) (*proxytest.Site, *proxy.Pins) {
	t.Helper()
	database := store.NewLateBackend(func(ctx context.Context) (backend.Backend, error) {
		return postgres.Open(ctx, postgres.Options{DSN: dsn, Timeout: 2 * time.Second, Poll: 50 * time.Millisecond})
	}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = database.Close() })
	pins, err := proxy.SharedPins(database, file, enforce, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	of := proxytest.Setup{Rules: "limit safe to 9 per session\n", Server: testserver.Options{Tools: tools}, Change: func(o *proxy.Options) { o.Database, o.Pins = database, pins }}
	return proxytest.Start(t, of), pins
}

// attack is the list of tools with another deploy.
func attack() []testserver.Tool {
	tools := testserver.Attack()
	tools[slices.IndexFunc(tools, func(t testserver.Tool) bool { return t.Name == "deploy" })] = proxytest.PoisonedTool()
	return tools
}

// TestReplicaPins: B008. A definition that one replica has seen first, or a person has accepted
// there, applies to the others too: another definition of the tool is quarantined there.
func TestReplicaPins(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewSchema(t)
	a, pinsA := sharingPins(t, dsn, "", true)
	clientA := a.Connect(proxytest.Legs()[0], "")
	clientA.Must("deploy", `{}`)
	a.AwaitSubscribed()

	b, pinsB := sharingPins(t, dsn, "", true, attack()...)
	clientB := b.Connect(proxytest.Legs()[0], "")
	if slices.Contains(listed(clientB), "deploy") {
		t.Error("a replica that starts later accepts what it sees first")
	}
	clientB.Refuses("deploy", `{}`, "quarantined")
	clientB.Must("read", `{}`)
	changes := pinsB.Changes()
	if len(changes) != 1 || changes[0].By != "first sight" || !strings.Contains(string(changes[0].Differences[0].Is), "id_rsa") {
		t.Fatalf("%+v", changes)
	}
	if err := pinsB.Accept("up.deploy", changes[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	clientB.Must("deploy", `{}`)

	a.Eventually("what is not accepted any more is quarantined", func() bool { return len(pinsA.Changes()) == 1 })
	clientA.Refuses("deploy", `{}`, "quarantined")
	if slices.Contains(listed(clientA), "deploy") {
		t.Error("what is not accepted any more is listed")
	}
	if c := pinsA.Changes()[0]; c.By != "ada" {
		t.Errorf("%+v", c)
	}
	a.Upstream.AddTool(proxytest.PoisonedTool())
	a.Eventually("what was accepted elsewhere is accepted", func() bool { return len(pinsA.Changes()) == 0 })
	clientA.Must("deploy", `{}`)
	for s, want := range map[*proxytest.Site]int{a: 1, b: 1} {
		if n := len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "definition" })); n != want {
			t.Errorf("%d changes on record, want %d", n, want)
		}
	}
}

// TestReplicaPinsAccepted: a replica with a quarantined tool lists it again when a person accepts
// it at another replica, and notifies its clients.
func TestReplicaPinsAccepted(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewSchema(t)
	a, pinsA := sharingPins(t, dsn, "", true)
	b, pinsB := sharingPins(t, dsn, "", true)
	c := a.Connect(proxytest.Legs()[0], "")
	c.ListenToPushes()
	c.List()
	for s, pins := range map[*proxytest.Site]*proxy.Pins{a: pinsA, b: pinsB} {
		s.AwaitSubscribed()
		s.Upstream.AddTool(proxytest.PoisonedTool())
		s.Eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
	}
	c.Await("list_changed", isListChanged)
	c.Refuses("deploy", `{}`, "quarantined")
	if err := pinsB.Accept("up.deploy", pinsB.Changes()[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	changes(c, "deploy was accepted")
	c.Must("deploy", `{}`)
}

// TestReplicaPinsRemoved: a tool whose pin an administrator removes is new again.
func TestReplicaPinsRemoved(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewSchema(t)
	s, pins := sharingPins(t, dsn, "", true)
	s.AwaitSubscribed()
	c := s.Connect(proxytest.Legs()[0], "")
	c.Must("deploy", `{}`)
	s.Upstream.AddTool(proxytest.PoisonedTool())
	s.Eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
	postgrestest.Run(t, dsn, `DELETE FROM petrigate_pin WHERE tool = 'deploy'`)
	s.Eventually("the tool is new", func() bool { return len(pins.Changes()) == 0 })
	c.Must("deploy", `{}`)
	c.Must("read", `{}`)
}

// TestReplicaPinsAway: while the database is unavailable, unknown tools are not called if pins are
// enforced. Once it is available, they are accepted unchanged, unless another replica was first.
func TestReplicaPinsAway(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewSchema(t)
	first, _ := sharingPins(t, dsn, "", true, proxytest.PoisonedTool())
	first.Connect(proxytest.Legs()[0], "").Must("deploy", `{}`)
	for _, enforce := range []bool{true, false} {
		way := postgrestest.NewProxy(t, dsn)
		way.Set(postgrestest.Refuse)
		s, pins := sharingPins(t, way.DSN(), "", enforce)
		c := s.Connect(proxytest.Legs()[0], "")
		if listed := listed(c); len(listed) > 0 == enforce {
			t.Errorf("enforce: %v, listed %q", enforce, listed)
		}
		if r := c.Do("read", `{}`); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		way.Set(postgrestest.Pass)
		s.Eventually("the database is there", func() bool { return s.Proxy.Ready() == nil && slices.Contains(listed(c), "read") })
		s.Eventually("the tools are met again", func() bool { return len(pins.Changes()) == 1 })
		c.Must("read", `{}`)
		if n := len(s.Records.Matching(func(r proxytest.Record) bool {
			return r.Tool == "up.deploy" && strings.Contains(r.Reason, "is accepted")
		})); n != 1 {
			t.Errorf("enforce: %v, the change is %d times on record", enforce, n)
		}
	}
}

// TestReplicaPinsFile: the pins of a file count from the first start with a database.
func TestReplicaPinsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tools.json")
	before, err := proxy.OpenPins(file, true)
	if err != nil {
		t.Fatal(err)
	}
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Pins = before }})
	s.Connect(proxytest.Legs()[0], "").List()
	dsn := postgrestest.NewSchema(t)
	for range 2 {
		s, pins := sharingPins(t, dsn, file, true, attack()...)
		s.Connect(proxytest.Legs()[0], "").Refuses("deploy", `{}`, "quarantined")
		if changes := pins.Changes(); len(changes) != 1 {
			t.Errorf("%+v", changes)
		}
		file = "" // another machine
	}
}
