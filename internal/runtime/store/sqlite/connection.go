package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	lib "modernc.org/sqlite/lib"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/safefile"
)

// connection manages the writing connection. It connects again if another file has replaced the
// database file, and after an error that the connection itself may have caused.
type connection struct {
	path   string
	dialer dialer
	export Export

	mu           sync.Mutex  // held during a transaction
	link         *link       // nil if not connected
	file         fs.FileInfo // file info from the last successful check of the database file
	state        fileState
	wal          fs.FileInfo // file info of the file's write-ahead log
	replaced     bool        // whether another file has replaced the one in use
	closed       bool
	shortTimeout bool // whether the connection currently uses busyTimeoutShort
}

// transact runs f in a transaction. If it returns nil, the transaction is on disk.
func (c *connection) transact(f func(*link) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed(c.path)
	}
	err := c.attach()
	if err == nil {
		if err = c.commit(f); broken(err) {
			c.detach()
		}
	}
	c.adjustTimeout(err)
	return c.explain(err)
}

func errClosed(path string) error { return fmt.Errorf("the state database %q is closed", path) }

func (c *connection) commit(f func(*link) error) error {
	if err := c.link.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version, err := c.link.number("PRAGMA user_version")
	if err == nil {
		err = schema.Check(int(version)) // a newer program may have migrated the database
	}
	if err == nil {
		err = f(c.link)
	}
	if err == nil {
		err = c.link.exec("COMMIT")
	}
	if err != nil {
		_ = c.link.exec("ROLLBACK") // SQLite may already have rolled the transaction back
	}
	return err
}

// attach makes sure that the connection belongs to the file at the database's path. If it belongs
// to another file, attach connects again. If the file has changed, attach checks it.
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
	seen, err := c.checkState(info, true)
	if err == nil {
		c.file, c.state = info, seen
	}
	return err
}

// connect opens a connection. If the file does not exist, connect creates it. If this process has
// used the file before, connect returns [errRemoved] instead. The argument same reports whether the
// file at the database's path is the file that was last checked.
func (c *connection) connect(same bool) error {
	if err := c.create(); err != nil {
		return err
	}
	info, err := os.Lstat(c.path)
	if err != nil {
		return err
	}
	seen, err := c.checkState(info, same)
	if err != nil {
		return err
	}
	c.replaced = c.replaced || c.file != nil && !same
	if c.link, err = c.dialer.dial(c.path, writing); err != nil {
		return err
	}
	c.link.file = info
	if err := c.checkContent(); err != nil {
		c.detach()
		return err
	}
	c.file, c.state = info, seen
	c.wal, _ = os.Lstat(c.path + "-wal") // nil if the file has no write-ahead log at the moment
	return nil
}

// validate connects to the database if necessary, checks that its file can be used, and returns the
// file's info.
func (c *connection) validate() (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed(c.path)
	}
	err := c.attach()
	return c.file, c.explain(err)
}

// checkContent checks the file's content before anything is written to it, and migrates the schema.
func (c *connection) checkContent() error {
	if c.replaced {
		if err := checkPages(c.link); err != nil {
			return err
		}
	}
	err := checkSchema(c.link)
	if err == nil {
		err = c.migrate()
	}
	c.replaced = c.replaced && err != nil
	return err
}

// checkFiles refuses files that other users could have written. It also refuses read-only files,
// because SQLite would create a read-only log beside such a file.
func (c *connection) checkFiles() error {
	if err := safefile.CheckOwnDirectory(filepath.Dir(c.path)); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Lstat(c.path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = CheckRegular(c.path+suffix, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckRegular returns an error if the file is not a regular file, is not writable, or is writable
// by other users.
func CheckRegular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return backend.Unusable(fmt.Errorf("%q is not a regular file", name))
	}
	if info.Mode().Perm()&0o600 != 0o600 {
		return fmt.Errorf("%q is not writable (mode %04o); chmod 600", name, info.Mode().Perm())
	}
	if err := safefile.CheckFile(info); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

// create creates the file if it does not exist. It does not open an existing file, because closing
// it would release SQLite's locks.
func (c *connection) create() error {
	if err := c.checkFiles(); err != nil {
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
		return nil // another process has just created it
	case err != nil:
		return err
	}
	return f.Close()
}

var errRemoved = errors.New("the file was removed while it was in use; restore it, or stop all petrigate processes that use it and start again")

// detach closes the connection, so that the next transaction opens a new one.
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
	c.link, c.shortTimeout = nil, false
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.detach()
}

// adjustTimeout shortens the timeout when a transaction has failed because another program has
// locked the file, so that the next transactions on the locked file fail sooner. It restores the
// long timeout when a transaction finds the file unlocked.
func (c *connection) adjustTimeout(err error) {
	locked := resultCode(err) == lib.SQLITE_BUSY
	if c.link == nil || locked == c.shortTimeout {
		return
	}
	wait := busyTimeout
	if locked {
		wait = busyTimeoutShort
	}
	if c.link.run("PRAGMA busy_timeout = "+strconv.Itoa(wait)) == nil {
		c.shortTimeout = locked
	}
}

// explain adds an explanation for the operator to an SQLite error.
func (c *connection) explain(err error) error {
	if err == nil {
		return nil
	}
	code := resultCode(err)
	if code == lib.SQLITE_NOTADB {
		err = backend.Unusable(err)
	}
	if why, known := explanations[code]; known {
		return fmt.Errorf("%q: %s: %w", c.path, why, err)
	}
	return fmt.Errorf("%q: %w", c.path, err)
}

// explanations maps SQLite's result codes to explanations for an operator.
var explanations = map[int]string{
	lib.SQLITE_FULL:     "the disk is full",
	lib.SQLITE_BUSY:     "another program has locked it",
	lib.SQLITE_LOCKED:   "another program has locked it",
	lib.SQLITE_PROTOCOL: "another program has locked it",
	lib.SQLITE_READONLY: "it is not writable",
	lib.SQLITE_PERM:     "it is not writable",
	lib.SQLITE_CANTOPEN: "cannot open it or its log",
	lib.SQLITE_CORRUPT:  "it is damaged; restore a good copy",
	lib.SQLITE_NOTADB:   "it is not a database",
	lib.SQLITE_IOERR:    "its disk is full or fails",
}

// checkState checks the database file and returns its state. It is called before a connection is
// opened, and after the file has changed, usually because of an SQLite checkpoint.
//
// If same is true, the file is the one that was last checked. In this case, checkState only checks
// that its content is not older than before. If the file cannot be read at the moment, checkState
// returns the last known state.
//
// Otherwise, the file may have replaced another one. The write-ahead log next to it may still
// belong to the old file. If it does and the files differ, checkState returns an error, because
// SQLite would apply the log to the wrong file or remove it. When a process checks the file for the
// first time, checkState rejects only an empty file with a nonempty log.
func (c *connection) checkState(info fs.FileInfo, same bool) (fileState, error) {
	i, err := readFileState(c.dialer, c.path)
	if same {
		switch {
		case err != nil:
			return c.state, nil
		case i.olderThan(c.state):
			return i, c.rolledBack("the file was overwritten")
		}
		return i, nil
	}
	journal, missing := os.Lstat(c.path + "-wal")
	if missing != nil || journal.Size() == 0 || c.wal != nil && !os.SameFile(journal, c.wal) {
		return i, nil // the file has its own log or no log
	}
	switch {
	case c.file == nil: // this process has not checked the file before
		if info.Size() == 0 {
			return i, c.rolledBack("the file is empty, but its log is not")
		}
	case err != nil:
		return i, err
	case i.olderThan(c.state):
		return i, c.rolledBack("another file has replaced it")
	case i != c.state:
		return i, errors.New("another file has replaced it, but not its log; restore the file, or replace the log too")
	}
	return i, nil
}

// rolledBack returns the error for a file that turned out to be an older copy. The error wraps
// [backend.ErrRolledBack].
func (c *connection) rolledBack(why string) error {
	return fmt.Errorf("%w: %s; restore the newer copy", backend.ErrRolledBack, why)
}
