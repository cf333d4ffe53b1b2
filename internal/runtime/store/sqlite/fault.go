package sqlite

import (
	"errors"
	"fmt"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// resultCode returns the primary SQLite result code in err, or 0 if err does not come from SQLite.
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

// broken reports whether the connection may have caused err, so that a new connection may succeed.
func broken(err error) bool {
	switch resultCode(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_FULL:
		return false
	case 0:
		return errors.Is(err, backend.ErrRolledBack)
	}
	return true
}

// errDamaged returns the error for a row with invalid content.
func errDamaged(what string, id any) error {
	return fmt.Errorf("the %s %v in the state database is damaged", what, id)
}

func fromMicro(n int64) time.Time { return time.UnixMicro(n).UTC() }
