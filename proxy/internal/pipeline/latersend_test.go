package pipeline_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// eachDriver runs f with the states in memory, in files and on a server. opened returns a database
// of its own, or nil if the states are in memory.
func eachDriver(t *testing.T, f func(t *testing.T, opened func(t *testing.T) proxy.Database)) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		f(t, func(*testing.T) proxy.Database { return nil })
	})
	for driver, open := range map[string]func(t *testing.T) (proxy.Database, error){
		"sqlite": func(t *testing.T) (proxy.Database, error) {
			return journal.Open(t.Context(), journal.Options{Path: filepath.Join(t.TempDir(), "state.db"), Sync: journal.Normal})
		},
		"postgres": func(t *testing.T) (proxy.Database, error) {
			return postgres.Open(t.Context(), postgres.Options{DSN: postgrestest.NewSchema(t)})
		},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			f(t, func(t *testing.T) proxy.Database {
				t.Helper()
				b, err := open(t)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.Close() })
				return b
			})
		})
	}
}

// A turnabout stops all calls or blocks the tool while a call waits between two sends.
type turnabout struct {
	name  string
	rules string // rules in force when the call is admitted
	do    func(t *testing.T, s *proxytest.Site)
	says  string // error text for the client
}

func turnabouts() []turnabout {
	stop := func(t *testing.T, s *proxytest.Site) {
		t.Helper()
		if _, err := s.Proxy.Stop("", "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	reload := func(rules string) func(t *testing.T, s *proxytest.Site) {
		return func(t *testing.T, s *proxytest.Site) {
			t.Helper()
			if _, err := s.Proxy.Reload(t.Context(), proxy.Replacement{Policy: proxytest.PolicyOf(t, rules)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []turnabout{
		{"stop", "limit curious to 9 per session\n", stop, "Stopped: an operator has stopped all calls"},
		{"block", "limit curious to 9 per session\n", reload("block curious\n"), "curious is blocked and cannot be called."},
		{"stop/asked", "require human-approval before curious\n", stop, "Stopped: an operator has stopped all calls"},
		{"block/asked", "require human-approval before curious\n", reload("block curious\n"), "curious is blocked and cannot be called."},
	}
}

// begun calls curious, with an approval if the rules require it, and returns the id of the call
// and, for a modern client, the reply that asks for input.
func begun(c *proxytest.Client, asked bool) (id string, r proxytest.Message) {
	c.T.Helper()
	if asked && c.Leg.Modern {
		r = c.Asks("curious", `{}`).Answer(proxytest.Approve)
		return "", r
	}
	id = c.Call("curious", `{}`)
	if asked {
		q := c.AwaitRequest("elicitation/create")
		c.Respond(q.ID, `{"action":"accept","content":{"decision":"approve"}}`)
	}
	if c.Leg.Modern {
		r = c.Reply(id)
	}
	return id, r
}

// TestLaterRoundIsDecided: N5. A call whose upstream asks for input is sent again only if calls are
// not stopped and the policy in force admits it, in both families, with any driver, approved by a
// person or not.
func TestLaterRoundIsDecided(t *testing.T) {
	eachDriver(t, func(t *testing.T, opened func(t *testing.T) proxy.Database) {
		for _, turn := range turnabouts() {
			t.Run(turn.name, func(t *testing.T) {
				proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
					s := proxytest.Start(t, proxytest.Setup{Rules: turn.rules, Change: func(o *proxy.Options) { o.Database = opened(t) },
						Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
					c := s.Connect(l, proxytest.CanAll)
					id, r := begun(c, strings.HasSuffix(turn.name, "asked"))
					if l.Modern {
						turn.do(t, s)
						r = replyToInput(c, `{}`, proxytest.Member(r.Result, "requestState"))
					} else {
						q := c.AwaitRequest("elicitation/create")
						turn.do(t, s)
						c.Respond(q.ID, proxytest.NameGiven)
						r = c.Reply(id)
					}
					if !r.IsError() || !strings.HasPrefix(r.Text(), turn.says) {
						t.Errorf("the client was told: %s", r.Raw)
					}
					s.Executed("curious", 1)
					if strings.HasPrefix(turn.name, "stop") && l.Modern {
						return // it stays unchanged until calls are started again
					}
					if n := s.OpenCalls(); n != 0 {
						t.Errorf("%d calls are open", n)
					}
					if o := s.Records.Outcomes(); len(o) != 1 || o[0].Outcome != "failure" {
						t.Errorf("outcomes on record: %+v", o)
					}
				})
			})
		}
	})
}

// TestRoundAfterStart: while calls are stopped a round stays unchanged, and it continues once they
// are started again.
func TestRoundAfterStart(t *testing.T) {
	eachDriver(t, func(t *testing.T, opened func(t *testing.T) proxy.Database) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit curious to 1 per user\n", Change: func(o *proxy.Options) { o.Database = opened(t) },
			Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
		c := s.Connect(proxytest.Legs()[2], proxytest.CanAll)
		state := proxytest.Member(c.Do("curious", `{}`).Result, "requestState")
		if _, err := s.Proxy.Stop("", "ann", ""); err != nil {
			t.Fatal(err)
		}
		if r := replyToInput(c, `{}`, state); !strings.HasPrefix(r.Text(), "Stopped") {
			t.Errorf("%s", r.Raw)
		}
		if _, err := s.Proxy.StartAgain("", proxy.Actor{Name: "ann"}); err != nil {
			t.Fatal(err)
		}
		if r := replyToInput(c, `{}`, state); proxytest.Member(r.Result, "heard") != proxytest.NameGiven {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("curious", 2)
	})
}

// TestLaterRoundAsksAnew: if the policy in force requires approval, a person is asked before the
// call is sent again, from its first round.
func TestLaterRoundAsksAnew(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit curious to 9 per session\n", Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
		c := s.Connect(l, proxytest.CanAll)
		id, r := begun(c, false)
		ask := func() {
			if _, err := s.Proxy.Reload(t.Context(), proxy.Replacement{Policy: proxytest.PolicyOf(t, "require human-approval before curious\n")}); err != nil {
				t.Fatal(err)
			}
		}
		if l.Modern {
			ask()
			r = replyToInput(c, `{}`, proxytest.Member(r.Result, "requestState"))
			if proxytest.Member(r.Result, "inputRequests", "who") != "" || proxytest.Member(r.Result, "resultType") != `"input_required"` {
				t.Errorf("no person is asked: %s", r.Raw)
			}
			s.Executed("curious", 1)
			return
		}
		q := c.AwaitRequest("elicitation/create")
		ask()
		c.Respond(q.ID, proxytest.NameGiven)
		q = c.AwaitRequest("elicitation/create") // the question of the approval
		s.Executed("curious", 1)
		c.Respond(q.ID, `{"action":"accept","content":{"decision":"approve"}}`)
		q = c.AwaitRequest("elicitation/create") // the upstream's question again
		c.Respond(q.ID, proxytest.NameGiven)
		if r := c.Reply(id); proxytest.Member(r.Result, "heard") != proxytest.NameGiven {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("curious", 3)
	})
}

// TestTaskInsteadIsDecided: N5. The same if an upstream runs a call only as a task, unknown to its
// client: the call is sent a second time.
func TestTaskInsteadIsDecided(t *testing.T) {
	const wants = `{"code":-32021,"message":"no","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`
	eachDriver(t, func(t *testing.T, opened func(t *testing.T) proxy.Database) {
		for _, turn := range turnabouts()[:2] {
			t.Run(turn.name, func(t *testing.T) {
				proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
					goOn := make(chan struct{})
					tool := testserver.Tool{Name: "curious", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
						<-goOn
						return nil, &testserver.Error{Raw: json.RawMessage(wants)}
					}}
					s := proxytest.StartTasksOnly(t, proxytest.Setup{Rules: turn.rules, Change: func(o *proxy.Options) { o.Database = opened(t) },
						Server: testserver.Options{Tools: []testserver.Tool{tool}}})
					c := s.Connect(l, "")
					id := c.Call("curious", `{}`)
					s.AwaitExecuted("curious", 1)
					turn.do(t, s)
					close(goOn)
					if r := c.Reply(id); !r.IsError() || !strings.HasPrefix(r.Text(), turn.says) {
						t.Errorf("the client was told: %s", r.Raw)
					}
					s.Executed("curious", 1)
					if o := s.Records.Outcomes(); len(o) != 1 || o[0].Outcome != "failure" || s.OpenCalls() != 0 {
						t.Errorf("outcomes on record: %+v, %d calls are open", o, s.OpenCalls())
					}
				})
			})
		}
	})
}

// TestNewSessionIsDecided: N5. The same if an upstream has forgotten the session, and the call is
// sent again in a new one.
func TestNewSessionIsDecided(t *testing.T) {
	eachDriver(t, func(t *testing.T, opened func(t *testing.T) proxy.Database) {
		for _, turn := range turnabouts()[:2] {
			t.Run(turn.name, func(t *testing.T) {
				proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
					came, goOn := make(chan struct{}, 9), make(chan struct{})
					inner := &proxytest.ReplaceableUpstream{}
					var log testserver.Log
					inner.Server.Store(testserver.New(testserver.Options{Revisions: testserver.Legacy, Record: log.Add, Tools: []testserver.Tool{proxytest.Runnable(testserver.Tool{Name: "curious"})}}))
					inner.Deny.Store(true)
					up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						inner.ServeHTTP(&waiting{w, came, goOn}, r)
					}))
					t.Cleanup(func() {
						up.CloseClientConnections()
						up.Close()
					})
					s := proxytest.Start(t, proxytest.Setup{Rules: turn.rules, Change: func(o *proxy.Options) {
						o.Database = opened(t)
						o.Upstreams = []proxy.Upstream{{Name: "v", URL: up.URL}}
					}})
					c := s.Connect(l, "")
					id := c.Call("curious", `{}`)
					<-came
					turn.do(t, s)
					inner.Deny.Store(false)
					close(goOn)
					r := c.Reply(id)
					if !r.IsError() || !strings.HasPrefix(r.Text(), strings.Replace(turn.says, "curious is blocked and cannot be called.", "The policy changed before curious could be sent again", 1)) {
						t.Errorf("the client was told: %s", r.Raw)
					}
					if n := inner.Sent.Load(); n != 1 || log.Executed("curious") != 0 {
						t.Errorf("it was sent %d times", n)
					}
					if o := s.Records.Outcomes(); len(o) != 1 || o[0].Outcome != "failure" || s.OpenCalls() != 0 {
						t.Errorf("outcomes on record: %+v, %d calls are open", o, s.OpenCalls())
					}
				})
			})
		}
	})
}

// A waiting writer reports a 404 to the test, and writes it once the test allows it.
type waiting struct {
	http.ResponseWriter
	came chan<- struct{}
	goOn <-chan struct{}
}

func (w *waiting) WriteHeader(status int) {
	if status == http.StatusNotFound {
		w.came <- struct{}{}
		<-w.goOn
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *waiting) Unwrap() http.ResponseWriter { return w.ResponseWriter }
