package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/petrigate/petrigate/internal/testserver"
)

// upstreamVerb makes the test binary run an upstream. The upstream records the calls that reach it
// in the file named by the next argument.
const upstreamVerb = "upstream"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == upstreamVerb {
		if err := upstream(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv("GOGC", "400") // less garbage collection, because there are hundreds of short-lived processes
	os.Exit(m.Run())
}

func upstream(path string) error {
	alive := flock.New(path + ".alive") // held until the process ends
	if err := alive.RLock(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	note := func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
		if c.True("wait") {
			if err := waitForGate(path); err != nil {
				return nil, err
			}
		}
		how := "ok"
		if c.True("fail") {
			how = "failed"
		}
		if _, err := f.WriteString(c.Name + " " + c.Text("id") + " " + how + "\n"); err != nil {
			return nil, err
		}
		if how == "failed" {
			return testserver.Failed("no"), nil
		}
		return testserver.Text("yes"), nil
	}
	var tools []testserver.Tool
	for _, name := range []string{"pay", "backup", "delete"} {
		tools = append(tools, testserver.Tool{Name: name, Description: "Notes " + name + ".", Run: note})
	}
	return testserver.New(testserver.Options{Tools: tools}).ServeStdio(context.Background(), os.Stdin, os.Stdout)
}

// Files next to an upstream's notes, for a call that waits. When the call has started, it writes to
// the first file, which is a pipe. It ends as soon as it gets the lock of the second file.
const (
	begunSuffix = ".begun"
	gateSuffix  = ".gate"
)

func waitForGate(path string) error {
	if err := os.WriteFile(path+begunSuffix, []byte("begun"), 0o600); err != nil {
		return err
	}
	gate := flock.New(path + gateSuffix)
	return errors.Join(gate.RLock(), gate.Close())
}

// A reached is a call that has reached an upstream.
type reached struct {
	tool, id string
	ok       bool
}

// readReached waits until all upstreams have ended and returns the calls that have reached them.
func readReached(t *testing.T, path string) (calls []reached) {
	t.Helper()
	f := flock.New(path + ".alive")
	if err := f.Lock(); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		if len(w) != 3 {
			t.Fatalf("the upstream noted %q", line)
		}
		calls = append(calls, reached{w[0], w[1], w[2] == "ok"})
	}
	return calls
}
