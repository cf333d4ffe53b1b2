package demo

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/internal/testbinary"
)

var update = flag.Bool("update", false, "rewrite testdata/demo.txt")

// TestDemoMatchesGolden runs the demo in a separate process, as a user does.
func TestDemoMatchesGolden(t *testing.T) {
	exe := testbinary.Path(t)
	tmp := t.TempDir()
	demo := exec.Command(exe, "demo")
	demo.Env = append(os.Environ(), "TMPDIR="+tmp, "TMP="+tmp, "PETRIGATE_LISTEN_HTTP=nonsense",
		"GORACE=atexit_sleep_ms=0") // otherwise, a process with the race detector ends too late for the agent
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

// stopReading runs a command and reads only the first line of its output.
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

// checkNothingLeft checks that no files and processes are left behind.
func checkNothingLeft(t *testing.T, tmp string) {
	t.Helper()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
	checkNoProcess(t, tmp)
}

// checkTranscript compares the output with the golden file, except for the parts that change in
// each run.
func checkTranscript(t *testing.T, out []byte) {
	t.Helper()
	for pattern, mask := range map[string]string{
		`\bap_[A-Z2-7]{8}\b`: "ap_########", `session [0-9a-f]{16}\b`: "session ############", `good for 1[45]m[0-9]+s`: "good for 15m0s",
	} {
		out = regexp.MustCompile(pattern).ReplaceAll(out, []byte(mask))
	}
	const golden = "testdata/demo.txt"
	if *update {
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

// checkNoProcess checks that no process has the demo's directory in its environment or command
// line.
func checkNoProcess(t *testing.T, dir string) {
	t.Helper()
	var traces []string
	for _, file := range []string{"cmdline", "environ"} {
		found, _ := filepath.Glob("/proc/[0-9]*/" + file) // empty if the system does not have /proc
		traces = append(traces, found...)
	}
	for _, trace := range traces {
		if text, err := os.ReadFile(trace); err == nil && bytes.Contains(text, []byte(dir)) {
			t.Errorf("a process is left: %s: %q", trace, text)
		}
	}
}

// scripted returns a proxy with one tool, x, which asks the person the given number of times and
// then returns a result.
func scripted(asks int, r *mcp.CallToolResult) *server.MCPServer {
	s := server.NewMCPServer("scripted", "1", server.WithToolCapabilities(false), server.WithElicitation())
	s.AddTool(mcp.NewTool("x"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for range asks {
			var question mcp.ElicitationRequest
			question.Params.Message = "may I?"
			question.Params.RequestedSchema = map[string]any{"type": "object", "properties": map[string]any{
				"decision": map[string]any{"type": "string", "enum": []string{"approve", "deny"}},
			}}
			if _, err := s.RequestElicitation(ctx, question); err != nil {
				return nil, err
			}
		}
		return r, nil
	})
	return s
}

// TestUnexpectedReplyIsAnError checks that the demo fails if a reply differs from the expected one.
func TestUnexpectedReplyIsAnError(t *testing.T) {
	done, bad := mcp.NewToolResultText("done"), mcp.NewToolResultError("done")
	turned := mcp.NewToolResultError("done")
	turned.Meta = mcp.NewMetaFromMap(map[string]any{"io.petrigate/decision": map[string]any{}})
	plain := step{tool: "x", args: "{}", want: passed, text: "done"}
	asking := plain
	asking.answer = answer{"approve", "fine"}
	another := plain
	another.text = "gone"
	unknown := plain
	unknown.tool = "y"
	tests := []struct {
		name  string
		step  step
		asks  int
		reply *mcp.CallToolResult
		err   string // empty if no error is expected
	}{
		{"as expected", plain, 0, done, ""},
		{"asked as expected", asking, 1, done, ""},
		{"failed", plain, 0, bad, `x {}: expected passed with "done", got failed with "done"`},
		{"refused", plain, 0, turned, `x {}: expected passed with "done", got refused with "done"`},
		{"another text", another, 0, done, `x {}: expected passed with "gone", got passed with "done"`},
		{"not asked", asking, 0, done, "x {}: the person was asked 0 times"},
		{"asked twice", asking, 2, done, "x {}: the person was asked 2 times"},
		{"asked for nothing", plain, 1, done, "x {}: the person was asked 1 times"},
		{"an error", unknown, 0, done, "calling y: invalid params: tool 'y' not found: tool not found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := connect(t, scripted(test.asks, test.reply))
			if got := said((&printer{io.Discard, true}).playStep(t.Context(), a, test.step)); got != test.err {
				t.Errorf("got %q, want %q", got, test.err)
			}
		})
	}
	if _, err := (&agent{}).Elicit(t.Context(), mcp.ElicitationRequest{}); said(err) != "there is no one to ask" {
		t.Error(err)
	}
}

func TestEndingNeedsTheRecords(t *testing.T) {
	made := counts{passed: 2, failed: 1, refused: 4}
	for seen, want := range map[records]string{
		{allowed: 3, refused: 4, executed: 3}: "",
		{allowed: 3, refused: 4, executed: 4}: "3 calls ran and 4 were refused, but the audit log has 3 and 4, and 4 reached the server",
		{allowed: 3, refused: 3, executed: 3}: "3 calls ran and 4 were refused, but the audit log has 3 and 3, and 3 reached the server",
		{allowed: 2, refused: 4, executed: 3}: "3 calls ran and 4 were refused, but the audit log has 2 and 4, and 3 reached the server",
	} {
		if got := said((&printer{w: io.Discard}).ending(made, seen)); got != want {
			t.Errorf("%+v: got %q, want %q", seen, got, want)
		}
	}
}
