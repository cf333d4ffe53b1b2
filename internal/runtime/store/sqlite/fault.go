package sqlite

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// code is the primary result code of SQLite; 0: the error is not one of it.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Locked reports whether an error says that another program has the database locked.
func Locked(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// broken says that a new connection may help where this one does not.
func broken(err error) bool {
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_FULL:
		return false
	case 0:
		return errors.Is(err, backend.ErrRolledBack)
	}
	return true
}

// hurry has the next transactions wait for a moment only where this one has waited in vain for
// another program that has the file locked: calls are refused until it is free, and
// each would wait, and those behind it. The first one that succeeds is patient again.
func (c *connection) hurry(err error) {
	locked := code(err) == lib.SQLITE_BUSY
	if c.link == nil || locked == c.hurried {
		return
	}
	wait := patient
	if locked {
		wait = hurried
	}
	if c.link.run("PRAGMA busy_timeout = "+strconv.Itoa(wait)) == nil {
		c.hurried = locked
	}
}

// explain says what an error of SQLite means for whoever has to do something about it.
func (c *connection) explain(err error) error {
	if err == nil {
		return nil
	}
	why := ""
	switch code(err) {
	case lib.SQLITE_FULL:
		why = "the disk is full"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		why = "another program has it locked"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		why = "it may not be written"
	case lib.SQLITE_CANTOPEN:
		why = "it or its log cannot be opened"
	case lib.SQLITE_CORRUPT:
		why = "it is damaged; put a good copy in its place"
	case lib.SQLITE_NOTADB:
		why = "it is no database"
	case lib.SQLITE_IOERR:
		why = "there is no room for it, or its disk fails"
	}
	if code(err) == lib.SQLITE_NOTADB {
		err = backend.Unusable(err)
	}
	if why == "" {
		return fmt.Errorf("%q: %w", c.path, err)
	}
	return fmt.Errorf("%q: %s: %w", c.path, why, err)
}

// damaged is how a row may not be.
func damaged(what string, id any) error {
	return fmt.Errorf("the %s %v in the state database is damaged", what, id)
}

func micro(n int64) time.Time { return time.UnixMicro(n).UTC() }
