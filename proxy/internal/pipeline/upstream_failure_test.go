package pipeline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestChildDies: B025, B026. If a server dies during a call, the outcome is unknown: the caller is
// told so, and it is recorded once. The token stays in flight until an operator settles the call,
// nothing is sent twice, and the next process serves.
func TestChildDies(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		up, records := proxytest.ChildUpstream(t, "")
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "die", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(l, "")
		if r := c.Do("die", `{}`); !r.IsError() || r.Decision("kind") != "unknown" {
			t.Errorf("%s", r.Raw)
		}
		s.ChainInFlight()
		oneOutcome(s, "up.die", "unknown")
		s.Eventually("it runs again", func() bool { return !c.Do("safe", `{}`).IsError() })
		c.Refuses("push", `{}`, "blocked")
		session := s.Proxy.Sessions()[0]
		if err := s.Proxy.SettleCall(session.ID, session.Calls[0].Number, false, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		c.Must("push", `{}`)
		s.ChainSettled("done")
		if n := len(proxytest.OfKind(records(), testserver.Executed, "die")); n != 1 {
			t.Errorf("die was executed %d times", n)
		}
	})
}

// oneOutcome fails unless one outcome of the tool is on record.
func oneOutcome(s *proxytest.Site, tool, outcome string) {
	s.T.Helper()
	all := s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "outcome" && r.Tool == tool })
	if len(all) != 1 || all[0].Outcome != outcome {
		s.T.Errorf("on record are the ends %+v, want one %s", all, outcome)
	}
}

// TestOneOutcomeAtTheEnd: a call in flight when the proxy shuts down, whose child ends too, has one
// outcome on record.
func TestOneOutcomeAtTheEnd(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		up, records := proxytest.ChildUpstream(t, "")
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(l, "")
		c.Call("slow", `{}`)
		s.Eventually("it is in flight", func() bool { return len(proxytest.OfKind(records(), testserver.Executed, "slow")) == 1 })
		if err := s.Proxy.Close(); err != nil {
			t.Error(err)
		}
		oneOutcome(s, "up.slow", "unknown")
	})
}

// TestConnectionDies: B025, B026 over HTTP, where the fate of the call is unknown: its token stays
// in flight until an operator settles it.
func TestConnectionDies(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "die", "push")})
		c := s.Connect(l, "")
		if r := c.Do("die", `{}`); !r.IsError() || r.Decision("kind") != "unknown" || r.Decision("decision") != "allow" || r.Decision("outcome") != "unknown" {
			t.Errorf("%s", r.Raw)
		}
		s.ChainInFlight()
		s.Executed("die", 1)
		s.Eventually("it is reached again", func() bool { return !c.Do("safe", `{}`).IsError() })
		c.Refuses("push", `{}`, "blocked")
		session := s.Proxy.Sessions()[0]
		if err := s.Proxy.SettleCall(session.ID, session.Calls[0].Number, false, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Proxy.SettleCall(session.ID, session.Calls[0].Number, true, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("a call was settled twice")
		}
		s.ChainSettled("ready")
		c.Must("push", `{}`)
		s.Executed("die", 1)
	})
}

// callTimeout is the timeout of calls in tests whose clock moves past it. The proxy looks at its
// clock eight times within this time.
const callTimeout = 80 * time.Millisecond

// timesOut makes a call that the upstream begins and does not answer in time. executed waits until
// the upstream has begun.
func timesOut(c *proxytest.Client, now *proxytest.Clock, tool, args string, executed func()) proxytest.Message {
	c.T.Helper()
	id := c.Call(tool, args)
	executed()
	now.Move(callTimeout + 1)
	r := c.Reply(id)
	if !r.IsError() || r.Decision("kind") != "unknown" || r.Decision("decision") != "allow" || r.Decision("outcome") != "unknown" { // it was not refused: it might have run
		c.T.Errorf("%s", r.Raw)
	}
	return r
}

// TestLateAnswer: B022. The outcome of a call that timed out is unknown; its token is held until a
// late answer settles it.
func TestLateAnswer(t *testing.T) {
	for _, fail := range []bool{false, true} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			server := testserver.Options{Revisions: testserver.Legacy, Tools: testserver.Attack()}
			if fail {
				server.Tools = failing(server.Tools, "slow")
			}
			setup, now := atClock(proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Server: server, Change: func(o *proxy.Options) { o.Upstreams[0].Timeout = callTimeout }})
			s := proxytest.Start(t, setup)
			c := s.Connect(l, "")
			r := timesOut(c, now, "slow", `{"stubborn":true}`, func() { s.AwaitExecuted("slow", 1) })
			if !strings.Contains(r.Text(), "no answer within") {
				t.Errorf("%s", r.Raw)
			}
			s.ChainInFlight()
			c.Refuses("push", `{}`, "blocked")
			s.Upstream.Release()
			want := map[bool]string{false: "done", true: "ready"}[fail]
			s.ChainSettled(want)
			var late []proxytest.Record
			s.Eventually("the late answer is on record", func() bool {
				late = s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "outcome" && r.By == "late answer" })
				return len(late) > 0
			})
			if calls := s.Records.Decisions("allow"); len(calls) != 1 || len(late) != 1 || late[0].Call != calls[0].Call {
				t.Errorf("%+v", late)
			}
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.ID == r.ID }); n != 0 {
				t.Errorf("the call was answered twice: %s", c.Mail)
			}
			s.Executed("slow", 1)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Server: testserver.Options{Revisions: testserver.Legacy}})
		c := s.Connect(l, "")
		cancels(s, c, func(id string) { c.Cancel(id) })
		c.Must("safe", `{}`)
		c.Refuses("push", `{}`, "blocked")
	})
}

// TestGoneMidCall: B024. The same for a client that disconnects in the middle.
func TestGoneMidCall(t *testing.T) {
	t.Parallel()
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Server: testserver.Options{Revisions: testserver.Legacy}})
		c := s.Connect(l, "")
		c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		c.Close()
		awaitCancelled(s)
		s.Executed("slow", 1)
		s.Eventually("the outcome is on record", func() bool { return len(s.Records.Outcomes()) == 1 })
		if o := s.Records.Outcomes()[0]; o.Outcome != "unknown" {
			t.Errorf("%+v", o)
		}
	})
}

// cancels makes c cancel a running call.
func cancels(s *proxytest.Site, c *proxytest.Client, giveUp func(id string)) {
	s.T.Helper()
	id := c.Call("slow", `{}`)
	s.AwaitExecuted("slow", 1)
	giveUp(id)
	awaitCancelled(s)
	s.Eventually("the outcome is on record", func() bool { return len(s.Records.Outcomes()) == 1 })
	s.ChainInFlight()
	if o := s.Records.Outcomes()[0]; o.Outcome != "unknown" {
		s.T.Errorf("%+v", o)
	}
	if n := c.Mail.Count(func(m proxytest.Message) bool { return m.ID == id }); n != 0 {
		s.T.Errorf("a cancelled call was answered: %s", c.Mail)
	}
}

// awaitCancelled waits until the upstream got the cancellation, under the id of the call.
func awaitCancelled(s *proxytest.Site) {
	s.T.Helper()
	s.Eventually("the upstream is told", func() bool { return len(s.Log.Records(testserver.Cancelled)) > 0 })
	told, ran := s.Log.Records(testserver.Cancelled), s.Log.Records(testserver.Executed)
	if len(told) != 1 || string(told[0].ID) != string(ran[0].ID) {
		s.T.Errorf("cancelled %s, want %s", told[0].ID, ran[0].ID)
	}
}

// TestCancelledByStdio: B023 with a child process, which gets the cancellation on its input.
func TestCancelledByStdio(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			up, records := proxytest.ChildUpstream(t, "--era "+era)
			s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
			c := s.Connect(proxytest.Legs()[0], "")
			id := c.Call("slow", `{}`)
			s.Eventually("it runs", func() bool { return len(proxytest.OfKind(records(), testserver.Executed, "slow")) == 1 })
			c.Cancel(id)
			s.Eventually("it is told", func() bool { return len(proxytest.OfKind(records(), testserver.Cancelled, "")) == 1 })
			all := records()
			if told, ran := proxytest.OfKind(all, testserver.Cancelled, "")[0], proxytest.OfKind(all, testserver.Executed, "slow")[0]; string(told.ID) != string(ran.ID) {
				t.Errorf("cancelled %s, want %s", told.ID, ran.ID)
			}
			s.ChainInFlight()
		})
	}
}

// TestLateAnswerOfChild: B022 over stdio, in both families of revisions.
func TestLateAnswerOfChild(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			up, records := proxytest.ChildUpstream(t, "--era "+era)
			up.Timeout = callTimeout
			setup, now := atClock(proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
			s := proxytest.Start(t, setup)
			c := s.Connect(proxytest.Legs()[0], "")
			timesOut(c, now, "slow", `{"stubborn":true}`, func() {
				s.Eventually("it runs", func() bool { return len(proxytest.OfKind(records(), testserver.Executed, "slow")) == 1 })
			})
			s.ChainInFlight()
			c.Must("release", `{}`)
			s.ChainSettled("done")
		})
	}
}

// TestCallsOfDownUpstreamAreRefused: calls of an upstream that is known to be down are answered
// before the decision, and nothing is spent on them.
func TestCallsOfDownUpstreamAreRefused(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		up, _ := proxytest.ChildUpstream(t, "--die-after 1")
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(l, "")
		c.List()
		var down proxytest.Message
		s.Eventually("it is down", func() bool { // each safe ends a process, and the delays grow
			down = c.Do("safe", `{}`)
			return down.Decision("decision") == "refuse" // one that dies meanwhile was admitted, and is unknown
		})
		before := s.State()
		for range 5 {
			r := c.Do("push", `{}`)
			if r.Decision("kind") != "unavailable" {
				break // it has come back just now
			}
			if s.State() != before {
				t.Fatalf("something was spent: %s", s.State())
			}
		}
		if !down.IsError() || !strings.Contains(down.Text(), "nothing was spent") {
			t.Errorf("%s", down.Raw)
		}
	})
}

// TestAuditFails: if a decision cannot be recorded, the call is not made, and no success counts
// that is not recorded.
func TestAuditFails(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push")})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		before := s.State()
		s.Records.Fail.Store(true)
		for _, tool := range []string{"safe", "push"} {
			if r := c.Do(tool, `{}`); !r.IsError() || r.Decision("kind") != "internal" {
				t.Errorf("%s: %s", tool, r.Raw)
			}
		}
		if after := s.State(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.Executed("push", 0)
		s.Executed("safe", 1)
		s.Records.Fail.Store(false)
		id := c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		s.Records.Fail.Store(true)
		s.Upstream.Release()
		if r := c.Reply(id); r.IsError() || r.Result == nil { // it has happened, and the caller must know
			t.Errorf("%s", r.Raw)
		}
		s.ChainInFlight()
		s.Records.Fail.Store(false)
		s.ChainSettled("done") // with the outcome that the proxy kept
	})
}

// TestAuditFailsOnConsent: nor does a consent admit a call that is not recorded.
func TestAuditFailsOnConsent(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		s.Records.Fail.Store(true)
		if r := q.Answer(proxytest.Approve); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 0)
	})
}

// TestSpoiltSuccess: a result with invalid JSON inside is forwarded unchanged, and no net counts it
// as a success.
func TestSpoiltSuccess(t *testing.T) {
	spoilt := testserver.Tool{Name: "spoilt", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[tru],"resultType":"complete"}`), nil
	}}
	s := proxytest.Start(t, proxytest.Setup{Rules: "require spoilt before delete\n", Server: testserver.Options{Tools: append(testserver.Attack(), spoilt)}})
	c := s.Connect(proxytest.Legs()[0], "")
	c.Call("spoilt", `{}`)
	s.Eventually("it ran and is settled", func() bool { return s.Log.Executed("spoilt") == 1 && s.OpenCalls() == 0 })
	c.Refuses("delete", `{}`, "blocked")
}

// TestOnlyCompleteResultIsSuccess: B019. Only a complete result without an error counts as a
// success.
func TestOnlyCompleteResultIsSuccess(t *testing.T) {
	failures := []string{
		`{"content":[],"isError":true}`, `{"content":[],"isError":"true"}`, `{"content":[],"isError":"false"}`, `{"content":[],"isError":null}`,
		`{"content":[],"isError":1}`, `{"content":[],"isError":true,"IsError":false}`, `{"content":[],"iserror":false}`,
		`{"content":[],"resultType":"partial"}`, `{"content":[],"resultType":7}`, `[]`, `"x"`, `null`, `5`,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "require lie before delete\n"})
		c := s.Connect(l, "")
		for _, f := range failures {
			c.Reply(c.Call("lie", `{"result":`+f+`}`))
			s.Eventually("it is settled", func() bool { return s.OpenCalls() == 0 })
			c.Refuses("delete", `{}`, "blocked")
		}
		c.Reply(c.Call("lie", `{"error":{"code":-32000,"message":"no"}}`))
		c.Refuses("delete", `{}`, "blocked")
		c.Reply(c.Call("lie", `{"result":{"content":[{"type":"text","text":"failed"}],"isError":false}}`))
		c.Must("delete", `{}`)
		c.Refuses("delete", `{}`, "blocked")
	})
}

// TestAuditFailsKnown: while recording is known to fail, a call is refused before anything is
// spent: neither a budget nor a consent. Once it works again, the gap is marked.
func TestAuditFailsKnown(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\nrequire human-approval before deploy\n", Change: proxytest.OperatorSetup(proxytest.ParkAtOnce).Change})
		c := s.Connect(l, "")
		id := c.Parks("deploy", `{}`)
		if err := s.Proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		before := s.State()
		s.Records.Fail.Store(true)
		for _, tool := range []string{"safe", "push", "deploy", "push", "safe", "deploy"} {
			if r := c.Do(tool, `{}`); !r.IsError() || r.Decision("kind") != "internal" {
				t.Errorf("%s: %s", tool, r.Raw)
			}
		}
		if after := s.State(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.Executed("", 0)
		s.Records.Fail.Store(false)
		c.Must("push", `{}`)
		c.Must("deploy", `{}`)
		c.CallBlocked("push")
		if n := len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "resumed" })); n != 1 {
			t.Errorf("%d records of the gap", n)
		}
	})
}

// TestTaskHandle: B019. A task continues after its CreateTaskResult: its token is held, and the
// result does not count as a success. A result that asks for input has not run.
func TestTaskHandle(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "lie", "push")})
		c := s.Connect(l, "")
		if !l.Modern { // a client of the newer family should come back, and until then the call is open
			if r := c.Do("lie", `{"result":{"resultType":"input_required","requestState":"x","inputRequests":{}}}`); !r.IsError() || r.Decision("kind") != "unsupported" {
				t.Errorf("%s", r.Raw)
			}
			s.ChainSettled("ready")
		}
		if r := c.Do("lie", `{"result":{"task":{"taskId":"1","status":"working"}}}`); !r.IsError() || r.Decision("kind") != "unknown" || r.Decision("decision") != "allow" || r.Decision("outcome") != "unknown" {
			t.Errorf("%s", r.Raw)
		}
		s.ChainInFlight()
		c.Refuses("push", `{}`, "blocked")
	})
}

// after runs a tool and answers with another result.
func after(run func(context.Context, *testserver.Call) (json.RawMessage, error), result json.RawMessage) func(context.Context, *testserver.Call) (json.RawMessage, error) {
	return func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
		if _, err := run(ctx, c); err != nil {
			return nil, err
		}
		return result, nil
	}
}
