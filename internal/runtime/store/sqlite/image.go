package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// An image is how far the file itself has come, without its log. It never goes back: a
// file for which it has was written over with an older copy, which the connections that
// are open would not notice before they mix the two.
type image struct {
	counter, pages uint32
	step           int64 // the last one of the log that is folded into the file
}

// readImage reads the header of the file by a connection that ignores the log. The file
// must not be opened in any other way, see [connection.create]. Without the log the file may
// be in pieces, where a process was killed while it brought the log into it.
func readImage(d dialer, path string) (i image, err error) {
	l, err := d.dial(path, ignoringLog)
	if err != nil {
		return i, err
	}
	defer l.close()
	var page []byte
	found, err := l.row("SELECT data FROM sqlite_dbpage WHERE pgno = 1", nil, &page)
	if err != nil || !found || len(page) < 100 {
		return i, err
	}
	i.counter = binary.BigEndian.Uint32(page[24:])
	i.pages = binary.BigEndian.Uint32(page[28:])
	if there, err := l.number("SELECT count(*) FROM sqlite_schema WHERE name = 'place'"); err != nil || there == 0 {
		return i, err
	}
	i.step, err = l.number("SELECT coalesce(max(step), 0) FROM place")
	return i, err
}

func (i image) before(j image) bool {
	return i.step < j.step || i.counter < j.counter || i.counter == j.counter && i.pages < j.pages
}

// foresee looks at a file that was written since the last look, mostly by a checkpoint, or
// that has taken the place of another. It returns how far the file has come, or what was
// known if that cannot be said now: then the next look tells.
//
// A file beside the log of another is not connected to: SQLite would bring the log into
// it, or remove the log, and what is in it would be lost to the file that it belongs to.
func (c *connection) foresee(info fs.FileInfo, same bool) (image, error) {
	i, err := readImage(c.dialer, c.path)
	if same {
		switch {
		case err != nil:
			return c.image, nil
		case i.before(c.image):
			return i, c.old("the file was written over")
		}
		return i, nil
	}
	journal, missing := os.Lstat(c.path + "-wal")
	if missing != nil || journal.Size() == 0 || c.journal != nil && !os.SameFile(journal, c.journal) {
		return i, nil // it has a log of its own, or none
	}
	switch {
	case c.file == nil: // nothing is known yet
		if info.Size() == 0 {
			return i, c.old("the file is empty, and its log is not")
		}
	case err != nil:
		return i, err
	case i.before(c.image):
		return i, c.old("another file has taken its place")
	case i != c.image:
		return i, errors.New("another file has taken its place, but not that of its log; put the file back, or the other in its place with its own log")
	}
	return i, nil
}

// old says that the file is an older copy of itself.
func (c *connection) old(why string) error {
	return fmt.Errorf("%w: %s; put the newer copy back in its place", backend.ErrRolledBack, why)
}

// unchanged says that nobody has written the file itself.
func unchanged(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// sound looks at all pages of a file that has taken the place of another, beside the log
// of which it may have come to stand.
func sound(l *link) error {
	var verdict string
	if _, err := l.row("PRAGMA quick_check(1)", nil, &verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the file that was put in its place is damaged: %s", verdict)
	}
	return nil
}
