package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testbinary"
	"github.com/petrigate/petrigate/internal/testserver"
)

const budget = 100

const policy = `
version: 1
mcpServers: { up: { url: %q } }
rules: |
  limit x to 100 per user
  limit z to 5 per user for each env
  limit w to 12 per user
  require human-approval before y
approval: { hold: 100ms }
nets:
  - name: pipeline
    scope: global
    places: [idle, built]
    initialMarking: { idle: 1 }
    transitions:
      - { name: build, inputs: [idle], outputs: [built], tools: [build], deferred: true }
      - { name: deploy, inputs: [built], outputs: [idle], tools: [deploy], deferred: true }
state: { driver: postgres, dsn: %q }
log: { level: warn, format: json }
`

// An upstream counts the calls that it executes.
type upstream struct {
	t       *testing.T
	url     string
	x       atomic.Int64
	z       [3]atomic.Int64
	y       *book
	w       *inputs
	steps   atomic.Int64 // number of executed pipeline steps
	running atomic.Int64
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{t: t, y: newBook(), w: newInputs()}
	step := func(context.Context, *testserver.Call) (json.RawMessage, error) {
		if n := u.running.Add(1); n > 1 {
			t.Errorf("%d steps of the pipeline run at once", n)
		}
		defer u.running.Add(-1)
		u.steps.Add(1)
		<-time.After(5 * time.Millisecond)
		return testserver.Text("done"), nil
	}
	s := httptest.NewServer(testserver.New(testserver.Options{Name: "up", Revisions: testserver.Modern, Tools: []testserver.Tool{
		{Name: "build", Run: step}, {Name: "deploy", Run: step}, {Name: "y", Run: u.y.execute},
		{Name: "w", Verbatim: true, Run: u.w.execute},
		{Name: "x", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
			u.x.Add(1)
			return testserver.Text("x"), nil
		}},
		{Name: "z", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			var args struct{ Env int }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			u.z[args.Env].Add(1)
			return testserver.Text("z"), nil
		}},
	}}))
	t.Cleanup(s.Close)
	u.url = s.URL + "/mcp"
	return u
}

// A replica is a petrigate process, which may have ended.
type replica struct {
	dir, addr string
	proxy     *postgrestest.Proxy
	cmd       *exec.Cmd
}

func start(t *testing.T, bin, dir string, u *upstream, dsn string) *replica {
	t.Helper()
	r := &replica{dir: dir, addr: freeAddr(t), proxy: postgrestest.NewProxy(t, dsn)}
	file := filepath.Join(dir, "petrigate.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, policy, u.url, r.proxy.DSN()), 0o600); err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(bin, "serve", "--config", file, "--http", r.addr, "--auth", "none")
	r.cmd.Env = append(os.Environ(), "PETRIGATE_STARTUP=1m", "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"))
	log := &bytes.Buffer{}
	r.cmd.Stdout, r.cmd.Stderr = io.Discard, log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.kill()
		if t.Failed() {
			t.Logf("%s:\n%s", r.addr, log)
		}
	})
	for began := time.Now(); ; <-time.After(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + r.addr + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return r
			}
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%s is not ready:\n%s", r.addr, log)
		}
	}
}

// kill sends SIGKILL to the replica.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

func freeAddr(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A fleet contains the replicas, as if they were behind a single address.
type fleet struct {
	mu       sync.Mutex
	replicas []*replica
	mishaps  *mishaps
}

func (f *fleet) get(i int) *replica {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replicas[i%len(f.replicas)]
}

func (f *fleet) replace(i int, r *replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas[i] = r
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// call calls a tool at any replica. It reports whether the tool was executed.
func (f *fleet) call(i int, tool, args string) (done bool, body string) {
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, i+1, tool, args, meta)
	r, err := http.NewRequest(http.MethodPost, "http://"+f.get(i).addr+"/mcp", strings.NewReader(text))
	if err != nil {
		return false, err.Error()
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return false, err.Error()
	}
	return resp.StatusCode == http.StatusOK && bytes.Contains(b, []byte(`"result"`)) && !bytes.Contains(b, []byte(`"isError":true`)), string(b)
}

// TestReplicas runs three replicas and 64 clients, while a replica is killed, the database crashes,
// and connections to it are cut. The budget must be used exactly, only one step of the pipeline may
// run at a time, and everything that was executed must be recorded. What people are asked about
// must run once, exactly as shown, and a call whose server requires input must continue exactly
// once.
func TestReplicas(t *testing.T) {
	rounds := 1 // one round without faults, followed by rounds with faults
	if n, err := strconv.Atoi(os.Getenv("PETRIGATE_SOAK")); err == nil {
		rounds = max(rounds, n/100)
	}
	s, bin := postgrestest.Start(t), testbinary.Path(t)
	for round := range rounds + 1 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			name := "round" + strconv.Itoa(round)
			s.Run("CREATE DATABASE " + name)
			run(t, s, bin, strings.Replace(s.DSN(), "dbname=postgres", "dbname="+name, 1), round > 0)
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// run runs one round, with or without faults.
func run(t *testing.T, s *postgrestest.Server, bin, dsn string, faults bool) {
	const clients, calls = 64, 8
	u, f := newUpstream(t), &fleet{mishaps: newMishaps()}
	for range 3 {
		f.replicas = append(f.replicas, start(t, bin, t.TempDir(), u, dsn))
	}
	waiting := f.begin(8)
	var wait sync.WaitGroup
	var made atomic.Int64
	for c := range clients {
		wait.Go(func() {
			for i := range calls {
				tool := [...]string{"x", "x", "z", "build", "deploy"}[(c+i)%5]
				done, body := f.call(c+i, tool, fmt.Sprintf(`{"env":%d}`, c%3))
				if made.Add(1); !done && !faults && strings.Contains(body, "database") {
					t.Error(body)
				}
			}
		})
	}
	operating, stop := context.WithCancel(t.Context())
	var operator sync.WaitGroup
	operator.Go(func() { f.mishaps.await(1); u.y.operate(operating, bin, f) })
	for n := range questions { // half of them come back only after the server has crashed
		wait.Go(func() { f.request(t, n, func() { f.mishaps.await(3 * (n % 2)) }) })
	}
	for n, state := range waiting {
		wait.Go(func() { f.mishaps.await(n % 4); f.end(t, n, state) })
	}
	ended := make(chan struct{})
	go func() { wait.Wait(); close(ended) }()
	if faults {
		disturb(t, s, f, func() *replica { return start(t, bin, t.TempDir(), u, dsn) }, &made, clients*calls, ended)
	}
	f.mishaps.over()
	<-ended
	stop()
	operator.Wait()
	http.DefaultClient.CloseIdleConnections() // closes connections to replicas that were killed
	for i := range budget + 10 {
		f.call(i, "x", "{}")
	}
	verify(t, u, dsn, len(waiting), faults)
}

func disturb(t *testing.T, s *postgrestest.Server, f *fleet, another func() *replica, made *atomic.Int64, calls int, ended <-chan struct{}) {
	defer f.mishaps.over()
	for n, fault := range []func(){
		func() { f.get(0).proxy.Cut() },
		func() { f.get(2).kill(); f.replace(2, another()) },
		func() { s.Stop("immediate"); s.Start() },
		func() { f.get(1).proxy.Once(postgrestest.CutAnswer) },
		func() { f.get(0).kill(); f.replace(0, another()) },
		func() { s.Stop("fast"); s.Start() },
	} {
		for made.Load() < int64((n+1)*calls/8) {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
		fault()
		f.mishaps.add(1)
	}
}

// A mishaps counts faults.
type mishaps struct {
	mu    sync.Mutex
	count int
	more  *sync.Cond
}

func newMishaps() *mishaps {
	m := &mishaps{}
	m.more = sync.NewCond(&m.mu)
	return m
}

// over declares that there will be no more faults.
func (m *mishaps) over() { m.add(1000) }

func (m *mishaps) add(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count += n
	m.more.Broadcast()
}

// await waits until there have been n faults.
func (m *mishaps) await(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.count < n {
		m.more.Wait()
	}
}

// verify compares the executed calls with the records.
func verify(t *testing.T, u *upstream, dsn string, waiting int, faults bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	admitted := map[string]int64{}
	var tool string
	var n int64
	rows, err := conn.Query(t.Context(), `SELECT event::json->>'tool', count(*) FROM petrigate_log
		WHERE event::json->>'event' = 'decision' AND event::json->>'decision' = 'allow' GROUP BY 1`)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&tool, &n}, func() error { admitted[tool] = n; return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range u.y.judge(uses(t, conn), faults) {
		t.Error(wrong)
	}
	for _, wrong := range u.w.judge(int(admitted["w"]), waiting, faults) {
		t.Error(wrong)
	}
	x, steps := u.x.Load(), u.steps.Load()
	t.Logf("executed: %d y of %d questions, %d answers", len(u.y.executed), questions, len(u.y.answers))
	t.Logf("executed: %d w, and %d of %d second rounds", u.w.begun, len(u.w.ended), waiting)
	t.Logf("executed: %d x, %d %d %d z, %d steps; admitted: %v", x, u.z[0].Load(), u.z[1].Load(), u.z[2].Load(), steps, admitted)
	if admitted["x"] != budget || x > budget || !faults && x != budget {
		t.Errorf("%d calls of x are executed, %d admitted, of %d", x, admitted["x"], budget)
	}
	if executed := admitted["build"] + admitted["deploy"]; steps > executed || !faults && steps != executed {
		t.Errorf("%d steps are executed, %d admitted", steps, executed)
	}
	z := int64(0)
	for env := range u.z {
		if z += u.z[env].Load(); u.z[env].Load() > 5 {
			t.Errorf("%d calls with env %d are executed, of 5", u.z[env].Load(), env)
		}
	}
	if z > admitted["z"] || !faults && z != 15 {
		t.Errorf("%d calls of z are executed, %d admitted", z, admitted["z"])
	}
}
