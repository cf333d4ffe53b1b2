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

// TestUnwritten ends a call while nothing can be written, because the disk is full or PostgreSQL is
// unreachable. The client must receive the result, and petrigate status must list the call with the
// outcome that the proxy knows. Once the store has recovered, the next call must be decided based
// on that outcome.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	binary := testbinary.Path(t)
	for _, driver := range []string{"sqlite", "memory", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			dir := t.TempDir()
			state := map[string]any{"driver": driver}
			var fail, mend func()
			if driver == "postgres" {
				away := postgrestest.NewProxy(t, postgrestest.NewSchema(t))
				state["dsn"] = away.DSN()
				fail = func() { away.Set(postgrestest.Refuse); away.Cut() }
				mend = func() { away.Set(postgrestest.Pass) }
			} else {
				dir = smallDisk(t)
				fail, mend = fill(t, dir)
			}
			if driver == "sqlite" {
				state["path"] = filepath.Join(dir, "state", "petrigate.db")
				state["sync"] = "normal" // otherwise, the log still has space on a full disk
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
	if _, err := os.ReadFile(begun); err != nil { // the call has reached the upstream
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
	for n := 0; ; n++ { // PostgreSQL counts as unreachable only when an attempt has failed
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

// padding returns the length of an argument for the next call. With it, the decision record must
// leave hardly a byte in the last block of the audit file or of the state's log, because such a
// byte could still be written on a full disk. padding finds the length by making calls that fail.
func (p *plant) padding(t *testing.T, x *proxy) int {
	t.Helper()
	const block, left = 4096, 64
	for range 2 { // the first call also writes the session
		if got, err := x.fails("backup", "p"); err != nil || !strings.Contains(got, "no") {
			t.Fatal(got, err)
		}
	}
	dir, ends := filepath.Dir(p.config), []int{3} // which of the last lines are the decision
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

// unknown returns the calls with an unknown outcome, as the command lists them.
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

// smallDisk mounts a separate disk until the test ends.
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

// fill returns a function that fills the disk completely, and one that frees space again.
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
