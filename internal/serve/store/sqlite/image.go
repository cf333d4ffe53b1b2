package sqlite

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// An image is how far the file itself has come, without its log. It never goes back: a
// file for which it has was written over with an older copy, which the connections that
// are open would not notice before they mix the two.
type image struct{ counter, pages uint32 }

// readImage reads the header of the file by a connection that ignores the log. The file
// must not be opened in any other way, see [scribe.create]. Without the log the file may
// be in pieces, where a process was killed while it brought the log into it: then ok is
// false, and the next look tells.
func readImage(d dialer, path string) (i image, ok bool) {
	l, err := d.dial(path, ignoringLog)
	if err != nil {
		return i, false
	}
	defer l.close()
	var page []byte
	found, err := l.row("SELECT data FROM sqlite_dbpage WHERE pgno = 1", nil, &page)
	if err != nil || found && len(page) < 100 {
		return i, false
	}
	if found { // it is not empty
		i.counter = binary.BigEndian.Uint32(page[24:])
		i.pages = binary.BigEndian.Uint32(page[28:])
	}
	return i, true
}

// compare looks at a file that was written since the last look, mostly by a checkpoint.
func (s *scribe) compare(info os.FileInfo) error {
	i, ok := readImage(s.dialer, s.path)
	if ok && (i.counter < s.image.counter || i.counter == s.image.counter && i.pages < s.image.pages) {
		return fmt.Errorf("%w: the file was written over; put the newer copy back in its place, or, to go on without what was lost, end all petrigate that use it and remove %q",
			backend.ErrRolledBack, s.path+witnessSuffix)
	}
	if s.file = info; ok {
		s.image = i
	}
	return nil
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
