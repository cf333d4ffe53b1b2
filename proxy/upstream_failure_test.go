package proxy_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// chain is a net whose one token a call holds until its result: a success puts it into done, a
// failure returns it.
func chain(t *testing.T, tools ...string) *gate.Policy {
	return netPolicy(t, gate.Net{
		Name: "chain", Places: []string{"ready", "done"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{{Name: "do", Inputs: []string{"ready"}, Outputs: []string{"done"}, Tools: gate.Tools(tools...), Deferred: true}},
	})
}

// inFlight fails unless the chain's token is held by an unsettled call.
func (s *site) inFlight() {
	s.t.Helper()
	if s.openCalls() != 1 || s.marking("chain", "ready") != 1 || s.marking("chain", "done") != 0 {
		s.t.Errorf("the token is not in flight: %s", s.state())
	}
}

// settled waits until no call is open, and fails unless the token is available.
func (s *site) settled(place string) {
	s.t.Helper()
	s.eventually("the call is settled", func() bool { return s.openCalls() == 0 })
	if s.marking("chain", place) != 1 {
		s.t.Errorf("the token is not in %s: %s", place, s.state())
	}
}

// child is an upstream that runs as a process over stdio.
func child(t *testing.T, flags string) (proxy.Upstream, func() []testserver.Record) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "records")
	u := proxy.Upstream{Name: "up", Command: self, Env: map[string]string{
		childMark: "--record " + file + " " + flags,
		"GORACE":  "atexit_sleep_ms=0", // otherwise each one takes a second to end
	}}
	return u, func() []testserver.Record {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		records, err := testserver.ReadRecords(f)
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
}

// ofKind returns the records of a kind, about a tool if one is named.
func ofKind(records []testserver.Record, kind testserver.Kind, tool string) []testserver.Record {
	var found []testserver.Record
	for _, r := range records {
		if r.Kind == kind && (tool == "" || r.Name == tool) {
			found = append(found, r)
		}
	}
	return found
}

// TestChildDies: B025, B026. If a server dies during a call, the outcome is unknown: the caller is
// told so, and it is recorded once. The token stays in flight until an operator settles the call,
// nothing is sent twice, and the next process serves.
func TestChildDies(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		up, records := child(t, "")
		s := start(t, setup{policy: chain(t, "die", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(l, "")
		if r := c.do("die", `{}`); !r.isError() || r.decision("kind") != "unknown" {
			t.Errorf("%s", r.raw)
		}
		s.inFlight()
		s.oneOutcome("up.die", "unknown")
		s.eventually("it runs again", func() bool { return !c.do("safe", `{}`).isError() })
		c.refuses("push", `{}`, "blocked")
		session := s.proxy.Sessions()[0]
		if err := s.proxy.SettleCall(session.ID, session.Calls[0].Number, false, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		c.must("push", `{}`)
		s.settled("done")
		if n := len(ofKind(records(), testserver.Executed, "die")); n != 1 {
			t.Errorf("die was executed %d times", n)
		}
	})
}

// oneOutcome fails unless one outcome of the tool is on record.
func (s *site) oneOutcome(tool, outcome string) {
	s.t.Helper()
	all := s.records.matching(func(r record) bool { return r.Event == "outcome" && r.Tool == tool })
	if len(all) != 1 || all[0].Outcome != outcome {
		s.t.Errorf("on record are the ends %+v, want one %s", all, outcome)
	}
}

// TestOneOutcomeAtTheEnd: a call in flight when the proxy shuts down, whose child ends too, has one
// outcome on record.
func TestOneOutcomeAtTheEnd(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		up, records := child(t, "")
		s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(l, "")
		c.call("slow", `{}`)
		s.eventually("it is in flight", func() bool { return len(ofKind(records(), testserver.Executed, "slow")) == 1 })
		if err := s.proxy.Close(); err != nil {
			t.Error(err)
		}
		s.oneOutcome("up.slow", "unknown")
	})
}

// TestConnectionDies: B025, B026 over HTTP, where the fate of the call is unknown: its token stays
// in flight until an operator settles it.
func TestConnectionDies(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: chain(t, "die", "push")})
		c := s.connect(l, "")
		if r := c.do("die", `{}`); !r.isError() || r.decision("kind") != "unknown" || r.decision("decision") != "allow" || r.decision("outcome") != "unknown" {
			t.Errorf("%s", r.raw)
		}
		s.inFlight()
		s.executed("die", 1)
		s.eventually("it is reached again", func() bool { return !c.do("safe", `{}`).isError() })
		c.refuses("push", `{}`, "blocked")
		session := s.proxy.Sessions()[0]
		if err := s.proxy.SettleCall(session.ID, session.Calls[0].Number, false, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		if err := s.proxy.SettleCall(session.ID, session.Calls[0].Number, true, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("a call was settled twice")
		}
		s.settled("ready")
		c.must("push", `{}`)
		s.executed("die", 1)
	})
}

// briefly sets the timeout of all calls.
func briefly(o *proxy.Options) { o.Upstreams[0].Timeout = 30 * time.Millisecond }

// runsOut makes a call that the upstream does not answer in time. On a busy machine, the timeout
// can pass before the call is sent, and nothing is spent: then the call is repeated.
func (c *client) runsOut(tool, args string) message {
	c.t.Helper()
	var r message
	c.eventually("the time of a call runs out that was sent", func() bool {
		r = c.do(tool, args)
		return r.decision("kind") == "unknown"
	})
	c.awaitExecuted(tool, 1)
	if r.decision("decision") != "allow" || r.decision("outcome") != "unknown" { // it was not refused: it might have run
		c.t.Errorf("%s", r.raw)
	}
	return r
}

// TestLateAnswer: B022. The outcome of a call that timed out is unknown; its token is held until a
// late answer settles it.
func TestLateAnswer(t *testing.T) {
	for _, fail := range []bool{false, true} {
		eachLeg(t, func(t *testing.T, l leg) {
			server := testserver.Options{Eras: testserver.Legacy, Tools: testserver.Attack()}
			if fail {
				server.Tools = failing(server.Tools, "slow")
			}
			s := start(t, setup{policy: chain(t, "slow", "push"), server: server, change: briefly})
			c := s.connect(l, "")
			r := c.runsOut("slow", `{"stubborn":true}`)
			if !r.isError() || !strings.Contains(r.text(), "no answer within") {
				t.Errorf("%s", r.raw)
			}
			s.inFlight()
			c.refuses("push", `{}`, "blocked")
			s.upstream.Release()
			want := map[bool]string{false: "done", true: "ready"}[fail]
			s.settled(want)
			late := s.records.matching(func(r record) bool { return r.Event == "outcome" && r.By == "late answer" })
			if calls := s.records.decisions("allow"); len(late) != 1 || late[0].Call != calls[len(calls)-1].Call {
				t.Errorf("%+v", late)
			}
			if n := c.mail.count(func(m message) bool { return m.id == r.id }); n != 0 {
				t.Errorf("the call was answered twice: %s", c.mail)
			}
			s.executed("slow", 1)
		})
	}
}

// failing makes a tool fail at its end.
func failing(tools []testserver.Tool, name string) []testserver.Tool {
	for i, tool := range tools {
		if tool.Name == name {
			tools[i].Run = after(tool.Run, testserver.Failed("it failed"))
		}
	}
	return tools
}

// TestCancel: B023. The upstream gets the cancellation under its own id, and the outcome is
// unknown: the token is held.
func TestCancel(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: chain(t, "slow", "push"), server: testserver.Options{Eras: testserver.Legacy}})
		c := s.connect(l, "")
		s.cancels(c, func(id string) { c.cancel(id) })
		c.must("safe", `{}`)
		c.refuses("push", `{}`, "blocked")
	})
}

// TestGoneMidCall: B024. The same for a client that disconnects in the middle.
func TestGoneMidCall(t *testing.T) {
	t.Parallel()
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: chain(t, "slow", "push"), server: testserver.Options{Eras: testserver.Legacy}})
		c := s.connect(l, "")
		c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		c.close()
		s.awaitCancelled()
		s.executed("slow", 1)
		s.eventually("the outcome is on record", func() bool { return len(s.records.outcomes()) == 1 })
		if o := s.records.outcomes()[0]; o.Outcome != "unknown" {
			t.Errorf("%+v", o)
		}
	})
}

// cancels makes c cancel a running call.
func (s *site) cancels(c *client, giveUp func(id string)) {
	s.t.Helper()
	id := c.call("slow", `{}`)
	s.awaitExecuted("slow", 1)
	giveUp(id)
	s.awaitCancelled()
	s.eventually("the outcome is on record", func() bool { return len(s.records.outcomes()) == 1 })
	s.inFlight()
	if o := s.records.outcomes()[0]; o.Outcome != "unknown" {
		s.t.Errorf("%+v", o)
	}
	if n := c.mail.count(func(m message) bool { return m.id == id }); n != 0 {
		s.t.Errorf("a cancelled call was answered: %s", c.mail)
	}
}

// awaitCancelled waits until the upstream got the cancellation, under the id of the call.
func (s *site) awaitCancelled() {
	s.t.Helper()
	s.eventually("the upstream is told", func() bool { return len(s.log.Records(testserver.Cancelled)) > 0 })
	told, ran := s.log.Records(testserver.Cancelled), s.log.Records(testserver.Executed)
	if len(told) != 1 || string(told[0].ID) != string(ran[0].ID) {
		s.t.Errorf("cancelled %s, want %s", told[0].ID, ran[0].ID)
	}
}

// TestCancelledByStdio: B023 with a child process, which gets the cancellation on its input.
func TestCancelledByStdio(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			up, records := child(t, "--era "+era)
			s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
			c := s.connect(legs()[0], "")
			id := c.call("slow", `{}`)
			s.eventually("it runs", func() bool { return len(ofKind(records(), testserver.Executed, "slow")) == 1 })
			c.cancel(id)
			s.eventually("it is told", func() bool { return len(ofKind(records(), testserver.Cancelled, "")) == 1 })
			all := records()
			if told, ran := ofKind(all, testserver.Cancelled, "")[0], ofKind(all, testserver.Executed, "slow")[0]; string(told.ID) != string(ran.ID) {
				t.Errorf("cancelled %s, want %s", told.ID, ran.ID)
			}
			s.inFlight()
		})
	}
}

// TestLateAnswerOfChild: B022 over stdio, in both families of revisions.
func TestLateAnswerOfChild(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			up, records := child(t, "--era "+era)
			up.Timeout = 200 * time.Millisecond
			s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
			c := s.connect(legs()[0], "")
			if r := c.do("slow", `{"stubborn":true}`); !r.isError() {
				t.Errorf("%s", r.raw)
			}
			s.inFlight()
			s.eventually("it runs", func() bool { return len(ofKind(records(), testserver.Executed, "slow")) == 1 })
			s.eventually("the answer has come", func() bool { // slow may begin to wait after a release, and a release can time out too
				c.do("release", `{}`)
				return s.marking("chain", "done") == 1
			})
			s.settled("done")
		})
	}
}

// TestCallsOfDownUpstreamAreRefused: calls of an upstream that is known to be down are answered
// before the decision, and nothing is spent on them.
func TestCallsOfDownUpstreamAreRefused(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		up, _ := child(t, "--die-after 1")
		s := start(t, setup{change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(l, "")
		c.list()
		var down message
		s.eventually("it is down", func() bool { // each safe ends a process, and the delays grow
			down = c.do("safe", `{}`)
			return down.decision("decision") == "refuse" // one that dies meanwhile was admitted, and is unknown
		})
		before := s.state()
		for range 5 {
			r := c.do("push", `{}`)
			if r.decision("kind") != "unavailable" {
				break // it has come back just now
			}
			if s.state() != before {
				t.Fatalf("something was spent: %s", s.state())
			}
		}
		if !down.isError() || !strings.Contains(down.text(), "nothing was spent") {
			t.Errorf("%s", down.raw)
		}
	})
}

// TestAuditFails: if a decision cannot be recorded, the call is not made, and no success counts
// that is not recorded.
func TestAuditFails(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: chain(t, "slow", "push")})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		before := s.state()
		s.records.setFail(true)
		for _, tool := range []string{"safe", "push"} {
			if r := c.do(tool, `{}`); !r.isError() || r.decision("kind") != "internal" {
				t.Errorf("%s: %s", tool, r.raw)
			}
		}
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.executed("push", 0)
		s.executed("safe", 1)
		s.records.setFail(false)
		id := c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		s.records.setFail(true)
		s.upstream.Release()
		if r := c.reply(id); r.isError() || r.result == nil { // it has happened, and the caller must know
			t.Errorf("%s", r.raw)
		}
		s.inFlight()
		s.records.setFail(false)
		s.settled("done") // with the outcome that the proxy kept
	})
}

// TestAuditFailsOnConsent: nor does a consent admit a call that is not recorded.
func TestAuditFailsOnConsent(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		s.records.setFail(true)
		if r := q.answer(approve); !r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)
	})
}

// TestSpoiltSuccess: a result with invalid JSON inside is forwarded unchanged, and no net counts it
// as a success.
func TestSpoiltSuccess(t *testing.T) {
	spoilt := testserver.Tool{Name: "spoilt", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[tru],"resultType":"complete"}`), nil
	}}
	s := start(t, setup{rules: "require spoilt before delete\n", server: testserver.Options{Tools: append(testserver.Attack(), spoilt)}})
	c := s.connect(legs()[0], "")
	c.call("spoilt", `{}`)
	s.eventually("it ran and is settled", func() bool { return s.log.Executed("spoilt") == 1 && s.openCalls() == 0 })
	c.refuses("delete", `{}`, "blocked")
}

// TestOnlyCompleteResultIsSuccess: B019. Only a complete result without an error counts as a
// success.
func TestOnlyCompleteResultIsSuccess(t *testing.T) {
	failures := []string{
		`{"content":[],"isError":true}`, `{"content":[],"isError":"true"}`, `{"content":[],"isError":"false"}`, `{"content":[],"isError":null}`,
		`{"content":[],"isError":1}`, `{"content":[],"isError":true,"IsError":false}`, `{"content":[],"iserror":false}`,
		`{"content":[],"resultType":"partial"}`, `{"content":[],"resultType":7}`, `[]`, `"x"`, `null`, `5`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "require lie before delete\n"})
		c := s.connect(l, "")
		for _, f := range failures {
			c.reply(c.call("lie", `{"result":`+f+`}`))
			s.eventually("it is settled", func() bool { return s.openCalls() == 0 })
			c.refuses("delete", `{}`, "blocked")
		}
		c.reply(c.call("lie", `{"error":{"code":-32000,"message":"no"}}`))
		c.refuses("delete", `{}`, "blocked")
		c.reply(c.call("lie", `{"result":{"content":[{"type":"text","text":"failed"}],"isError":false}}`))
		c.must("delete", `{}`)
		c.refuses("delete", `{}`, "blocked")
	})
}

// TestAuditFailsKnown: while recording is known to fail, a call is refused before anything is
// spent: neither a budget nor a consent. Once it works again, the gap is marked.
func TestAuditFailsKnown(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit push to 1 per session\nrequire human-approval before deploy\n", change: byOperator(atOnce).change})
		c := s.connect(l, "")
		id := c.parked("deploy", `{}`)
		if err := s.proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		before := s.state()
		s.records.setFail(true)
		for _, tool := range []string{"safe", "push", "deploy", "push", "safe", "deploy"} {
			if r := c.do(tool, `{}`); !r.isError() || r.decision("kind") != "internal" {
				t.Errorf("%s: %s", tool, r.raw)
			}
		}
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.executed("", 0)
		s.records.setFail(false)
		c.must("push", `{}`)
		c.must("deploy", `{}`)
		c.blocked("push")
		if n := len(s.records.matching(func(r record) bool { return r.Event == "resumed" })); n != 1 {
			t.Errorf("%d records of the gap", n)
		}
	})
}

// TestTaskHandle: B019. A task continues after its CreateTaskResult: its token is held, and the
// result does not count as a success. A result that asks for input has not run.
func TestTaskHandle(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: chain(t, "lie", "push")})
		c := s.connect(l, "")
		if !l.modern { // a client of the newer family should come back, and until then the call is open
			if r := c.do("lie", `{"result":{"resultType":"input_required","requestState":"x","inputRequests":{}}}`); !r.isError() || r.decision("kind") != "unsupported" {
				t.Errorf("%s", r.raw)
			}
			s.settled("ready")
		}
		if r := c.do("lie", `{"result":{"task":{"taskId":"1","status":"working"}}}`); !r.isError() || r.decision("kind") != "unknown" || r.decision("decision") != "allow" || r.decision("outcome") != "unknown" {
			t.Errorf("%s", r.raw)
		}
		s.inFlight()
		c.refuses("push", `{}`, "blocked")
	})
}
