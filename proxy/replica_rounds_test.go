package proxy_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// eachDatabase runs f with a file and with a server. open opens the database for another process.
func eachDatabase(t *testing.T, f func(t *testing.T, open func() (proxy.Database, error))) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		f(t, func() (proxy.Database, error) { return journal.Open(t.Context(), journal.Options{Path: path}) })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.Schema(t)
		f(t, func() (proxy.Database, error) { return postgres.Open(t.Context(), postgres.Options{DSN: dsn}) })
	})
}

// A fleet is proxies with one database, in front of one upstream, which clients of 2026-07-28 call
// in turn.
type fleet struct {
	t       *testing.T
	setup   setup
	open    func() (proxy.Database, error)
	sites   []*site
	clients []*client
}

// newFleet starts three proxies that open the database.
func newFleet(t *testing.T, open func() (proxy.Database, error), s setup) *fleet {
	f := &fleet{t: t, setup: s, open: open}
	for range 3 {
		f.add()
	}
	return f
}

// add starts one more proxy, and connects a client to it.
func (f *fleet) add() *client {
	f.t.Helper()
	s := f.setup
	s.change = func(o *proxy.Options) {
		b, err := f.open()
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = b.Close() })
		if o.Database = b; len(f.sites) > 0 {
			o.Upstreams = f.sites[0].options.Upstreams
		}
		if f.setup.change != nil {
			f.setup.change(o)
		}
	}
	made := start(f.t, s)
	c := made.connect(legs()[2], canAll)
	f.sites, f.clients = append(f.sites, made), append(f.clients, c)
	return c
}

// at returns the question as seen by another client.
func (q question) at(c *client) question {
	q.c = c
	return q
}

// TestApprovalAtAnother: the question of one proxy is answered at another one, once: its state has
// no effect a second time at any of them.
func TestApprovalAtAnother(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := newFleet(t, open, setup{change: func(o *proxy.Options) { o.Approval.Channels, o.Approval.Hold = []string{"elicit", "cli"}, atOnce }})
		a, b, c := f.clients[0], f.clients[1], f.clients[2]
		q := a.asks("deploy", `{"env":"a"}`)
		if r := b.reply(b.callWith("deploy", `{"env":"b"}`, "", q.with(approve))); at(r.result, "resultType") != `"input_required"` {
			t.Errorf("with other arguments: %s", r.raw)
		}
		if r := q.at(b).answer(approve); r.isError() || r.result == nil {
			t.Fatalf("%s", r.raw)
		}
		a.executed("deploy", 1)
		for _, again := range f.clients {
			if r := q.at(again).answer(approve); at(r.result, "resultType") != `"input_required"` {
				t.Errorf("a second time: %s", r.raw)
			}
		}
		a.executed("deploy", 1)

		q = a.asks("deploy", `{"env":"denied"}`)
		for _, again := range []*client{c, b, a} {
			if r := q.at(again).answer(map[bool]string{true: deny, false: approve}[again == c]); !r.isError() {
				t.Errorf("denied: %s", r.raw)
			}
		}
		q = a.asks("deploy", `{"env":"unasked"}`)
		for _, at3 := range []*client{b, c, a} { // a client that did not ask its user cannot answer elsewhere; an operator can
			if r := q.at(at3).answer(map[bool]string{true: cancel, false: approve}[at3 == b]); at(r.result, "requestState") == "" || at(r.result, "inputRequests") != "" {
				t.Errorf("nobody was asked: %s", r.raw)
			}
		}
		a.executed("deploy", 1)
	})
}

// TestRacedState: the state of an approved call is sent to all proxies concurrently, many times.
func TestRacedState(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := newFleet(t, open, setup{})
		for round := 1; round <= 5; round++ {
			q := f.clients[round%3].asks("deploy", `{}`)
			ids := make([]string, 12)
			for i := range ids {
				ids[i] = q.at(f.clients[i%3]).send(approve)
			}
			passed := 0
			for i, id := range ids {
				switch r := f.clients[i%3].reply(id); {
				case at(r.result, "resultType") == `"input_required"`:
				case r.result != nil && !r.isError():
					passed++
				default:
					t.Errorf("%s", r.raw)
				}
			}
			if passed != 1 {
				t.Errorf("%d passed", passed)
			}
			f.sites[0].executed("deploy", round)
		}
	})
}

// heard sends the input that an upstream has requested in the result, and returns the reply.
func (c *client) heard(args, result string) message {
	c.t.Helper()
	return c.reply(c.sendInput(args, result))
}

// sendInput sends the input that an upstream has requested, and returns the id of the call.
func (c *client) sendInput(args, state string) string {
	return c.callWith("curious", args, "", `,"inputResponses":{"who":`+nameGiven+`},"requestState":`+state)
}

// TestInputAtAnother: a call whose upstream asks for input continues at another proxy as the same
// call: it is not decided again, no person is asked again, and its state is valid once at all
// proxies together.
func TestInputAtAnother(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := newFleet(t, open, setup{rules: "limit curious to 5 per user\nrequire human-approval before curious\n",
			server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
		a, b, c := f.clients[0], f.clients[1], f.clients[2]
		asked := func(args string, at3 ...*client) string {
			t.Helper()
			r := at3[0].asks("curious", args).at(at3[1]).answer(approve)
			if at(r.result, "inputRequests", "who", "params") != asksName {
				t.Fatalf("%s", r.raw)
			}
			return at(r.result, "requestState")
		}
		state := asked(`{"n":1}`, a, b)
		if r := c.heard(`{"n":2}`, state); at(r.result, "heard") != "" {
			t.Errorf("of another call: %s", r.raw)
		}
		beside := `,"inputResponses":{"who":` + nameGiven + `},"requestState":` + state
		if r := c.reply(c.callWith("curious", `{"n":1}`, "", `,"x-force":true`+beside)); at(r.result, "heard") != "" {
			t.Errorf("with more than was shown: %s", r.raw)
		}
		if r := c.reply(c.callWith("curious", `{"n":1}`, `"a/mode":"REALLY"`, beside)); at(r.result, "heard") != nameGiven || at(r.result, "state") != `"stäte"` {
			t.Fatalf("%s", r.raw)
		}
		if got := a.received("tools/call"); strings.Contains(got, "REALLY") || strings.Contains(got, "x-force") {
			t.Errorf("forwarded: %s", got)
		}
		a.executed("curious", 2)
		for _, again := range f.clients {
			if r := again.heard(`{"n":1}`, state); at(r.result, "heard") != "" {
				t.Errorf("a second time: %s", r.raw)
			}
		}
		a.executed("curious", 2)

		state = asked(`{"n":3}`, b, a) // concurrently
		ids := make([]string, 9)
		for i := range ids {
			ids[i] = f.clients[i%3].sendInput(`{"n":3}`, state)
		}
		heard := 0
		for i, id := range ids {
			if r := f.clients[i%3].reply(id); at(r.result, "heard") == nameGiven {
				heard++
			}
		}
		if heard != 1 {
			t.Errorf("%d went on", heard)
		}
		a.executed("curious", 4)

		state = asked(`{"n":4}`, b, c) // its process ends
		_ = f.sites[2].proxy.Close()
		_ = f.sites[2].proxy.Leave()
		if _, err := f.sites[0].proxy.Stop("", "ada", "why"); err != nil {
			t.Fatal(err)
		}
		if r := b.heard(`{"n":4}`, state); !strings.HasPrefix(r.text(), "Stopped") {
			t.Errorf("while stopped: %s", r.raw)
		}
		if _, err := f.sites[0].proxy.StartAgain("", proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		b.eventually("it goes on", func() bool { return at(b.heard(`{"n":4}`, state).result, "heard") == nameGiven })
		a.executed("curious", 6)
		if state := f.sites[0].state(); !strings.Contains(state, `"Open": 0`) {
			t.Errorf("calls are open: %s", state)
		}
	})
}

// TestInputNowhere: a call whose process has ended, and whose client does not return, is settled by
// another process when it expires.
func TestInputNowhere(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		var later atomic.Int64
		f := newFleet(t, open, setup{rules: "block danger\n", server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}},
			change: func(o *proxy.Options) {
				o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
			}})
		a := f.clients[0]
		state := at(a.do("curious", `{}`).result, "requestState")
		_ = f.sites[0].proxy.Close()
		later.Store(int64(20 * time.Minute))
		f.add()
		f.sites[3].eventually("the call is settled", func() bool {
			o := f.sites[3].records.outcomes()
			return len(o) == 1 && o[0].By == "no input" && o[0].Outcome == "failure"
		})
		if r := f.clients[3].heard(`{}`, state); at(r.result, "heard") != "" {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestInputOnAConnection: an upstream of 2025-11-25 waits for the input on a connection of one
// process: the others say so, and the call continues there.
func TestInputOnAConnection(t *testing.T) {
	f := newFleet(t, func() func() (proxy.Database, error) {
		path := filepath.Join(t.TempDir(), "state.db")
		return func() (proxy.Database, error) { return journal.Open(t.Context(), journal.Options{Path: path}) }
	}(), setup{rules: "limit curious to 1 per user\n",
		server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious("elicitation/create", asksName)}}})
	again := `,"inputResponses":{"request-1":` + nameGiven + `},"requestState":` + at(f.clients[0].do("curious", `{}`).result, "requestState")
	if r := f.clients[1].reply(f.clients[1].callWith("curious", `{}`, "", again)); !strings.Contains(string(r.raw), "waits at another petrigate") {
		t.Errorf("%s", r.raw)
	}
	if r := f.clients[0].reply(f.clients[0].callWith("curious", `{}`, "", again)); at(r.result, "heard", "result") != nameGiven {
		t.Errorf("%s", r.raw)
	}
	f.sites[0].executed("curious", 1)
}
