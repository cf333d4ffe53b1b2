package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// patience limits each wait for another program. It only ends tests that would otherwise hang, and
// does not measure anything.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if len(os.TempDir()) > 28 { // otherwise, the paths of sockets would be too long
		_ = os.Setenv("TMPDIR", "/tmp")
	}
	code := m.Run()
	if dir, err := binaryDir(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

var binaryDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "petrigate-e2e-") })

var builtOnce sync.Once

// build returns the path of the binary. Unless the environment names one, it builds the binary
// once.
func build(t *testing.T) string {
	t.Helper()
	if os.Getenv(testbinary.Variable) != "" {
		return testbinary.Path(t)
	}
	dir, err := binaryDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "petrigate")
	builtOnce.Do(func() { testbinary.Build(t, path) })
	return path
}

// packages installs the npm packages once and returns their directory.
var packages = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return "", fmt.Errorf("npm is missing")
	}
	lock, err := os.ReadFile("testdata/package-lock.json")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "petrigate-e2e", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, install(dir, lock)
})

// install installs into a directory next to dir and renames it when it is complete, so that dir
// never contains only a part.
func install(dir string, lock []byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	manifest, err := os.ReadFile("testdata/package.json")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(temp, name), content, 0o600); err != nil {
			return err
		}
	}
	for try := 1; ; try++ { // the network may fail once
		c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		c.Dir = temp
		out, err := c.CombinedOutput()
		if err == nil {
			break
		}
		if try == 3 {
			return fmt.Errorf("npm ci: %w\n%s", err, out)
		}
	}
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return nil
}

// wanted skips the test unless end-to-end tests are requested. It reports whether missing
// prerequisites are an error.
func wanted(t *testing.T) (required bool) {
	t.Helper()
	switch mode := os.Getenv("PETRIGATE_E2E"); mode {
	case "required":
		return true
	case "":
		t.Skip("PETRIGATE_E2E=1 runs the end-to-end tests")
	}
	return false
}

// need returns the binary and the packages, or skips the test.
func need(t *testing.T) (binary, npm string) {
	t.Helper()
	required := wanted(t)
	npm, err := packages()
	if err != nil && !required {
		t.Skipf("no servers to test with: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return build(t), npm
}

// An endpoint is a server: either a command that communicates over stdio, or a URL.
type endpoint struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
}

func (e endpoint) argv() []string { return append([]string{e.Command}, e.Args...) }

// environment returns everything that a test's programs inherit.
func environment(t *testing.T) map[string]string {
	env := map[string]string{"GORACE": "halt_on_error=1"} // a data race ends petrigate and thereby fails the test
	for _, name := range []string{"PATH", "HOME"} {
		env[name] = os.Getenv(name)
	}
	// Each test has its own state directory and sockets. The path is short, as the paths of sockets
	// must be.
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	env["XDG_RUNTIME_DIR"] = dir
	return env
}

// ours returns the environment of petrigate. On a busy machine, servers may take a long time to
// start.
func ours(t *testing.T) map[string]string {
	env := environment(t)
	env["PETRIGATE_STARTUP"] = patience.String()
	env["XDG_STATE_HOME"] = env["XDG_RUNTIME_DIR"]
	return env
}

func list(env map[string]string) []string {
	var out []string
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}

// freePort returns a port that no one listens on. The operating system does not hand out this port
// to programs that ask for any port; otherwise, another test could get it before the program that
// needs it.
func freePort(t *testing.T) string {
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("all ports are taken")
	return ""
}

// start runs a program that listens on the given port until the test ends. It returns when the
// program is listening. If the test fails, the program's output is shown.
func start(t *testing.T, e endpoint, port string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, e.Command, e.Args...)
	c.Env, c.Stdout, c.Stderr = list(e.Env), out, out
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = patience
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if t.Failed() {
			showFile(t, e, out)
		}
		_ = out.Close()
	})
	awaitPort(t, port, ended)
}

func showFile(t *testing.T, e endpoint, f *os.File) {
	if _, err := f.Seek(0, io.SeekStart); err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, 4000))
		t.Logf("%s said:\n%s", strings.Join(e.argv(), " "), b)
	}
}

func awaitPort(t *testing.T, port string, ended <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatal("the server ended before it listened")
		case <-tick.C:
		}
	}
	t.Fatal("the server does not listen")
}
