package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// An agent is a client of a real petrigate process, which uses the example's configuration and
// posts to a glue.
type agent struct {
	t        *testing.T
	in       io.Writer
	out      *bufio.Scanner
	executed string // file that contains the name of each tool that the server has run
}

const secret = "a secret that nobody can guess"

func newAgent(t *testing.T, glue string) *agent {
	t.Helper()
	exe := testbinary.Path(t)
	a := &agent{t: t, executed: filepath.Join(t.TempDir(), "executed")}
	t.Setenv("PATH", filepath.Dir(exe)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("PETRIGATE_RUNTIME_DIR", filepath.Join(t.TempDir(), "run"))
	t.Setenv("PETRIGATE_HOOK_SECRET", secret)
	t.Setenv("GLUE_URL", glue)
	t.Setenv("ANSWERS", "127.0.0.1:0")
	t.Setenv("RECORD", a.executed)
	cmd := exec.Command(exe, "serve", "--config", "approvals.yaml")
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	a.in, a.out = in, bufio.NewScanner(out)
	a.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`)
	a.read("1")
	a.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a *agent) send(line string) {
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		a.t.Error(err)
	}
}

// read returns the response to the given request.
func (a *agent) read(id string) string {
	a.t.Helper()
	for a.out.Scan() {
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(a.out.Bytes(), &m) == nil && string(m.ID) == id {
			return a.out.Text()
		}
	}
	a.t.Fatalf("no response: %v", a.out.Err())
	return ""
}

// deploy calls the tool that requires an approval.
func (a *agent) deploy(id string) {
	a.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"deploy","arguments":{}}}`)
}
