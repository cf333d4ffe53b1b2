package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A proxyProcess is a proxy over stdio, in front of a server that a shell starts. The tests end it
// in ways that it does not expect.
type proxyProcess struct {
	cmd    *exec.Cmd
	dir    string
	stdin  io.WriteCloser
	stdout *os.File // the test's end
	stderr *bufio.Reader
	log    io.Closer // the test's end of stderr
}

func startProxyProcess(t *testing.T) *proxyProcess {
	t.Helper()
	d := &proxyProcess{dir: t.TempDir()}
	config := "version: 1\nmcpServers: { server: { command: sh, args: [-c, 'testserver; exit 0'], env: { WHERE: \"" + d.dir + "/here\" } } }\nrules: block danger\naudit: { file: audit.jsonl }\nlog: { format: json, level: debug }\n"
	path := filepath.Join(d.dir, "petrigate.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command("petrigate", "serve", "--config", path)
	d.cmd.Dir = d.dir
	d.cmd.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(d.dir, "run"), "XDG_STATE_HOME="+filepath.Join(d.dir, "state"), "GORACE=atexit_sleep_ms=0")
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stdout, d.cmd.Stdout = ours, theirs
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stderr, d.log = bufio.NewReader(stderr), stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	t.Cleanup(func() {
		_ = ours.Close()
		_ = d.cmd.Process.Kill()
	})
	d.waitForLog(t, `"msg":"upstream is up"`)
	return d
}

// waitForLog reads the log up to a line that contains the given text.
func (d *proxyProcess) waitForLog(t *testing.T, text string) {
	t.Helper()
	for {
		line, err := d.stderr.ReadString('\n')
		if err != nil {
			t.Fatalf("the log ends without %s", text)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// waitUntilGone waits until the proxy and all processes that it has started have ended.
func (d *proxyProcess) waitUntilGone(t *testing.T) {
	t.Helper()
	rest, _ := io.ReadAll(d.stderr)
	err := d.cmd.Wait()
	if strings.Contains(string(rest), "panic") {
		t.Errorf("%v: %s", err, rest)
	}
	waitUntil(t, "nothing is left", func() bool { return len(processesOf(d.dir)) == 0 })
}

// TestKilledProxyLeavesNoProcess covers F005: a killed proxy leaves no process behind, even if
// there is a shell between the proxy and its server.
func TestKilledProxyLeavesNoProcess(t *testing.T) {
	d := startProxyProcess(t)
	waitUntil(t, "the proxy, the shell and the server run", func() bool { return len(processesOf(d.dir)) >= 3 })
	_ = d.cmd.Process.Kill()
	d.waitUntilGone(t)
}

// TestBrokenPipeEndsProxyInOrder covers E015: if the client stops reading responses without notice,
// the proxy shuts down in order and its audit log is complete.
func TestBrokenPipeEndsProxyInOrder(t *testing.T) {
	d := startProxyProcess(t)
	_ = d.stdout.Close()
	for i := range 3 {
		_, _ = fmt.Fprintf(d.stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"safe"}}`+"\n", i)
	}
	d.waitUntilGone(t)
	if code := d.cmd.ProcessState.ExitCode(); code < 0 {
		t.Errorf("it was ended by a signal: %v", d.cmd.ProcessState)
	}
	records, err := os.ReadFile(filepath.Join(d.dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	settled := map[string]bool{}
	for _, m := range regexp.MustCompile(`"event":"outcome".*?"call":(\d+)`).FindAllStringSubmatch(string(records), -1) {
		settled[m[1]] = true // a late response adds a second outcome
	}
	if decisions := strings.Count(string(records), `"event":"decision"`); decisions == 0 || decisions != len(settled) {
		t.Errorf("%d decisions, of which %d have an outcome: %s", decisions, len(settled), records)
	}
}

// TestProxyEndsWithUnreadOutput checks that the proxy shuts down in order even if no one reads its
// log and its responses any more.
func TestProxyEndsWithUnreadOutput(t *testing.T) {
	t.Parallel()
	d := startProxyProcess(t)
	_ = d.log.Close()
	_ = d.stdout.Close()
	_, _ = io.WriteString(d.stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`+"\n")
	_ = d.stdin.Close()
	d.waitUntilGone(t)
	if code := d.cmd.ProcessState.ExitCode(); code < 0 {
		t.Errorf("it ended with %v", d.cmd.ProcessState)
	}
}
