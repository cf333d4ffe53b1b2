package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// patience limits every wait: it ends tests that would hang, and nothing is measured with it. A
// busy machine can take most of it for the largest messages.
const patience = 3 * time.Minute

// childMark makes the test binary an upstream: its value is the flags.
const childMark = "PETRIGATE_TEST_UPSTREAM"

func TestMain(m *testing.M) {
	if flags, ok := os.LookupEnv(childMark); ok {
		os.Exit(testserver.Main(strings.Fields(flags), os.Stdin, os.Stdout))
	}
	_ = flag.Set("test.parallel", "8") // they wait more than they work; -parallel overrides it
	debug.SetGCPercent(400)            // a fifth of their time was garbage collection
	leftover.Main(m)
}

// defaultRules are those of the attack catalogue.
const defaultRules = `require backup before delete
require human-approval before deploy
block danger
limit push to 3 per session
map bash.command rm as delete
block discord.timeout
`

// A setup describes a site. The zero value is the attack tools behind the default rules.
type setup struct {
	rules  string
	policy *gate.Policy // used instead of the rules
	server testserver.Options
	change func(*proxy.Options)
	idle   bool // do not start the proxy
	direct bool // no proxy: clients speak to the upstream itself
}

// A site is a proxy with a recording upstream over HTTP and a recorder.
type site struct {
	t        *testing.T
	proxy    *proxy.Proxy
	upstream *testserver.Server
	log      *testserver.Log // the oracle: the executed calls
	records  *memory
	http     *httptest.Server // URL of the proxy
	options  proxy.Options

	clientName string // token of the clients that connect
	bare       bool   // there is no proxy
}

// token is the token of clients over HTTP.
const token = "token-of-the-tests"

// start serves a site until the test ends.
func start(t *testing.T, s setup) *site {
	t.Helper()
	st := &site{t: t, log: &testserver.Log{}, records: &memory{}, clientName: "tester"}
	if s.server.Tools == nil {
		s.server.Tools = testserver.Attack()
	}
	s.server.Record = st.log.Add
	st.upstream = testserver.New(s.server)
	up := httptest.NewServer(st.upstream)
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	if s.direct {
		st.http, st.bare = up, true
		return st
	}
	if s.policy == nil {
		s.policy = policyOf(t, s.rules)
	}
	o := proxy.Options{
		Policy: s.policy, Recorder: st.records,
		Upstreams: []proxy.Upstream{{Name: "up", URL: up.URL + "/mcp"}},
		Approval:  proxy.Approval{Channels: []string{"elicit"}},
		Startup:   patience,
	}
	if s.change != nil {
		s.change(&o)
	}
	st.run(o, s.idle)
	return st
}

// run creates the proxy and serves it over HTTP.
func (s *site) run(o proxy.Options, idle bool) {
	s.t.Helper()
	p, err := proxy.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.proxy, s.options = p, o
	s.t.Cleanup(func() {
		if err := p.Close(); err != nil {
			s.t.Error(err)
		}
	})
	s.http = httptest.NewUnstartedServer(nil)
	handler, err := p.Handler(proxy.Access{Addr: s.http.Listener.Addr().String(), Token: token, Hooks: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.http.Config.Handler = handler
	s.http.Config.ErrorLog = log.New(complaints{s.t}, "", 0)
	s.http.Start()
	s.t.Cleanup(s.http.Close)
	if !idle {
		p.Start()
		p.AwaitTools(s.t.Context())
	}
}

// complaints are the log lines of net/http about misbehaving handlers.
type complaints struct{ t *testing.T }

func (c complaints) Write(p []byte) (int, error) {
	c.t.Errorf("the server complains: %s", p)
	return len(p), nil
}

// policyOf builds a policy from rules, or from the default rules if there are none.
func policyOf(t testing.TB, text string) *gate.Policy {
	t.Helper()
	if text == "" {
		text = defaultRules
	}
	r, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy
}

// netPolicy builds a policy from hand-written nets.
func netPolicy(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// state returns every marking and every open call, for comparison.
func (s *site) state() string {
	type net struct {
		Name     string
		Marking  map[string]int
		InFlight int
	}
	type session struct {
		Nets []net
		Open int
	}
	all := []session{}
	for _, info := range s.proxy.Sessions() {
		one := session{Open: len(info.Calls)}
		for _, n := range info.Nets {
			one.Nets = append(one.Nets, net{n.Name, n.Marking, n.InFlight})
		}
		all = append(all, one)
	}
	b, _ := json.MarshalIndent(all, "", " ")
	return string(b)
}

// openCalls returns the number of unsettled calls in all sessions.
func (s *site) openCalls() int {
	n := 0
	for _, info := range s.proxy.Sessions() {
		n += len(info.Calls)
	}
	return n
}

// marking returns the number of tokens in a place of a net in the only session.
func (s *site) marking(net, place string) int {
	s.t.Helper()
	all := s.proxy.Sessions()
	if len(all) != 1 {
		s.t.Fatalf("%d sessions, want 1", len(all))
	}
	for _, n := range all[0].Nets {
		if n.Name == net {
			return n.Marking[place]
		}
	}
	s.t.Fatalf("no net %q in %+v", net, all[0].Nets)
	return 0
}

// awaitExecuted waits until the upstream has begun n calls of a tool.
func (s *site) awaitExecuted(tool string, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := s.log.AwaitExecuted(ctx, tool, n); err != nil {
		s.t.Fatalf("%s was executed %d times, waiting for %d: %v", tool, s.log.Executed(tool), n, err)
	}
}

// executed fails unless the upstream has executed the tool exactly n times.
func (s *site) executed(tool string, n int) {
	s.t.Helper()
	if got := s.log.Executed(tool); got != n {
		s.t.Errorf("%q was executed %d times, want %d", tool, got, n)
	}
}

// eventually waits until ok returns true, for states of the proxy without a notification.
func (s *site) eventually(what string, ok func() bool) {
	s.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// pending waits for n pending approvals, and returns them.
func (s *site) pending(n int) []proxy.ApprovalInfo {
	s.t.Helper()
	var waiting []proxy.ApprovalInfo
	s.eventually("approvals wait", func() bool {
		waiting = nil
		for _, a := range s.proxy.Approvals() {
			if a.State == proxy.Pending {
				waiting = append(waiting, a)
			}
		}
		return len(waiting) == n
	})
	return waiting
}

// question returns the text of an approval for a person.
func (s *site) question(id string) string {
	s.t.Helper()
	a, err := s.proxy.Approval(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Question
}

// memory is a recorder that can be made to fail.
type memory struct {
	mu    sync.Mutex
	lines [][]byte
	fail  bool
	panic bool
}

// Append keeps a record.
func (m *memory) Append(record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panic {
		panic("a secret of the recorder")
	}
	if m.fail {
		return errors.New("no space left")
	}
	m.lines = append(m.lines, bytes.Clone(record))
	return nil
}

// all returns the records as they were written.
func (m *memory) all() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines)
}

// setFail makes later records fail, or succeed again.
func (m *memory) setFail(fail bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// setPanic makes the recorder panic, or stop doing so.
func (m *memory) setPanic(panic bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.panic = panic
}

// A record holds the members of an audit record that tests read.
type record struct {
	Event, Decision, Kind, Tool, Outcome, Reason string
	Session, Principal, Policy, Arguments        string
	Approval, Channel, Actor, By, Said           string
	Call                                         uint64
	Nets                                         []struct{ Net, Verdict, Rule string }
	Shadow                                       bool
	Would                                        struct {
		Decision, Kind, Reason string
		Nets                   []struct{ Net, Rule string }
	}
}

// decisions returns the decision records, of one kind of decision if one is given.
func (m *memory) decisions(decision string) []record {
	return m.matching(func(r record) bool {
		return r.Event == "decision" && (decision == "" || r.Decision == decision)
	})
}

// outcomes returns the records of outcomes.
func (m *memory) outcomes() []record {
	return m.matching(func(r record) bool { return r.Event == "outcome" })
}

// matching returns the records that satisfy ok.
func (m *memory) matching(ok func(record) bool) []record {
	var found []record
	for _, line := range m.all() {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		if ok(r) {
			found = append(found, r)
		}
	}
	return found
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
