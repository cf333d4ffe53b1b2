package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// TestLimits: what the system refuses. It needs a process of its own, since limits and
// users are those of a process.
func TestLimits(t *testing.T) {
	for _, role := range []string{"no space", "read-only directory", "read-only file"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir() // which only the user of the test can enter
			if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			c := start(t, role, filepath.Join(dir, "state", "petrigate.db"))
			if got := c.read(); got != "done" {
				t.Error(got)
			}
			c.end(t)
		})
	}
}

// An ordeal is the use of a database by a child.
type ordeal struct {
	path    string
	backend *Backend
	version int64
}

func begin(path string) (*ordeal, error) {
	if os.Geteuid() == 0 { // who may write everything
		if err := syscall.Setuid(65534); err != nil {
			return nil, err
		}
	}
	b, err := Open(context.Background(), Options{Path: path})
	return &ordeal{path: path, backend: b}, err
}

func (o *ordeal) step() error {
	op := sample("s", o.version)
	if err := o.backend.Commit(context.Background(), []*backend.Op{op}); err != nil {
		return err
	}
	o.version++
	return op.Err
}

// refused: steps and readiness are, for that reason.
func (o *ordeal) refused(why string) error {
	for _, err := range []error{o.step(), o.step(), o.backend.Ready(context.Background())} {
		if err == nil || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("%v, want %q", err, why)
		}
	}
	return nil
}

// good: steps are committed, and all are there.
func (o *ordeal) good() error {
	for range 3 {
		if err := o.step(); err != nil {
			return err
		}
	}
	p, err := o.backend.Load(context.Background(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err == nil && p[0].Version != o.version {
		err = fmt.Errorf("version %d after %d steps", p[0].Version, o.version)
	}
	return errors.Join(err, o.backend.Ready(context.Background()))
}

// noSpace: no file may grow, as on a disk that is full.
func noSpace(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	o, err := begin(path)
	if err != nil {
		return err
	}
	for range 3 {
		if err := o.good(); err != nil {
			return err
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()), Max: before.Max}); err != nil {
			return err
		}
		if err := o.refused("there is no room for it, or its disk fails"); err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			return err
		}
	}
	err = errors.Join(o.good(), o.littleSpace(before), o.good(), o.backend.Close())
	fmt.Println("done")
	return err
}

// littleSpace: there is room, but not for a decision. Then the database is not ready, whatever
// small things are written to it, until there is room for such a decision.
func (o *ordeal) littleSpace(before syscall.Rlimit) error {
	info, err := os.Stat(o.path + "-wal")
	if err != nil {
		return err
	}
	large := sample("large", 0)
	large.Writes[0].Data = []byte(strings.Repeat("x", 64<<10))
	commit := func() error { return o.backend.Commit(context.Background(), []*backend.Op{large}) }
	limited := syscall.Rlimit{Cur: uint64(info.Size()) + 48<<10, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		return err
	}
	ready := func() error { return o.backend.Ready(context.Background()) }
	if err := ready(); err != nil {
		return err
	}
	for range 2 {
		err, unready := commit(), ready()
		if err == nil || unready == nil || !strings.Contains(unready.Error(), "there is no room for it, or its disk fails") {
			return fmt.Errorf("a large decision: %v, ready: %v", err, unready)
		}
		if err := o.step(); err != nil {
			return err
		}
		if ready() == nil {
			return errors.New("ready after a small decision")
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	return errors.Join(ready(), commit(), large.Err)
}

// readOnly: a directory, or a file, that may not be written.
func readOnly(suffix string) func(path string) error {
	return func(path string) error {
		o, err := begin(path)
		if err != nil {
			return err
		}
		if err := errors.Join(o.good(), o.backend.Close()); err != nil {
			return err
		}
		target := filepath.Join(path, suffix)
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		if err := os.Chmod(target, info.Mode()&^0o222); err != nil {
			return err
		}
		if _, err := Open(context.Background(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), "may not be written") {
			return fmt.Errorf("%v is not that it may not be written", err)
		}
		if err := os.Chmod(target, info.Mode()); err != nil {
			return err
		}
		if o.backend, err = Open(context.Background(), Options{Path: path}); err != nil {
			return err
		}
		err = errors.Join(o.good(), o.backend.Close())
		fmt.Println("done")
		return err
	}
}

func limits() map[string]func(path string) error {
	return map[string]func(path string) error{"no space": noSpace, "read-only directory": readOnly(".."), "read-only file": readOnly("")}
}
