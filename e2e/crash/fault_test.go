package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// TestFaults damages the database file of a running proxy in various ways. As soon as the log must
// be written back to the file, each call must be refused with the reason and must not reach the
// upstream. The proxy must recover by itself.
func TestFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "petrigate.db")
	p := newPlant(t, testbinary.Path(t), dir, map[string]any{"driver": "sqlite", "path": path})
	p.allow(t, "first", 2)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p.allow(t, "second", 30)
	x, err := p.start()
	if err != nil {
		t.Fatal(err)
	}
	defer x.kill()
	allowed := 32
	good := func() {
		t.Helper()
		allowed++
		if got, err := x.call("backup", fmt.Sprint("good", allowed)); err != nil || !strings.Contains(got, "yes") {
			t.Fatal(got, err)
		}
	}
	away := path + ".away"
	for name, happen := range map[string]func() error{
		"removed":  func() error { return os.Rename(path, away) },
		"garbage":  func() error { return replaced(path, away, []byte(strings.Repeat("garbage ", 2000))) },
		"empty":    func() error { return replaced(path, away, nil) },
		"old copy": func() error { return replaced(path, away, old) },
	} {
		good()
		if err := happen(); err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ { // until the log must be written back to the file
			got, err := x.call("backup", fmt.Sprint("late", allowed, "-", n))
			if err != nil || !strings.Contains(got, "yes") {
				break
			}
			allowed++
		}
		for i := range 3 {
			got, err := x.call("backup", fmt.Sprint("bad", i))
			if err != nil || !strings.Contains(got, "cannot record the decision") {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		}
		if err := os.Rename(away, path); err != nil {
			t.Fatal(err)
		}
		good()
	}
	if err := x.end(); err != nil {
		t.Error(err)
	}
	for _, why := range []string{"the file was removed while it was in use", "it is not a database", "the database is an older copy of itself"} {
		if !strings.Contains(x.said.String(), why) {
			t.Errorf("nobody was told that %s: %s", why, x.said.String())
		}
	}
	calls := readReached(t, p.notes)
	for _, c := range calls {
		if strings.HasPrefix(c.id, "bad") {
			t.Errorf("%s has reached the upstream", c.id)
		}
	}
	if len(calls) != allowed {
		t.Errorf("%d calls have reached the upstream, %d were allowed", len(calls), allowed)
	}
	p.recorded(t, calls)
}

// allow starts a separate proxy, which serves some calls and ends.
func (p *plant) allow(t *testing.T, name string, calls int) {
	t.Helper()
	x, err := p.start()
	if err != nil {
		t.Fatal(err)
	}
	defer x.kill()
	for i := range calls {
		if got, err := x.call("backup", fmt.Sprint(name, i)); err != nil || !strings.Contains(got, "yes") {
			t.Fatal(got, err)
		}
	}
	if err := x.end(); err != nil {
		t.Fatal(err)
	}
}

// replaced replaces a file with another one.
func replaced(path, away string, data []byte) error {
	return errors.Join(os.Rename(path, away), os.WriteFile(path, data, 0o600))
}
