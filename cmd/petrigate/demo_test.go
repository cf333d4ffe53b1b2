package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/testbinary"
)

var updateDemo = flag.Bool("update-demo", false, "rewrite testdata/demo.txt")

// TestDemoRuns plays the demo as a user does, by a process of its own.
func TestDemoRuns(t *testing.T) {
	exe := testbinary.Path(t)
	tmp := t.TempDir()
	demo := exec.Command(exe, "demo")
	demo.Env = append(os.Environ(), "TMPDIR="+tmp, "TMP="+tmp, "PETRIGATE_LISTEN_HTTP=nonsense")
	var stderr bytes.Buffer
	demo.Stderr = &stderr
	out, err := demo.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("demo: %v\nstderr: %s\nstdout: %s", err, &stderr, out)
	}
	checkTranscript(t, out)
	checkNothingLeft(t, tmp)
	stopReading(t, exec.Command(exe, "demo"), demo.Env)
	checkNothingLeft(t, tmp)
}

// stopReading runs a command whose output is read up to the first line.
func stopReading(t *testing.T, c *exec.Cmd, env []string) {
	t.Helper()
	c.Env = env
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReaderSize(out, 16).ReadString('\n')
	_ = out.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("its reader has gone: %v", err)
	}
}

// checkNothingLeft looks for files and processes.
func checkNothingLeft(t *testing.T, tmp string) {
	t.Helper()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
	checkNoProcess(t, tmp)
}

// checkTranscript compares with the golden file all but what is different at
// each run.
func checkTranscript(t *testing.T, out []byte) {
	t.Helper()
	for pattern, mask := range map[string]string{
		`\bap_[A-Z2-7]{8}\b`: "ap_########", `session [0-9a-f]{12}\b`: "session ############", `good for 1[45]m[0-9]+s`: "good for 15m0s",
	} {
		out = regexp.MustCompile(pattern).ReplaceAll(out, []byte(mask))
	}
	const golden = "testdata/demo.txt"
	if *updateDemo {
		if err := os.WriteFile(golden, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(out)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// checkNoProcess looks for processes that know of the directory of the demo.
func checkNoProcess(t *testing.T, dir string) {
	t.Helper()
	var traces []string
	for _, file := range []string{"cmdline", "environ"} {
		found, _ := filepath.Glob("/proc/[0-9]*/" + file) // none where there is no /proc
		traces = append(traces, found...)
	}
	for _, trace := range traces {
		if text, err := os.ReadFile(trace); err == nil && bytes.Contains(text, []byte(dir)) {
			t.Errorf("a process is left: %s: %q", trace, text)
		}
	}
}

// TestDemoChecks holds the demo to its word: what is not as expected is an error.
func TestDemoChecks(t *testing.T) {
	const (
		passed   = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}` + "\n"
		failed   = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":true}}` + "\n"
		refused  = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":true,"_meta":{"io.petrigate/decision":{}}}}` + "\n"
		question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"may I?","requestedSchema":{"properties":{"decision":{"enum":["approve","deny"]}}}}}` + "\n"
	)
	step := demoStep{tool: "x", args: "{}", want: demoPassed, text: "done"}
	asking := demoStep{tool: "x", args: "{}", want: demoPassed, text: "done", answer: demoAnswer{"approve", "fine"}}
	tests := []struct {
		name  string
		step  demoStep
		reply string
		err   string // "": none; a colon at its end: and what the standard library says
	}{
		{"as expected", step, passed, ""},
		{"asked as expected", asking, question + passed, ""},
		{"after a notification and a ping", step, `{"method":"n"}` + "\n" + `{"id":1,"method":"ping"}` + "\n" + passed, ""},
		{"after a request that it does not know", step, `{"id":7,"method":"roots/list"}` + "\n" + passed, ""},
		{"failed", step, failed, `x {}: expected passed with "done", got failed with "done"`},
		{"refused", step, refused, `x {}: expected passed with "done", got refused with "done"`},
		{"another text", demoStep{tool: "x", args: "{}", want: demoPassed, text: "gone"}, passed, `x {}: expected passed with "gone", got passed with "done"`},
		{"not asked", asking, passed, "x {}: the person was asked 0 times"},
		{"asked twice", asking, question + question + passed, "x {}: the person was asked 2 times"},
		{"asked for nothing", step, question + passed, "calling x: the proxy asks a person where it should not"},
		{"an error", step, `{"id":1,"error":{"code":1}}` + "\n", `calling x: error {"code":1}`},
		{"another response", step, `{"id":2,"result":{}}` + "\n", "calling x: response to 2, which was not asked"},
		{"garbage", step, `garbage` + "\n", "calling x: reading what the proxy sent: "},
		{"no result", step, `{"id":1,"result":7}` + "\n", "reading the result of x: "},
		{"a question that cannot be read", step, `{"id":1,"method":"elicitation/create","params":7}` + "\n", "calling x: reading a question: "},
		{"nothing", step, `{"id"`, "calling x: waiting for the proxy: EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &demoAgent{in: discard{}, out: bufio.NewReader(strings.NewReader(tt.reply))}
			err := (&teller{w: io.Discard, colour: true}).play(a, tt.step)
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.err != "" && (err == nil || err.Error() != tt.err && !(strings.HasSuffix(tt.err, ": ") && strings.HasPrefix(err.Error(), tt.err))):
				t.Errorf("got %v, want %q in it", err, tt.err)
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func TestDemoEndingNeedsTheRecords(t *testing.T) {
	made := demoTally{demoPassed: 2, demoFailed: 1, demoRefused: 4}
	for seen, want := range map[demoSeen]string{
		{allowed: 3, refused: 4, executed: 3}: "",
		{allowed: 3, refused: 4, executed: 4}: "3 calls ran and 4 were refused, but the audit log has 3 and 4, and 4 reached the server",
		{allowed: 3, refused: 3, executed: 3}: "3 calls ran and 4 were refused, but the audit log has 3 and 3, and 3 reached the server",
		{allowed: 2, refused: 4, executed: 3}: "3 calls ran and 4 were refused, but the audit log has 2 and 4, and 3 reached the server",
	} {
		if got := said((&teller{w: io.Discard}).ending(made, seen)); got != want {
			t.Errorf("%+v: got %q, want %q", seen, got, want)
		}
	}
}

// said is the text of an error; empty where there is none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
