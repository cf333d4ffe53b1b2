package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestSystemLimits checks the errors if the system refuses operations, for example because the disk
// is full. Each case runs in a process of its own, because limits and users apply to a whole
// process.
func TestSystemLimits(t *testing.T) {
	t.Parallel()
	for role := range limits() {
		if role == "holding" {
			continue
		}
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() // by default, only the user who runs the test can enter the parent of this directory
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

func limits() map[string]func(path string) error {
	return map[string]func(path string) error{
		"no space": noSpace, "little space": littleSpace, "holding": holding,
		"read-only directory": readOnly("..", "is not writable", "permission denied"),
		"read-only database":  readOnly("", "is not writable (mode 0400); chmod 600"),
		"read-only log":       readOnly("-log", `-log" is not writable (mode 0400); chmod 600`),
	}
}

// An ordeal is a state that a child uses while the system refuses operations.
type ordeal struct {
	path    string
	backend *Backend
	version int64
	others  int64 // number of steps in other sessions
}

func begin(path string) (*ordeal, error) {
	if os.Geteuid() == 0 { // root could write to everything, so become another user
		if err := syscall.Setuid(65534); err != nil {
			return nil, err
		}
	}
	b, err := Open(context.Background(), Options{Path: path})
	return &ordeal{path: path, backend: b}, err
}

// step commits a step with a record of the given size.
func (o *ordeal) step(size int) error {
	op := sample("s", o.version)
	op.Events[0].Object = filled(size)
	if err := commit(context.Background(), o.backend, op); err != nil {
		return err
	}
	o.version++
	return nil
}

// good commits steps and checks that the state contains all of them.
func (o *ordeal) good() error {
	err := o.backend.Ready(context.Background())
	for range 3 {
		err = errors.Join(err, o.step(400))
	}
	if err != nil {
		return err
	}
	p, err := o.backend.Load(context.Background(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil {
		return err
	}
	n := int64(0)
	for r, err := range o.backend.Records(context.Background(), backend.Query{}) {
		if n++; err != nil || r.Seq != uint64(n) {
			return fmt.Errorf("record %d is number %d: %w", n, r.Seq, err)
		}
	}
	if p[0].Version != o.version || n != o.version+o.others {
		err = fmt.Errorf("version %d and %d records after %d steps and %d", p[0].Version, n, o.version, o.others)
	}
	return errors.Join(err, o.backend.Ready(context.Background()), o.backend.fold())
}

// limit sets the maximum size of the files that this process writes. If to is 0, limit restores the
// original maximum.
func limit(to uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		return err
	}
	if l.Cur = to; to == 0 {
		l.Cur = l.Max
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l)
}

// full is the message of the error for a file that cannot grow.
const full = "file too large"

// noSpace limits the size of files, as if the disk were full. Depending on the limit, either the
// log or the database reaches it first.
func noSpace(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	for size := 600 << 10; size <= 1200<<10; size += 20 << 10 {
		o, err := begin(path + strconv.Itoa(size))
		if err == nil {
			err = errors.Join(o.fills(size), o.backend.Close(), o.again(), o.backend.Close())
		}
		if err != nil {
			return fmt.Errorf("at %d: %w", size, err)
		}
	}
	fmt.Println("done")
	return nil
}

// again opens the state as another process would, and checks that it contains everything that was
// committed.
func (o *ordeal) again() (err error) {
	if o.backend, err = Open(context.Background(), Options{Path: o.path}); err != nil {
		return err
	}
	p, err := o.backend.Load(context.Background(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err == nil && p[0].Version != o.version {
		err = fmt.Errorf("version %d after %d steps", p[0].Version, o.version)
	}
	return err
}

func (o *ordeal) fills(size int) error {
	if err := errors.Join(o.good(), limit(uint64(size))); err != nil {
		return err
	}
	var err error
	record := 40000 + size>>10%7*900
	for n := 0; err == nil; n++ {
		if err = o.step(record); err == nil && n%10 == size>>10%10 {
			_ = o.backend.fold() // fails if the limit leaves no space for it
		}
	}
	for range 3 {
		if err = o.step(record); err == nil || !strings.Contains(err.Error(), full) {
			return fmt.Errorf("%v, want %q", err, full)
		}
		if err := o.backend.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), full) {
			return fmt.Errorf("ready: %v, want %q", err, full)
		}
	}
	return errors.Join(limit(0), o.good(), o.backend.fold())
}

// littleSpace leaves space for small writes, but not for a large decision. It checks that the state
// is then not ready, even if small writes succeed, until there is space for the decision.
func littleSpace(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	o, err := begin(path)
	if err != nil {
		return err
	}
	large := sample("large", 0)
	large.Writes[0].Data = filled(64 << 10)
	commit := func() error {
		return commit(context.Background(), o.backend, large)
	}
	ready := func() error { return o.backend.Ready(context.Background()) }
	if err := o.step(100 << 10); err != nil { // makes the log larger than any other file
		return err
	}
	log, err := os.ReadFile(path + logSuffix)
	if err != nil {
		return err
	}
	if err := errors.Join(limit(uint64(len(trimPadding(log)))+48<<10), ready()); err != nil {
		return err
	}
	for range 2 {
		err, unready := commit(), ready()
		if err == nil || unready == nil || !strings.Contains(unready.Error(), full) {
			return fmt.Errorf("a large decision: %v, ready: %v", err, unready)
		}
		if err := o.step(400); err != nil {
			return err
		}
		if ready() == nil {
			return errors.New("ready after a small decision")
		}
	}
	o.others++
	err = errors.Join(limit(0), ready(), commit(), o.good(), o.backend.Close(), o.again(), o.backend.Close())
	fmt.Println("done")
	return err
}

// readOnly returns a role that checks the error if a file cannot be written, or if the directory
// cannot (suffix ".."). The error must contain one of the texts in want.
func readOnly(suffix string, want ...string) func(path string) error {
	return func(path string) error {
		o, err := begin(path)
		if err != nil {
			return err
		}
		if err := errors.Join(o.good(), o.backend.Close()); err != nil {
			return err
		}
		target := path + suffix
		if suffix == ".." {
			target = filepath.Dir(path)
		}
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		if err := os.Chmod(target, info.Mode()&^0o222); err != nil {
			return err
		}
		b, err := Open(context.Background(), Options{Path: path})
		if err == nil {
			_ = b.Close()
		}
		told := false
		for _, w := range want {
			told = told || err != nil && strings.Contains(err.Error(), w)
		}
		if !told {
			return fmt.Errorf("%v, want one of %q", err, want)
		}
		if err := os.Chmod(target, info.Mode()); err != nil {
			return err
		}
		if o.backend, err = Open(context.Background(), Options{Path: path}); err != nil {
			return err
		}
		n := o.version
		for range 3 {
			err = errors.Join(err, o.step(400))
		}
		if o.version != n+3 {
			err = errors.Join(err, fs.ErrInvalid)
		}
		fmt.Println("done")
		return errors.Join(err, o.backend.Close())
	}
}

// TestStoppedLockHolder checks that other processes refuse commits while the system has stopped a
// process that holds the process lock, and that they work again after that process continues.
func TestStoppedLockHolder(outer *testing.T) {
	t := try(outer)
	t.good(1)
	t.rest()
	c := start(outer, "holding", t.path)
	if got := c.read(); got != "held" {
		t.Fatal(got)
	}
	t.must(c.cmd.Process.Signal(syscall.SIGSTOP))
	t.backend.process.timeout /= 100
	t.refused("if it is suspended, resume it or stop it")
	p, err := t.backend.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != 1 { // reading needs no process lock
		t.Error(p, err)
	}
	t.must(c.cmd.Process.Signal(syscall.SIGCONT))
	c.end(outer)
	if left := t.backend.process.abandoned; left != nil {
		<-left
	}
	t.backend.process.timeout *= 100
	t.good(3)
	if n := len(linked(outer, t.backend)); n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}

// holding is the role of a process that holds the process lock until its input ends, and then
// commits a step.
func holding(path string) error {
	b, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	b.lockAppend()
	err = b.lockProcess(context.Background())
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1))
	b.unlockAppend()
	return errors.Join(err, commit(context.Background(), b, sample("other", 0)), b.Close())
}
