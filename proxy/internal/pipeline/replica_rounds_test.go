package pipeline_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// eachDatabase runs f with a file and with a server. open opens the database for another process.
func eachDatabase(t *testing.T, f func(t *testing.T, open func() (proxy.Database, error))) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "state.db")
		f(t, func() (proxy.Database, error) { return journal.Open(t.Context(), journal.Options{Path: path}) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.NewSchema(t)
		f(t, func() (proxy.Database, error) { return postgres.Open(t.Context(), postgres.Options{DSN: dsn}) })
	})
}

// TestApprovalAtAnother: the question of one proxy is answered at another one, once: its state has
// no effect a second time at any of them.
func TestApprovalAtAnother(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := proxytest.NewFleet(t, open, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval.Channels, o.Approval.Hold = []string{"elicit", "cli"}, proxytest.ParkAtOnce
		}})
		a, b, c := f.Clients[0], f.Clients[1], f.Clients[2]
		q := a.Asks("deploy", `{"env":"a"}`)
		if r := b.Reply(b.CallWith("deploy", `{"env":"b"}`, "", q.ReplyParams(proxytest.Approve))); proxytest.Member(r.Result, "resultType") != `"input_required"` {
			t.Errorf("with other arguments: %s", r.Raw)
		}
		if r := q.ReceivedBy(b).Answer(proxytest.Approve); r.IsError() || r.Result == nil {
			t.Fatalf("%s", r.Raw)
		}
		a.Executed("deploy", 1)
		for _, again := range f.Clients {
			if r := q.ReceivedBy(again).Answer(proxytest.Approve); proxytest.Member(r.Result, "resultType") != `"input_required"` {
				t.Errorf("a second time: %s", r.Raw)
			}
		}
		a.Executed("deploy", 1)

		q = a.Asks("deploy", `{"env":"denied"}`)
		for _, again := range []*proxytest.Client{c, b, a} {
			if r := q.ReceivedBy(again).Answer(map[bool]string{true: proxytest.Deny, false: proxytest.Approve}[again == c]); !r.IsError() {
				t.Errorf("denied: %s", r.Raw)
			}
		}
		q = a.Asks("deploy", `{"env":"unasked"}`)
		for _, at3 := range []*proxytest.Client{b, c, a} { // a client that did not ask its user cannot answer elsewhere; an operator can
			if r := q.ReceivedBy(at3).Answer(map[bool]string{true: proxytest.Cancel, false: proxytest.Approve}[at3 == b]); proxytest.Member(r.Result, "requestState") == "" || proxytest.Member(r.Result, "inputRequests") != "" {
				t.Errorf("nobody was asked: %s", r.Raw)
			}
		}
		a.Executed("deploy", 1)
	})
}

// TestRacedState: the state of an approved call is sent to all proxies concurrently, many times.
func TestRacedState(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := proxytest.NewFleet(t, open, proxytest.Setup{})
		for round := 1; round <= 5; round++ {
			q := f.Clients[round%3].Asks("deploy", `{}`)
			ids := make([]string, 12)
			for i := range ids {
				ids[i] = q.ReceivedBy(f.Clients[i%3]).Send(proxytest.Approve)
			}
			passed := 0
			for i, id := range ids {
				switch r := f.Clients[i%3].Reply(id); {
				case proxytest.Member(r.Result, "resultType") == `"input_required"`:
				case r.Result != nil && !r.IsError():
					passed++
				default:
					t.Errorf("%s", r.Raw)
				}
			}
			if passed != 1 {
				t.Errorf("%d passed", passed)
			}
			f.Sites[0].Executed("deploy", round)
		}
	})
}

// replyToInput sends the input that an upstream has requested in the result, and returns the reply.
func replyToInput(c *proxytest.Client, args, result string) proxytest.Message {
	c.T.Helper()
	return c.Reply(sendInput(c, args, result))
}

// sendInput sends the input that an upstream has requested, and returns the id of the call.
func sendInput(c *proxytest.Client, args, state string) string {
	return c.CallWith("curious", args, "", `,"inputResponses":{"who":`+proxytest.NameGiven+`},"requestState":`+state)
}

// TestInputAtAnother: a call whose upstream asks for input continues at another proxy as the same
// call: it is not decided again, no person is asked again, and its state is valid once at all
// proxies together.
func TestInputAtAnother(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		f := proxytest.NewFleet(t, open, proxytest.Setup{Rules: "limit curious to 5 per user\nrequire human-approval before curious\n",
			Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
		a, b, c := f.Clients[0], f.Clients[1], f.Clients[2]
		asked := func(args string, at3 ...*proxytest.Client) string {
			t.Helper()
			r := at3[0].Asks("curious", args).ReceivedBy(at3[1]).Answer(proxytest.Approve)
			if proxytest.Member(r.Result, "inputRequests", "who", "params") != proxytest.AsksName {
				t.Fatalf("%s", r.Raw)
			}
			return proxytest.Member(r.Result, "requestState")
		}
		state := asked(`{"n":1}`, a, b)
		if r := replyToInput(c, `{"n":2}`, state); proxytest.Member(r.Result, "heard") != "" {
			t.Errorf("of another call: %s", r.Raw)
		}
		beside := `,"inputResponses":{"who":` + proxytest.NameGiven + `},"requestState":` + state
		if r := c.Reply(c.CallWith("curious", `{"n":1}`, "", `,"x-force":true`+beside)); proxytest.Member(r.Result, "heard") != "" {
			t.Errorf("with more than was shown: %s", r.Raw)
		}
		if r := c.Reply(c.CallWith("curious", `{"n":1}`, `"a/mode":"REALLY"`, beside)); proxytest.Member(r.Result, "heard") != proxytest.NameGiven || proxytest.Member(r.Result, "state") != `"stäte"` {
			t.Fatalf("%s", r.Raw)
		}
		if got := a.LastReceived("tools/call"); strings.Contains(got, "REALLY") || strings.Contains(got, "x-force") {
			t.Errorf("forwarded: %s", got)
		}
		a.Executed("curious", 2)
		for _, again := range f.Clients {
			if r := replyToInput(again, `{"n":1}`, state); proxytest.Member(r.Result, "heard") != "" {
				t.Errorf("a second time: %s", r.Raw)
			}
		}
		a.Executed("curious", 2)

		state = asked(`{"n":3}`, b, a) // concurrently
		ids := make([]string, 9)
		for i := range ids {
			ids[i] = sendInput(f.Clients[i%3], `{"n":3}`, state)
		}
		heard := 0
		for i, id := range ids {
			if r := f.Clients[i%3].Reply(id); proxytest.Member(r.Result, "heard") == proxytest.NameGiven {
				heard++
			}
		}
		if heard != 1 {
			t.Errorf("%d went on", heard)
		}
		a.Executed("curious", 4)

		state = asked(`{"n":4}`, b, c) // its process ends
		_ = f.Sites[2].Proxy.Close()
		_ = f.Sites[2].Proxy.Leave()
		if _, err := f.Sites[0].Proxy.Stop("", "ada", "why"); err != nil {
			t.Fatal(err)
		}
		if r := replyToInput(b, `{"n":4}`, state); !strings.HasPrefix(r.Text(), "Stopped") {
			t.Errorf("while stopped: %s", r.Raw)
		}
		if _, err := f.Sites[0].Proxy.StartAgain("", proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		b.Eventually("it goes on", func() bool {
			return proxytest.Member(replyToInput(b, `{"n":4}`, state).Result, "heard") == proxytest.NameGiven
		})
		a.Executed("curious", 6)
		if state := f.Sites[0].State(); !strings.Contains(state, `"Open": 0`) {
			t.Errorf("calls are open: %s", state)
		}
	})
}

// TestConditionAfterInput: the conditions on results (success ... when) also judge a call that
// continued after its client had sent input, at the same proxy or at another one.
func TestConditionAfterInput(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		for condition, evidence := range map[string]bool{"!text.contains('x')": true, "text.contains('no such text')": false} {
			f := proxytest.NewFleet(t, open, proxytest.Setup{Rules: "require curious before safe\nsuccess curious when \"" + condition + "\"\n",
				Server: testserver.Options{Revisions: testserver.Modern, Tools: append(testserver.Attack(), proxytest.RoundsTool())}})
			for _, at := range f.Clients[:2] {
				state := proxytest.Member(f.Clients[0].Do("curious", `{}`).Result, "requestState")
				if r := replyToInput(at, `{}`, state); proxytest.Member(r.Result, "heard") != proxytest.NameGiven {
					t.Fatalf("%s", r.Raw)
				}
				if r := at.Do("safe", `{}`); r.IsError() == evidence {
					t.Errorf("%s: %s", condition, r.Raw)
				}
			}
		}
	})
}

// TestInputNowhere: a call whose process has ended, and whose client does not return, is settled by
// another process when it expires.
func TestInputNowhere(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() (proxy.Database, error)) {
		var later atomic.Int64
		f := proxytest.NewFleet(t, open, proxytest.Setup{Rules: "block danger\n", Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}},
			Change: func(o *proxy.Options) {
				o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
			}})
		a := f.Clients[0]
		state := proxytest.Member(a.Do("curious", `{}`).Result, "requestState")
		_ = f.Sites[0].Proxy.Close()
		later.Store(int64(20 * time.Minute))
		f.Add()
		f.Sites[3].Eventually("the call is settled", func() bool {
			o := f.Sites[3].Records.Outcomes()
			return len(o) == 1 && o[0].By == "no input" && o[0].Outcome == "failure"
		})
		if r := replyToInput(f.Clients[3], `{}`, state); proxytest.Member(r.Result, "heard") != "" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestInputOnAConnection: an upstream of 2025-11-25 waits for the input on a connection of one
// process: the others say so, and the call continues there.
func TestInputOnAConnection(t *testing.T) {
	f := proxytest.NewFleet(t, func() func() (proxy.Database, error) {
		path := filepath.Join(t.TempDir(), "state.db")
		return func() (proxy.Database, error) { return journal.Open(t.Context(), journal.Options{Path: path}) }
	}(), proxytest.Setup{Rules: "limit curious to 1 per user\n",
		Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool("elicitation/create", proxytest.AsksName)}}})
	again := `,"inputResponses":{"request-1":` + proxytest.NameGiven + `},"requestState":` + proxytest.Member(f.Clients[0].Do("curious", `{}`).Result, "requestState")
	if r := f.Clients[1].Reply(f.Clients[1].CallWith("curious", `{}`, "", again)); !strings.Contains(string(r.Raw), "waiting at another petrigate") {
		t.Errorf("%s", r.Raw)
	}
	if r := f.Clients[0].Reply(f.Clients[0].CallWith("curious", `{}`, "", again)); proxytest.Member(r.Result, "heard", "result") != proxytest.NameGiven {
		t.Errorf("%s", r.Raw)
	}
	f.Sites[0].Executed("curious", 1)
}
