package proxytest

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// Patience is the maximum duration of any wait in a test. It is long enough for the largest
// messages on a busy machine, so a longer wait means that the test hangs.
const Patience = 3 * time.Minute

// Main runs a package's tests and exits. It must be called from TestMain. If [ChildVariable] is
// set, the test binary acts as an upstream instead.
func Main(m *testing.M) {
	if flags, ok := os.LookupEnv(ChildVariable); ok {
		os.Exit(testserver.Main(strings.Fields(flags), os.Stdin, os.Stdout))
	}
	_ = flag.Set("test.parallel", "8") // independent of the number of processors, because the tests mostly wait; the flag -parallel overrides it
	debug.SetGCPercent(400)            // with the default of 100 percent, garbage collection would take a fifth of the time
	leftover.Main(m)
}

// A Setup describes a site. With the zero value, the site has the tools of [testserver.Attack] and
// the rules in [DefaultRules].
type Setup struct {
	Rules  string
	Policy *gate.Policy // replaces Rules if set
	Server testserver.Options
	Change func(*proxy.Options)
	Idle   bool // whether to create the proxy without starting it
	Direct bool // whether to connect clients to the upstream without a proxy
}

// A Site consists of a proxy, an upstream over HTTP that records the calls it executes, and a
// recorder for the proxy's decisions.
type Site struct {
	T        *testing.T
	Proxy    *proxy.Proxy
	Upstream *testserver.Server
	Log      *testserver.Log // events recorded by the upstream, such as executed calls
	Records  *Memory
	HTTP     *httptest.Server // serves the proxy
	Options  proxy.Options

	ClientName string // name that the clients send in their clientInfo
	bare       bool   // whether clients connect to the upstream instead of the proxy
}

// Token is the bearer token that clients use over HTTP by default.
const Token = "token-of-the-tests"

// Start starts a site, which serves until the test ends.
func Start(t *testing.T, s Setup) *Site {
	t.Helper()
	st := &Site{T: t, Log: &testserver.Log{}, Records: &Memory{}, ClientName: "tester"}
	if s.Server.Tools == nil {
		s.Server.Tools = testserver.Attack()
	}
	s.Server.Record = st.Log.Add
	st.Upstream = testserver.New(s.Server)
	up := serve(t, st.Upstream)
	if s.Direct {
		st.HTTP, st.bare = up, true
		return st
	}
	if s.Policy == nil {
		s.Policy = PolicyOf(t, s.Rules)
	}
	o := proxy.Options{
		Policy: s.Policy, Recorder: st.Records,
		Upstreams: []proxy.Upstream{{Name: "up", URL: up.URL + "/mcp", Protocol: protocolOf(s.Server.Revisions)}},
		Approval:  proxy.Approval{Channels: []string{"elicit"}},
		Startup:   Patience,
	}
	if s.Change != nil {
		s.Change(&o)
	}
	st.run(o, s.Idle)
	return st
}

// protocolOf returns the protocol version to configure for an upstream, or "" if the proxy should
// detect it. An upstream that supports only revision 2026-07-28 needs a configured version, because
// detection could time out on a busy machine.
func protocolOf(r testserver.Revisions) string {
	if r == testserver.Modern {
		return "2026-07-28"
	}
	return ""
}

// run creates the proxy and serves it over HTTP.
func (s *Site) run(o proxy.Options, idle bool) {
	s.T.Helper()
	p, err := proxy.New(o)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Proxy, s.Options = p, o
	s.T.Cleanup(func() {
		if err := p.Close(); err != nil {
			s.T.Error(err)
		}
	})
	s.serve(proxy.Access{Token: Token, Hooks: true}, log.New(complaints{s.T}, "", 0))
	if !idle {
		p.Start()
		p.AwaitTools(s.T.Context())
	}
}

// serve serves the proxy on a new listener with the given access rules.
func (s *Site) serve(a proxy.Access, errors *log.Logger) {
	s.T.Helper()
	server := httptest.NewUnstartedServer(nil)
	a.Addr = server.Listener.Addr().String()
	handler, err := s.Proxy.Handler(a)
	if err != nil {
		s.T.Fatal(err)
	}
	server.Config.Handler, server.Config.ErrorLog = handler, errors
	server.Start()
	s.T.Cleanup(server.Close)
	s.HTTP = server
}

// A complaints value receives the error log of an HTTP server. It fails the test if the server logs
// an error.
type complaints struct{ t *testing.T }

func (c complaints) Write(p []byte) (int, error) {
	c.t.Errorf("the server complains: %s", p)
	return len(p), nil
}

// State returns, as JSON, the markings of all nets and the number of calls without an outcome in
// each session, so that tests can compare states.
func (s *Site) State() string {
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
	for _, info := range s.Proxy.Sessions() {
		one := session{Open: len(info.Calls)}
		for _, n := range info.Nets {
			one.Nets = append(one.Nets, net{n.Name, n.Marking, n.InFlight})
		}
		all = append(all, one)
	}
	b, _ := json.MarshalIndent(all, "", " ")
	return string(b)
}

// Marking returns the number of tokens in a place of a net in the only session. It fails the test
// if there is more than one session.
func (s *Site) Marking(net, place string) int {
	s.T.Helper()
	all := s.Proxy.Sessions()
	if len(all) != 1 {
		s.T.Fatalf("%d sessions, want 1", len(all))
	}
	for _, n := range all[0].Nets {
		if n.Name == net {
			return n.Marking[place]
		}
	}
	s.T.Fatalf("no net %q in %+v", net, all[0].Nets)
	return 0
}

// AwaitExecuted waits until the upstream has executed the tool n times.
func (s *Site) AwaitExecuted(tool string, n int) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), Patience)
	defer cancel()
	if err := s.Log.AwaitExecuted(ctx, tool, n); err != nil {
		s.T.Fatalf("%s was executed %d times, waiting for %d: %v", tool, s.Log.Executed(tool), n, err)
	}
}

// Executed fails the test unless the upstream has executed the tool exactly n times.
func (s *Site) Executed(tool string, n int) {
	s.T.Helper()
	if got := s.Log.Executed(tool); got != n {
		s.T.Errorf("%q was executed %d times, want %d", tool, got, n)
	}
}

// Eventually polls ok until it returns true. If this takes longer than [Patience], Eventually fails
// the test. The failure message is "waited in vain until", followed by the given description of the
// state.
func (s *Site) Eventually(state string, ok func() bool) {
	s.T.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			s.T.Fatalf("waited in vain until %s", state)
		}
	}
}

// AwaitPending waits until n approvals are pending, and returns them.
func (s *Site) AwaitPending(n int) []proxy.ApprovalInfo {
	s.T.Helper()
	var waiting []proxy.ApprovalInfo
	s.Eventually("approvals wait", func() bool {
		waiting = list.Filter(s.Proxy.Approvals(), func(a proxy.ApprovalInfo) bool { return a.State == proxy.Pending })
		return len(waiting) == n
	})
	return waiting
}

// Question returns the text of the approval request as a person sees it.
func (s *Site) Question(id string) string {
	s.T.Helper()
	a, err := s.Proxy.Approval(id)
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Question
}

// SwitchNet switches a net on or off as an operator would.
func (s *Site) SwitchNet(name string, on bool) {
	s.T.Helper()
	if err := s.Proxy.SwitchNet(name, on, proxy.Actor{Name: "ann"}); err != nil {
		s.T.Fatal(err)
	}
}

// SendLog makes the upstream send a log message.
func (s *Site) SendLog(data string) {
	s.Upstream.Notify("notifications/message", `{"level":"info","data":`+data+`}`)
}

// ExposedName returns the name of a tool as exposed by the proxy.
func ExposedName(t *testing.T, s *Site, canonical string) string {
	t.Helper()
	tools, err := s.Proxy.Tools("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Canonical == canonical {
			return tool.Exposed
		}
	}
	t.Fatalf("no tool %s", canonical)
	return ""
}

// AwaitSubscribed waits until the proxy has subscribed to changes at the upstream.
func (s *Site) AwaitSubscribed() {
	s.T.Helper()
	s.Eventually("the proxy hears of changes", func() bool { return len(s.Log.Records(testserver.Subscribed)) > 0 })
}

// LastReceived returns the last message with the given method that the upstream has received.
func (s *Site) LastReceived(method string) (last string) {
	for _, r := range s.Log.Records(testserver.Received) {
		if Member(r.Bytes, "method") == `"`+method+`"` {
			last = string(r.Bytes)
		}
	}
	return last
}

// OpenCalls returns the number of calls without an outcome in all sessions.
func (s *Site) OpenCalls() int {
	n := 0
	for _, info := range s.Proxy.Sessions() {
		n += len(info.Calls)
	}
	return n
}
