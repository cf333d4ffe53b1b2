package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptReportsWaitingCall checks that a proxy with a waiting call reports the call
// immediately when it is interrupted, and that a second signal ends the proxy.
func TestInterruptReportsWaitingCall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "petrigate.yaml")
	config := "version: 1\nmcpServers: { server: { command: testserver } }\nrules: require human-approval before safe\n" +
		"listen: { http: \"127.0.0.1:0\", auth: none }\nlog: { format: json }\napproval: { hold: 1m }\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("petrigate", "serve", "--config", path)
	cmd.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "GORACE=atexit_sleep_ms=0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it is still running only if the test has failed
	log := bufio.NewReader(stderr)
	said := func(text string) (line map[string]any) {
		for {
			raw, err := log.ReadString('\n')
			if err != nil {
				t.Fatalf("the log ends without %s", text)
			}
			if strings.Contains(raw, text) {
				if err := json.Unmarshal([]byte(raw), &line); err != nil {
					t.Fatal(err)
				}
				return line
			}
		}
	}
	url := said(`"listening"`)["url"].(string)
	said("upstream is up")
	session := postTo(t, url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	called := make(chan struct{})
	go func() {
		defer close(called)
		postTo(t, url, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"safe"}}`)
	}()
	said("requested:")
	_ = cmd.Process.Signal(os.Interrupt)
	line := said("waiting for calls in flight; they are cut off after a while, or at once with a second signal (Ctrl-C)")
	if line["waiting for a person"] != 1.0 || line["under way"] != 0.0 {
		t.Error(line)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	<-called
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != os.Interrupt {
		t.Error(cmd.ProcessState)
	}
	waitUntil(t, "nothing is left", func() bool { return len(processesOf(dir)) == 0 })
}

// postTo posts a message and returns the session ID in the response. It returns "" if the proxy has
// ended.
func postTo(t *testing.T, url, session, message string) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message))
	if err != nil {
		t.Error(err)
		return ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.Header.Get("Mcp-Session-Id")
}
