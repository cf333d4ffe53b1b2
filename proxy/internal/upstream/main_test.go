package upstream

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"

	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/testserver"
)

// roleVariable tells a copy of the test program to act as a server.
const roleVariable = "PETRIGATE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		_ = os.Setenv("NO_PROXY", "*") // otherwise, connections to forbidden addresses would go through the HTTP proxy
		leftover.Main(m)
	case "fixture":
		os.Exit(testserver.Main(os.Args[1:], os.Stdin, os.Stdout))
	default:
		os.Exit(hostile(role))
	}
}

// child returns a server that is this program in the given role.
func child(t testing.TB, role string, args ...string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Name: role, Command: self, Args: args, Protocol: "legacy", Env: map[string]string{
		roleVariable: role,
		"GORACE":     "atexit_sleep_ms=0", // otherwise, each child takes a second to end
	}}
}

// A subject is an upstream under test, with its recorded callbacks.
type subject struct {
	*Upstream
	t      testing.TB
	states chan State
	notes  chan string
	log    *logged
}

// prepare returns an upstream that is closed when the test ends.
func prepare(t testing.TB, c Config) *subject {
	t.Helper()
	s := &subject{t: t, states: make(chan State, 1000), notes: make(chan string, 1000), log: new(logged)}
	s.Upstream = New(c, Options{
		Version: "test", Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OnState:        func() { s.states <- s.State() },
		OnListen:       func() { s.notes <- "listening" },
		OnNotification: func(method string, params []byte) { s.notes <- method + " " + string(params) },
	})
	s.host.Grace = conn.Grace{Exit: 500 * time.Millisecond, Term: 500 * time.Millisecond, Kill: time.Minute, Tell: time.Minute}
	s.probe = time.Minute
	t.Cleanup(func() { s.Close() })
	return s
}

// start calls prepare and waits until the upstream is up.
func start(t testing.TB, c Config) *subject {
	t.Helper()
	s := prepare(t, c)
	s.Start(t.Context())
	s.await(Up)
	return s
}

// await waits for the next change to the phase p.
func (s *subject) await(p Phase) State {
	s.t.Helper()
	for st := range s.states {
		if st.Phase == p {
			return st
		}
		if st.Phase == Failed {
			s.t.Fatalf("failed: %v\n%s", st.Err, s.log)
		}
	}
	panic("unreachable")
}

// tool sends a call of a tool.
func (s *subject) tool(name, args string) *Exchange {
	return s.Send(Request{Method: "tools/call", Name: name, Params: fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, name, args)})
}

// answer waits for the reply to x, which must be a result.
func (s *subject) answer(x *Exchange) string {
	s.t.Helper()
	r := <-x.Done()
	if r.Err != nil || r.Error != nil {
		s.t.Fatalf("got error %v %s\n%s", r.Err, r.Error, s.log)
	}
	return string(r.Result)
}

// A logged is a log that tests can read.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
