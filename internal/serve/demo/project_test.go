package demo

import (
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// connect returns an agent that talks to s in this process.
func connect(t *testing.T, s *server.MCPServer) *agent {
	t.Helper()
	a := &agent{}
	c, err := client.NewInProcessClientWithOptions(s, client.WithElicitationHandler(a))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	a.proxy = c
	return a
}

// TestToolsShareProject checks that all tools act on the same project.
func TestToolsShareProject(t *testing.T) {
	var executed strings.Builder
	a := connect(t, newServer(&executed))
	steps := []struct {
		tool, args, want string
		failed           bool
	}{
		{"list_files", `{}`, "invoice.csv\nnotes.txt\nreport.md", false},
		{"backup", `{"path":"notes.txt","fail":true}`, "backup of notes.txt failed: the disk is full", true},
		{"backup", `{"path":"none"}`, "no such file: none", true},
		{"backup", `{"path":"notes.txt"}`, "backed up notes.txt (17 bytes)", false},
		{"delete", `{"path":"notes.txt"}`, "deleted notes.txt, 2 files are left", false},
		{"delete", `{"path":"notes.txt"}`, "no such file: notes.txt", true},
		{"bash", `{"command":"ls"}`, "invoice.csv\nreport.md", false},
		{"bash", `{"command":"echo a b"}`, "a b", false},
		{"bash", `{"command":"cat report.md"}`, "# Quarterly report", false},
		{"bash", `{"command":"cat notes.txt"}`, "cat: notes.txt: no such file", true},
		{"bash", `{"command":"rm -rf report.md"}`, "deleted report.md, 1 files are left", false},
		{"bash", `{"command":"curl x"}`, "bash: curl: command not found", true},
		{"bash", `{}`, "", false},
		{"lint", `{}`, "lint: no problems", false},
		{"test", `{"fail":true}`, "test: 1 of 42 tests failed", true},
		{"test", `{}`, "test: 42 tests passed", false},
		{"build", `{}`, "built version 1.0.1", false},
		{"deploy", `{"env":"staging"}`, "deployed version 1.0.1 to staging", false},
		{"deploy", `{}`, "deployed version 1.0.1 to production", false},
		{"push", `{"branch":"fix"}`, "pushed fix (push number 1)", false},
	}
	for _, s := range steps {
		got, err := a.call(t.Context(), s.tool, s.args)
		want := reply{s.want, passed}
		if s.failed {
			want.outcome = failed
		}
		if err != nil || got != want {
			t.Errorf("%s %s:\n got %+v, %v\nwant %q", s.tool, s.args, got, err, s.want)
		}
	}
	if got := strings.Count(executed.String(), "\n"); got != len(steps) {
		t.Errorf("%d of %d calls are on record", got, len(steps))
	}
}

// TestServeWithoutRecord checks that no calls are recorded if no file is given.
func TestServeWithoutRecord(t *testing.T) {
	var out strings.Builder
	in := `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	if err := Serve(t.Context(), strings.NewReader(in), &out, ""); err != nil || !strings.Contains(out.String(), `"id":1`) {
		t.Errorf("%v: %s", err, out.String())
	}
	err := Serve(t.Context(), strings.NewReader(in), io.Discard, "none/calls.txt")
	if got, want := said(err), "opening the record of the calls: open none/calls.txt: no such file or directory"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
