package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/safefile"
)

// A connection is the one that writes. It is made anew where another file has the name of the
// database, and after errors that the connection itself may have caused.
type connection struct {
	path   string
	dialer dialer
	log    *slog.Logger
	export Export

	mu      sync.Mutex  // held during one transaction
	link    *link       // nil: not connected
	file    fs.FileInfo // of the file that was last found to be good, as it was then
	image   image
	journal fs.FileInfo // of its write-ahead log
	doubt   bool        // another file has taken the place of the one that was in use
	closed  bool
	hurried bool // locks are waited for only a moment
}

// transact runs f in a transaction, which is on the disk once this returns nil.
func (c *connection) transact(f func(*link) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed(c.path)
	}
	err := c.try(f)
	c.hurry(err)
	return c.explain(err)
}

func errClosed(path string) error { return fmt.Errorf("the state database %q is closed", path) }

func (c *connection) try(f func(*link) error) error {
	if err := c.attach(); err != nil {
		return err
	}
	err := c.commit(f)
	if broken(err) {
		c.detach()
	}
	return err
}

func (c *connection) commit(f func(*link) error) error {
	if _, err := c.link.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version, err := c.link.number("PRAGMA user_version")
	if err == nil {
		err = schema.Check(int(version)) // a newer program may have opened it meanwhile
	}
	if err == nil {
		err = f(c.link)
	}
	if err == nil {
		_, err = c.link.exec("COMMIT")
	}
	if err != nil {
		_, _ = c.link.exec("ROLLBACK") // SQLite may have done so itself
	}
	return err
}

// attach connects, unless there is a connection to the file that has the name now.
func (c *connection) attach() error {
	info, err := os.Lstat(c.path)
	same := err == nil && c.file != nil && os.SameFile(info, c.file)
	switch {
	case !same || c.link == nil:
		c.detach()
		return c.connect(same)
	case unchanged(info, c.file):
		return nil
	}
	seen, err := c.foresee(info, true)
	if err == nil {
		c.file, c.image = info, seen
	}
	return err
}

// connect makes a connection, to the same file as before or to another one.
func (c *connection) connect(same bool) error {
	if err := c.create(); err != nil {
		return err
	}
	info, err := os.Lstat(c.path)
	if err != nil {
		return err
	}
	seen, err := c.foresee(info, same)
	if err != nil {
		return err
	}
	c.doubt = c.doubt || c.file != nil && !same
	if c.link, err = c.dialer.dial(c.path, writing); err != nil {
		return err
	}
	c.link.file = info
	if err := c.inspect(); err != nil {
		c.detach()
		return err
	}
	c.file, c.image = info, seen
	c.journal, _ = os.Lstat(c.path + "-wal") // nil: it has no log now
	return nil
}

// vet makes sure that the file that has the name now may be used, and returns it.
func (c *connection) vet() (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed(c.path)
	}
	err := c.attach()
	return c.file, c.explain(err)
}

// inspect looks at the content of the file before anything is written to it.
func (c *connection) inspect() error {
	if c.doubt {
		if err := sound(c.link); err != nil {
			return err
		}
	}
	_, err := examine(c.link)
	if err == nil {
		err = c.migrate()
	}
	c.doubt = c.doubt && err != nil
	return err
}

// check refuses files that other users could have written, and read-only files: SQLite would make its
// own log beside them read-only too.
func (c *connection) check() error {
	if err := safefile.OwnDirectory(filepath.Dir(c.path)); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Lstat(c.path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return backend.Unusable(fmt.Errorf("%q is no regular file", c.path+suffix))
		case info.Mode().Perm()&0o600 != 0o600:
			return fmt.Errorf("%q may not be written (mode %04o); chmod 600", c.path+suffix, info.Mode().Perm())
		}
		if err := safefile.Regular(info); err != nil {
			return fmt.Errorf("%q: %w", c.path+suffix, err)
		}
	}
	return nil
}

// create makes the file if it does not exist. An existing file is not opened: to close it again
// would take the locks of SQLite from it.
func (c *connection) create() error {
	if err := c.check(); err != nil {
		return err
	}
	if _, err := os.Lstat(c.path); err == nil {
		return nil
	}
	if c.file != nil {
		return errRemoved
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // another process made it just now
	case err != nil:
		return err
	}
	return f.Close()
}

var errRemoved = errors.New("the file was removed while it was in use; put it back, or end all petrigate that use it and start anew")

// detach gives up the connection, so that the next transaction makes a new one.
func (c *connection) detach() {
	if c.link == nil {
		return
	}
	info, err := os.Lstat(c.path)
	if err == nil && os.SameFile(info, c.link.file) {
		_ = c.link.close()
	} else {
		_ = c.link.abandon()
	}
	c.link, c.hurried = nil, false
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.detach()
}
