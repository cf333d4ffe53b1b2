package desktop

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/leftover"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// notifier returns a Notifier that runs the given script. If script is empty, the program does not
// exist.
func notifier(t *testing.T, script string) (n *Notifier, logged *strings.Builder) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stub is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	logged = &strings.Builder{}
	n = New(slog.New(slog.NewTextHandler(logged, nil)))
	n.command = commandOf("linux")
	t.Cleanup(n.Close)
	return n, logged
}

// TestShowPassesLineAsArgument checks that the program receives the line as a single argument
// without control sequences, options or markup.
func TestShowPassesLineAsArgument(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	n, logged := notifier(t, `printf '[%s]' "$@" > `+out)
	n.Show(Line("ap_7F3K", "--de<b>ploy\n\x1b[2J$(reboot)", `\074b\076`, "ann", "cla\u202eude"))
	n.work.Wait()
	got, err := os.ReadFile(out)
	want := `[--app-name=petrigate][--][petrigate requests approval][Approval ap_7F3K: --de&lt;b&gt;ploy\\u{a}\\u{1b}[2J$(reboot) on \\074b\\076, by ann (client cla\\u{202e}ude)]`
	if err != nil || string(got) != want || logged.Len() > 0 {
		t.Errorf("%v %s\n%s\nwant %s", err, logged, got, want)
	}
}

// TestMissingProgramIsLoggedOnce checks that a missing or failing program is logged only once.
func TestMissingProgramIsLoggedOnce(t *testing.T) {
	for _, script := range []string{"", "exit 3"} {
		n, logged := notifier(t, script)
		for range 3 {
			n.Show("x")
			n.work.Wait()
		}
		if strings.Count(logged.String(), "a notification cannot be shown on this desktop") != 1 {
			t.Errorf("%q: %s", script, logged)
		}
	}
}

// TestHangingProgramIsEnded checks that a program that hangs is killed and does not block Show, and
// that only a few programs run at the same time.
func TestHangingProgramIsEnded(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	n, logged := notifier(t, `echo >> `+out+`; exec /bin/sleep 600`)
	n.limit = 500 * time.Millisecond
	for range 100 {
		n.Show("x")
	}
	n.work.Wait()
	if got, _ := os.ReadFile(out); len(got) > maxConcurrent || !strings.Contains(logged.String(), "killed") {
		t.Errorf("%d started: %s", len(got), logged)
	}
	n.limit = timeout
	n.Show("x")
	n.Close() // Show does not wait for the program
}

// TestCommandsKeepTextOutOfScripts checks that on each operating system the text is passed as an
// argument or in a variable, and never in a script.
func TestCommandsKeepTextOutOfScripts(t *testing.T) {
	const evil = `x"); do shell script "reboot`
	for system, want := range map[string]string{"linux": "notify-send", "freebsd": "notify-send", "darwin": "osascript", "windows": "powershell"} {
		name, args, env := commandOf(system)(evil)
		if name != want {
			t.Errorf("%s: %s", system, name)
		}
		given := append(append([]string{}, args...), env...)
		for i, arg := range given {
			if strings.Contains(arg, "reboot") && arg != evil && arg != "PETRIGATE_NOTIFICATION="+evil || i != len(given)-1 && arg == evil {
				t.Errorf("%s: %q", system, arg)
			}
		}
	}
}

func ExampleLine() {
	fmt.Println(Line("ap_7F3K", "deploy", "prod", "ann", "claude-code 2.1"))
	// Output: Approval ap_7F3K: deploy on prod, by ann (client claude-code 2.1)
}
