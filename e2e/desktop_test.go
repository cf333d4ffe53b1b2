package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A desktop is a display and a session bus. The bus starts a notification daemon on demand.
type desktop struct{ env []string }

// startDesktop starts a desktop that runs until the test ends. If that is not possible, it skips
// the test.
func startDesktop(t *testing.T) desktop {
	t.Helper()
	for _, program := range []string{"Xvfb", "dbus-daemon", "dunst", "dunstctl", "notify-send"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no desktop to test with: %s is missing (Debian: xvfb, dbus, dunst, libnotify-bin)", program)
		}
	}
	env := append(list(environment(t)), "XDG_CONFIG_HOME="+t.TempDir(), "GSETTINGS_BACKEND=memory")
	display := firstLine(t, env, "Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "800x600x24")
	env = append(env, "DISPLAY=:"+display)
	bus := firstLine(t, env, "dbus-daemon", "--session", "--nofork", "--print-address")
	return desktop{env: append(env, "DBUS_SESSION_BUS_ADDRESS="+bus)}
}

// firstLine starts a program that runs until the test ends, and returns the first line of its
// output.
func firstLine(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = env
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var drained sync.WaitGroup
	t.Cleanup(func() {
		_ = c.Process.Kill()
		drained.Wait()
		_ = c.Wait()
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	drained.Go(func() { _, _ = io.Copy(io.Discard, lines) })
	if err != nil {
		t.Fatalf("%s: %v", argv[0], err)
	}
	return strings.TrimSpace(line)
}

// run runs a program on the desktop.
func (d desktop) run(t *testing.T, argv ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = d.env
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", argv, err)
	}
	return out
}

// shows waits for a notification and returns its unmodified title and text.
func (d desktop) shows(t *testing.T) (title, body string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); strings.TrimSpace(string(d.run(t, "dunstctl", "count", "displayed"))) != "1"; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("no notification is shown")
		}
	}
	d.run(t, "dunstctl", "close-all")
	var history struct {
		Data [][]map[string]struct{ Data any }
	}
	if err := json.Unmarshal(d.run(t, "dunstctl", "history"), &history); err != nil || len(history.Data) != 1 || len(history.Data[0]) != 1 {
		t.Fatalf("%v %v", err, history)
	}
	title, _ = history.Data[0][0]["summary"].Data.(string)
	body, _ = history.Data[0][0]["body"].Data.(string)
	return title, body
}

// ask lets a client with the given name make a call that waits for a person. It returns petrigate's
// answer and log.
func ask(t *testing.T, binary, client string, env []string) (answer, log string) {
	t.Helper()
	settings := map[string]any{
		"rules":    "require human-approval before deploy\n",
		"approval": map[string]any{"hold": "1s", "channels": []string{"cli"}, "desktop": true},
	}
	e := serveIn(t, binary, ours(t), map[string]endpoint{"prod": {Command: binary, Args: []string{"demo-upstream"}}}, settings, false)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, e.Command, e.Args...)
	c.Env = append(list(e.Env), env...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	c.Stderr = &logged
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":` +
		string(encoded(t, client)) + `,"version":"1"}}}`
	_, _ = io.WriteString(in, hello+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy","arguments":{"to":"prod"}}}`+"\n")
	for lines := bufio.NewScanner(out); answer == "" && lines.Scan(); {
		if strings.Contains(lines.Text(), `"id":2`) {
			answer = lines.Text()
		}
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("petrigate: %v", err)
	}
	return answer, logged.String()
}

// TestDesktop checks that a real notification daemon displays the line about an approval as plain
// text, regardless of its content.
func TestDesktop(t *testing.T) {
	wanted(t)
	d := startDesktop(t)
	answer, logged := ask(t, build(t), `<b>x</b>\074i\076 &amp;\n`+"\n\u202e", d.env[len(d.env)-2:])
	title, body := d.shows(t)
	_, text, _ := strings.Cut(body, ": ")
	const want = `deploy on prod, by local (client &lt;b&gt;x&lt;/b&gt;\074i\076 &amp;amp;\n\u{a}\u{202e} 1)`
	if title != "petrigate requests approval" || !strings.HasPrefix(body, "Approval ap_") || text != want {
		t.Errorf("%q: %q\nwant %q", title, body, want)
	}
	if !strings.Contains(answer, "A person has been asked") || strings.Contains(logged, "cannot be shown") {
		t.Errorf("%s\n%s", answer, logged)
	}
}

// TestNoDesktop checks that a call also waits without a session bus, and that the log mentions
// this.
func TestNoDesktop(t *testing.T) {
	wanted(t)
	if _, err := exec.LookPath("notify-send"); err != nil {
		t.Skip("notify-send is missing (Debian: libnotify-bin)")
	}
	nowhere := "unix:path=" + filepath.Join(t.TempDir(), "bus")
	answer, logged := ask(t, build(t), "e2e", []string{"DBUS_SESSION_BUS_ADDRESS=" + nowhere})
	if !strings.Contains(answer, "A person has been asked") || strings.Count(logged, "cannot be shown") != 1 {
		t.Errorf("%s\n%s", answer, logged)
	}
}
