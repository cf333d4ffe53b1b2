package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// eachDriver runs f with the states in memory, in files and on a server. opened returns a database
// of its own; nil: the states are in memory.
func eachDriver(t *testing.T, f func(t *testing.T, opened func(t *testing.T) proxy.Database)) {
	t.Run("memory", func(t *testing.T) { f(t, func(*testing.T) proxy.Database { return nil }) })
	for driver, open := range map[string]func(t *testing.T) (proxy.Database, error){
		"sqlite": func(t *testing.T) (proxy.Database, error) {
			return journal.Open(t.Context(), journal.Options{Path: filepath.Join(t.TempDir(), "state.db"), Sync: journal.Normal})
		},
		"postgres": func(t *testing.T) (proxy.Database, error) {
			return postgres.Open(t.Context(), postgres.Options{DSN: postgrestest.Schema(t)})
		},
	} {
		t.Run(driver, func(t *testing.T) {
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
	do    func(t *testing.T, s *site)
	says  string // error text for the client
}

func turnabouts() []turnabout {
	stop := func(t *testing.T, s *site) {
		t.Helper()
		if _, err := s.proxy.Stop("", "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	reload := func(rules string) func(t *testing.T, s *site) {
		return func(t *testing.T, s *site) {
			t.Helper()
			if _, err := s.proxy.Reload(t.Context(), proxy.Replacement{Policy: policyOf(t, rules)}); err != nil {
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
func (c *client) begun(asked bool) (id string, r message) {
	c.t.Helper()
	if asked && c.leg.modern {
		r = c.asks("curious", `{}`).answer(approve)
		return "", r
	}
	id = c.call("curious", `{}`)
	if asked {
		q := c.questioned("elicitation/create")
		c.respond(q.id, `{"action":"accept","content":{"decision":"approve"}}`)
	}
	if c.leg.modern {
		r = c.reply(id)
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
				eachLeg(t, func(t *testing.T, l leg) {
					s := start(t, setup{rules: turn.rules, change: func(o *proxy.Options) { o.Database = opened(t) },
						server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
					c := s.connect(l, canAll)
					id, r := c.begun(strings.HasSuffix(turn.name, "asked"))
					if l.modern {
						turn.do(t, s)
						r = c.heard(`{}`, at(r.result, "requestState"))
					} else {
						q := c.questioned("elicitation/create")
						turn.do(t, s)
						c.respond(q.id, nameGiven)
						r = c.reply(id)
					}
					if !r.isError() || !strings.HasPrefix(r.text(), turn.says) {
						t.Errorf("the client was told: %s", r.raw)
					}
					s.executed("curious", 1)
					if strings.HasPrefix(turn.name, "stop") && l.modern {
						return // it stays unchanged until calls are started again
					}
					if n := s.openCalls(); n != 0 {
						t.Errorf("%d calls are open", n)
					}
					if o := s.records.outcomes(); len(o) != 1 || o[0].Outcome != "failure" {
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
		s := start(t, setup{rules: "limit curious to 1 per user\n", change: func(o *proxy.Options) { o.Database = opened(t) },
			server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
		c := s.connect(legs()[2], canAll)
		state := at(c.do("curious", `{}`).result, "requestState")
		if _, err := s.proxy.Stop("", "ann", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.heard(`{}`, state); !strings.HasPrefix(r.text(), "Stopped") {
			t.Errorf("%s", r.raw)
		}
		if _, err := s.proxy.StartAgain("", proxy.Actor{Name: "ann"}); err != nil {
			t.Fatal(err)
		}
		if r := c.heard(`{}`, state); at(r.result, "heard") != nameGiven {
			t.Errorf("%s", r.raw)
		}
		s.executed("curious", 2)
	})
}

// TestLaterRoundAsksAnew: if the policy in force requires approval, a person is asked before the
// call is sent again, from its first round.
func TestLaterRoundAsksAnew(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit curious to 9 per session\n", server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
		c := s.connect(l, canAll)
		id, r := c.begun(false)
		ask := func() {
			if _, err := s.proxy.Reload(t.Context(), proxy.Replacement{Policy: policyOf(t, "require human-approval before curious\n")}); err != nil {
				t.Fatal(err)
			}
		}
		if l.modern {
			ask()
			r = c.heard(`{}`, at(r.result, "requestState"))
			if at(r.result, "inputRequests", "who") != "" || at(r.result, "resultType") != `"input_required"` {
				t.Errorf("no person is asked: %s", r.raw)
			}
			s.executed("curious", 1)
			return
		}
		q := c.questioned("elicitation/create")
		ask()
		c.respond(q.id, nameGiven)
		q = c.questioned("elicitation/create") // the question of the approval
		s.executed("curious", 1)
		c.respond(q.id, `{"action":"accept","content":{"decision":"approve"}}`)
		q = c.questioned("elicitation/create") // the upstream's question again
		c.respond(q.id, nameGiven)
		if r := c.reply(id); at(r.result, "heard") != nameGiven {
			t.Errorf("%s", r.raw)
		}
		s.executed("curious", 3)
	})
}

// TestTaskInsteadIsDecided: N5. The same if an upstream runs a call only as a task, unknown to its
// client: the call is sent a second time.
func TestTaskInsteadIsDecided(t *testing.T) {
	const wants = `{"code":-32021,"message":"no","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`
	eachDriver(t, func(t *testing.T, opened func(t *testing.T) proxy.Database) {
		for _, turn := range turnabouts()[:2] {
			t.Run(turn.name, func(t *testing.T) {
				legacyLegs(t, func(t *testing.T, l leg) {
					goOn := make(chan struct{})
					tool := testserver.Tool{Name: "curious", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
						<-goOn
						return nil, &testserver.Error{Raw: json.RawMessage(wants)}
					}}
					s := insisting(t, setup{rules: turn.rules, change: func(o *proxy.Options) { o.Database = opened(t) },
						server: testserver.Options{Tools: []testserver.Tool{tool}}})
					c := s.connect(l, "")
					id := c.call("curious", `{}`)
					s.awaitExecuted("curious", 1)
					turn.do(t, s)
					close(goOn)
					if r := c.reply(id); !r.isError() || !strings.HasPrefix(r.text(), turn.says) {
						t.Errorf("the client was told: %s", r.raw)
					}
					s.executed("curious", 1)
					if o := s.records.outcomes(); len(o) != 1 || o[0].Outcome != "failure" || s.openCalls() != 0 {
						t.Errorf("outcomes on record: %+v, %d calls are open", o, s.openCalls())
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
				eachLeg(t, func(t *testing.T, l leg) {
					came, goOn := make(chan struct{}, 9), make(chan struct{})
					inner := &revolving{}
					var log testserver.Log
					inner.now.Store(testserver.New(testserver.Options{Eras: testserver.Legacy, Record: log.Add, Tools: []testserver.Tool{running(testserver.Tool{Name: "curious"})}}))
					inner.deny.Store(true)
					up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						inner.ServeHTTP(&waiting{w, came, goOn}, r)
					}))
					t.Cleanup(func() {
						up.CloseClientConnections()
						up.Close()
					})
					s := start(t, setup{rules: turn.rules, change: func(o *proxy.Options) {
						o.Database = opened(t)
						o.Upstreams = []proxy.Upstream{{Name: "v", URL: up.URL}}
					}})
					c := s.connect(l, "")
					id := c.call("curious", `{}`)
					<-came
					turn.do(t, s)
					inner.deny.Store(false)
					close(goOn)
					r := c.reply(id)
					if !r.isError() || !strings.HasPrefix(r.text(), strings.Replace(turn.says, "curious is blocked and cannot be called.", "The policy changed before curious could be sent again", 1)) {
						t.Errorf("the client was told: %s", r.raw)
					}
					if n := inner.sent.Load(); n != 1 || log.Executed("curious") != 0 {
						t.Errorf("it was sent %d times", n)
					}
					if o := s.records.outcomes(); len(o) != 1 || o[0].Outcome != "failure" || s.openCalls() != 0 {
						t.Errorf("outcomes on record: %+v, %d calls are open", o, s.openCalls())
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
