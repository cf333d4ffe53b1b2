package sqlite

import (
	"encoding/binary"
	"fmt"
	"os"
)

// fileState identifies a version of the database file, ignoring the write-ahead log. A process
// compares versions to detect that an older copy has overwritten the file. Open connections would
// not notice this, and would mix the contents of the two files.
type fileState struct {
	counter, pages uint32
	step           int64 // last log step that the file contains
}

// readFileState reads the file's header with a connection that ignores the write-ahead log. The
// file must not be opened in any other way; see [connection.create]. Without the log, the file may
// be inconsistent if a process was killed while moving the log into the file.
func readFileState(d dialer, path string) (i fileState, err error) {
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

func (i fileState) olderThan(j fileState) bool {
	return i.step < j.step || i.counter < j.counter || i.counter == j.counter && i.pages < j.pages
}

// unchanged reports whether two infos about the database file have the same modification time and
// size. If so, the file was probably not written in the meantime.
func unchanged(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// checkPages checks all pages of a file that has replaced another file. The pages may be damaged,
// because SQLite may have applied the old file's write-ahead log to the new file.
func checkPages(l *link) error {
	var verdict string
	if _, err := l.row("PRAGMA quick_check(1)", nil, &verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the file that replaced it is damaged: %s", verdict)
	}
	return nil
}
