package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// agentLimit is how long a script waits for a silent proxy. It only ends tests that would otherwise
// hang.
const agentLimit = 2 * time.Minute

type agentsKey struct{}

// A scriptAgent is an MCP client of a proxy that runs in the background.
type scriptAgent struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	readers sync.WaitGroup
	lastID  int // last request ID chosen by the agent
	said    transcript

	mu      sync.Mutex
	changed *sync.Cond
	replies map[string]string // keyed by request ID
	impure  []string          // lines on stdout that are not messages
	log     bytes.Buffer      // stderr
	ended   bool              // stdout was closed
	late    bool
	exit    error
	waited  bool
}

// startProxy implements the script command "proxy NAME ARGS...", which runs petrigate with the
// given arguments in the background.
func startProxy(ts *testscript.TestScript, neg bool, args []string) {
	name := argument(ts, neg, args, 2)
	agents := ts.Value(agentsKey{}).(map[string]*scriptAgent)
	if agents[name] != nil {
		ts.Fatalf("there is a proxy %s", name)
	}
	a := &scriptAgent{replies: map[string]string{}}
	a.changed = sync.NewCond(&a.mu)
	a.cmd = exec.Command(program(ts, "petrigate"), args[1:]...)
	a.cmd.Dir, a.cmd.Env = ts.MkAbs("."), environ(ts)
	var err error
	a.stdin, err = a.cmd.StdinPipe()
	ts.Check(err)
	stdout, err := a.cmd.StdoutPipe()
	ts.Check(err)
	stderr, err := a.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(a.cmd.Start())
	agents[name] = a
	a.readers.Go(func() { a.read(stdout) })
	a.readers.Go(func() { a.readStderr(stderr) })
	ts.Defer(func() {
		a.end(nil)
		ts.Logf("[stderr of %s]\n%s", name, a.stderr())
	})
}

// environ returns the script's environment.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "USER", "WORK", "PETRIGATE_RUNTIME_DIR", "PETRIGATE_STARTUP", "PETRIGATE_REQUIRE_BASE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TOKEN", "NOTES", "DSN", "BROWSER", "GOCOVERDIR", "GORACE", "SSL_CERT_FILE",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (a *scriptAgent) read(stdout io.Reader) {
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadString('\n')
		a.mu.Lock()
		if err != nil {
			if line != "" {
				a.impure = append(a.impure, line)
			}
			a.ended = true
			a.changed.Broadcast()
			a.mu.Unlock()
			return
		}
		a.said.note("<-", []byte(line))
		a.record(strings.TrimSuffix(line, "\n"))
		a.changed.Broadcast()
		a.mu.Unlock()
	}
}

// record stores a line from the proxy, which is either a response or not a message.
func (a *scriptAgent) record(line string) {
	var m struct {
		JSONRPC       string
		ID            json.RawMessage
		Method        string
		Result, Error json.RawMessage
	}
	err := json.Unmarshal([]byte(line), &m)
	switch {
	case err != nil || m.JSONRPC != "2.0" || m.Method == "" && (m.Result == nil) == (m.Error == nil):
		a.impure = append(a.impure, line)
	case m.Method == "":
		a.replies[string(m.ID)] = line
	}
}

func (a *scriptAgent) readStderr(stderr io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := stderr.Read(b)
		a.mu.Lock()
		a.log.Write(b[:n])
		a.changed.Broadcast()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (a *scriptAgent) stderr() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.String()
}

// await waits until done returns true. It calls done with the lock held.
func (a *scriptAgent) await(what string, done func() bool) error {
	limit := time.AfterFunc(agentLimit, func() {
		a.mu.Lock()
		a.late = true
		a.changed.Broadcast()
		a.mu.Unlock()
	})
	defer limit.Stop()
	if err := a.awaitLocked(what, done); !errors.Is(err, errLate) {
		return err
	}
	return fmt.Errorf("waiting for %s: %w\n%s", what, errLate, a.killAndReport())
}

// errLate means that the proxy has not sent anything in time.
var errLate = errors.New("nothing came")

func (a *scriptAgent) awaitLocked(what string, done func() bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !done() {
		switch {
		case a.late:
			return errLate
		case a.ended:
			return fmt.Errorf("waiting for %s: the proxy has ended", what)
		}
		a.changed.Wait()
	}
	return a.pure()
}

func (a *scriptAgent) pure() error {
	if len(a.impure) > 0 {
		return fmt.Errorf("stdout is not the protocol alone: %q", a.impure)
	}
	return nil
}

// end makes the proxy end by closing its input or sending a signal. If the proxy does not end, it
// is killed.
func (a *scriptAgent) end(signal os.Signal) error {
	if a.waited {
		return a.exit
	}
	a.waited = true
	if signal != nil {
		_ = a.cmd.Process.Signal(signal)
	} else {
		_ = a.stdin.Close()
	}
	stuck := time.AfterFunc(agentLimit, func() { _ = a.cmd.Process.Kill() })
	defer stuck.Stop()
	a.readers.Wait()
	a.exit = a.cmd.Wait()
	_ = a.stdin.Close()
	return a.exit
}

func agentOf(ts *testscript.TestScript, name string) *scriptAgent {
	a := ts.Value(agentsKey{}).(map[string]*scriptAgent)[name]
	if a == nil {
		ts.Fatalf("no proxy %s", name)
	}
	return a
}

func (a *scriptAgent) send(ts *testscript.TestScript, lines ...string) {
	for _, line := range lines {
		a.said.note("->", []byte(line))
		_, err := io.WriteString(a.stdin, line+"\n")
		ts.Check(err)
	}
}

// show waits for responses and prints them.
func (a *scriptAgent) show(ts *testscript.TestScript, ids ...string) {
	for _, id := range ids {
		ts.Check(a.await("the reply to "+id, func() bool { return a.replies[id] != "" }))
		a.mu.Lock()
		_, _ = fmt.Fprintln(ts.Stdout(), a.replies[id])
		a.mu.Unlock()
	}
}

// sendFile implements the script command "mcp NAME FILE [ID...]", which sends the lines of a file
// and prints the responses to the given requests, or to all, in this order.
func sendFile(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 2))
	var ids []string
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		line = strings.TrimSpace(line)
		a.send(ts, line)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Method != "" && m.ID != nil {
			ids = append(ids, string(m.ID))
		}
	}
	if len(args) > 2 {
		ids = args[2:]
	}
	a.show(ts, ids...)
}

// sayHello implements the script command "hello NAME", which initializes a session of revision
// 2025-11-25.
func sayHello(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 1))
	a.send(ts, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"script","version":"1"}}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	a.show(ts, `"hello"`)
}

// sendCall sends the tools/call request that args describe (NAME TOOL [ARGUMENTS]) and returns its
// ID.
func (a *scriptAgent) sendCall(ts *testscript.TestScript, args []string) string {
	a.lastID++
	arguments := "{}"
	if len(args) > 2 {
		arguments = args[2]
	}
	id := fmt.Sprintf("%d", a.lastID)
	a.send(ts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, args[1], arguments))
	return id
}

// makeCall implements the script command "call NAME TOOL [ARGUMENTS]", which calls a tool and
// prints the response.
func makeCall(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 2))
	a.show(ts, a.sendCall(ts, args))
}

// castCall implements the script command "cast NAME TOOL [ARGUMENTS]", which calls a tool without
// waiting for the response. It returns when the proxy has received the call, as the response to a
// later ping proves.
func castCall(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 2))
	ping := `"after ` + a.sendCall(ts, args) + `"`
	a.send(ts, `{"jsonrpc":"2.0","id":`+ping+`,"method":"ping"}`)
	ts.Check(a.await("the reply to a ping", func() bool { return a.replies[ping] != "" }))
}

// awaitReply implements the script command "reply NAME", which prints the response to the last
// call.
func awaitReply(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 1))
	a.show(ts, fmt.Sprintf("%d", a.lastID))
}

// awaitText implements the script command "heard NAME REGEXP", which waits until a proxy's stderr
// matches, and prints all of it.
func awaitText(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 2))
	pattern := regexp.MustCompile("(?m)" + args[1])
	err := a.await(fmt.Sprintf("%q on stderr", args[1]), func() bool { return pattern.Match(a.log.Bytes()) })
	_, _ = fmt.Fprint(ts.Stdout(), a.stderr())
	ts.Check(err)
}

// signals contains the signals that scripts can send.
var signals = map[string]os.Signal{"term": syscall.SIGTERM, "hup": syscall.SIGHUP}

// raise implements the script command "raise NAME term|hup", which sends a signal to a proxy that
// continues to run.
func raise(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 2))
	ts.Check(a.cmd.Process.Signal(signals[args[1]]))
}

// hangUp implements the script command "hangup NAME [term|hup] [CODE]", which closes a proxy's
// input, or ends the proxy with a signal, and prints its stderr. The proxy must end with the given
// exit code, must have written only MCP messages to stdout, and must leave no socket and no process
// behind.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	a := agentOf(ts, argument(ts, neg, args, 1))
	var signal os.Signal
	want := "0"
	for _, arg := range args[1:] {
		if s := signals[arg]; s != nil {
			signal = s
		} else {
			want = arg
		}
	}
	err := a.end(signal)
	_, _ = fmt.Fprint(ts.Stderr(), a.stderr())
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
	ts.Check(a.pure())
	for _, e := range sockets(ts) {
		if strings.HasPrefix(e.Name(), fmt.Sprintf("%d-", a.cmd.Process.Pid)) {
			ts.Fatalf("a socket is left: %s", e.Name())
		}
	}
}

func sockets(ts *testscript.TestScript) []os.DirEntry {
	entries, _ := os.ReadDir(ts.Getenv("PETRIGATE_RUNTIME_DIR")) // an error means that no proxy has run
	return entries
}
