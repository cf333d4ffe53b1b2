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

// resultCode returns the primary result code of SQLite in err; 0: err is not from SQLite.
func resultCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Locked reports whether err means that another program has locked the database.
func Locked(err error) bool {
	c := resultCode(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// broken reports whether a new connection may help after err.
func broken(err error) bool {
	switch resultCode(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_FULL:
		return false
	case 0:
		return errors.Is(err, backend.ErrRolledBack)
	}
	return true
}

// adjustTimeout shortens the timeout of the next transactions if this one has waited in vain
// because another program has locked the file. Calls are refused until the file is unlocked, and
// otherwise each call would wait, and so would those behind it. The first transaction that succeeds
// restores the long timeout.
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

// explain adds an explanation for the operator to an error of SQLite.
func (c *connection) explain(err error) error {
	if err == nil {
		return nil
	}
	why := ""
	switch resultCode(err) {
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
	if resultCode(err) == lib.SQLITE_NOTADB {
		err = backend.Unusable(err)
	}
	if why == "" {
		return fmt.Errorf("%q: %w", c.path, err)
	}
	return fmt.Errorf("%q: %s: %w", c.path, why, err)
}

// errDamaged is the error of a row with invalid content.
func errDamaged(what string, id any) error {
	return fmt.Errorf("the %s %v in the state database is damaged", what, id)
}

func fromMicro(n int64) time.Time { return time.UnixMicro(n).UTC() }
