package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testbinary"
)

// TestUnwritten ends a call while nothing can be written: on a disk that is full, and with a
// PostgreSQL that is cut off. The client gets its result, status lists the call with the outcome
// that the proxy knows, and once the store recovers the next call is decided on that outcome.
func TestUnwritten(t *testing.T) {
	binary := testbinary.Path(t)
	for _, driver := range []string{"sqlite", "memory", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			dir := t.TempDir()
			state := map[string]any{"driver": driver}
			var fail, mend func()
			if driver == "postgres" {
				away := postgrestest.NewProxy(t, postgrestest.Schema(t))
				state["dsn"] = away.DSN()
				fail = func() { away.Set(postgrestest.Refuse); away.Cut() }
				mend = func() { away.Set(postgrestest.Pass) }
			} else {
				dir = smallDisk(t)
				fail, mend = fill(t, dir)
			}
			if driver == "sqlite" {
				state["path"] = filepath.Join(dir, "state", "petrigate.db")
				state["sync"] = "normal" // otherwise there is room in the log on a disk that is full
			}
			plantAt(t, binary, dir, filepath.Join(t.TempDir(), "reached"), state).endsUnwritten(t, fail, mend)
		})
	}
}

func (p *plant) endsUnwritten(t *testing.T, fail, mend func()) {
	gate := flock.New(p.notes + gateSuffix)
	begun := p.notes + begunSuffix
	if err := errors.Join(gate.Lock(), syscall.Mkfifo(begun, 0o600)); err != nil {
		t.Fatal(err)
	}
	x, err := p.start()
	if err != nil {
		t.Fatal(err)
	}
	defer x.kill()
	const wait = `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"backup","arguments":{"id":"b","wait":true,"pad":%q}}}` + "\n"
	if _, err := fmt.Fprintf(x.in, wait, strings.Repeat("x", p.padding(t, x))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(begun); err != nil { // the call is with the upstream
		t.Fatal(err)
	}
	fail()
	if err := gate.Unlock(); err != nil {
		t.Fatal(err)
	}
	if got := string(x.answer()); !strings.Contains(got, "yes") {
		t.Errorf("the client gets %s", got)
	}
	unknown := p.unknown(t)
	if len(unknown) != 1 || unknown[0].Tool != "up.backup" || unknown[0].Outcome != "success" {
		t.Errorf("status lists %+v", unknown)
	}
	if got, err := x.call("delete", "d1"); err != nil || !strings.Contains(got, "cannot record the decision") {
		t.Error(got, err)
	}
	mend()
	for n := 0; ; n++ { // PostgreSQL is away until a trial has found it
		got, err := x.call("delete", fmt.Sprint("d2-", n))
		if err == nil && strings.Contains(got, "yes") {
			break
		}
		if err != nil || !strings.Contains(got, "cannot record the decision") {
			t.Fatal(got, err)
		}
	}
	if unknown := p.unknown(t); len(unknown) != 0 {
		t.Errorf("status lists %+v", unknown)
	}
	if err := x.end(); err != nil {
		t.Error(err)
	}
}

// padding is how long an argument of the next call has to be for the record of its decision to
// leave hardly a byte in the last block of the audit file, or of the log of the state, which could be
// written on a full disk. It is found out by calls that fail.
func (p *plant) padding(t *testing.T, x *proxy) int {
	t.Helper()
	const block, left = 4096, 64
	for range 2 { // the first one writes the whole of a session
		if got, err := x.fails("backup", "p"); err != nil || !strings.Contains(got, "no") {
			t.Fatal(got, err)
		}
	}
	dir, ends := filepath.Dir(p.config), []int{3} // which lines from the end on are the decision
	data, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		ends = []int{5, 4}
		data, err = os.ReadFile(filepath.Join(dir, "state", "petrigate.db-log"))
	}
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	lines := strings.SplitAfter(string(data), "\n")
	if err != nil || len(lines) < 6 {
		t.Fatal(err, len(lines))
	}
	decision := 0
	for _, end := range ends {
		decision += len(lines[len(lines)-end])
	}
	return block - left - (len(data)+decision)%block
}

type unknownCall struct{ Tool, Outcome string }

// unknown is the calls of unknown outcome, as the verb lists them.
func (p *plant) unknown(t *testing.T) []unknownCall {
	t.Helper()
	c := exec.Command(p.binary, "status", "--json")
	c.Env = p.environment
	out, err := c.Output()
	var all struct {
		Proxies []struct {
			State struct{ Unknown []unknownCall }
		}
	}
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil || len(all.Proxies) != 1 {
		t.Fatalf("%s: %v", out, err)
	}
	return all.Proxies[0].State.Unknown
}

// smallDisk mounts a disk of its own until the end of the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Skip("a small disk cannot be mounted:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill returns functions that leave no byte on the disk, and that make room again.
func fill(t *testing.T, dir string) (full, empty func()) {
	path := filepath.Join(dir, "ballast")
	full = func() {
		t.Helper()
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for size := 1 << 20; size > 0; {
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
		_ = f.Close()
	}
	empty = func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return full, empty
}
