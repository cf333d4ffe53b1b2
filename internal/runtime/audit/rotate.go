package audit

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Rotation says when a log begins another file. The zero value is never.
//
// The last line of the file that is full closes it, so that every process that has it open
// goes over to the next. It is put aside as NAME-FIRST-LAST.EXT, by the numbers of its
// first and last line, and the first line of the next file goes on with the chain and names
// it. Nothing is overwritten.
type Rotation struct {
	Size   int64       // bytes from which on a file is full; 0: none is
	Keep   int         // how many files are kept aside; 0: all
	Failed func(error) // is told why a file could not be put aside, and grows on; nil: nobody is
}

// The events with which a file ends and the next begins.
type closed struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // closed
}

type continued struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"` // continued
	Previous string    `json:"previous"`
	Last     string    `json:"last"` // hash of its last line
}

// closes reports whether an event is the one with which a file ends.
func closes(event []byte) bool { return bytes.HasSuffix(event, []byte(`,"event":"closed"}`)) }

// full reports whether another file is due.
func (l *Log) full() bool {
	return l.regular && l.rotation.Size > 0 && l.size >= max(l.rotation.Size, l.retry)
}

// rotate closes the file and goes over to the next. Where that fails the file goes on, and
// another attempt is made when it has grown.
func (l *Log) rotate() error {
	l.retry = l.size + l.rotation.Size/8
	record, err := json.Marshal(closed{Time: time.Now(), Event: "closed"})
	if err != nil {
		return err
	}
	end := l.last
	l.buf = end.append(l.buf[:0], record)
	if err := l.write(l.buf, end); err != nil {
		return err
	}
	l.closed = true
	return l.follow()
}

// follow goes over to the file that follows this one, which is closed. It requires the
// lock of this file, and then has that of the next.
func (l *Log) follow() error {
	for {
		own, err := l.file.Stat()
		if err != nil {
			return err
		}
		now, err := os.Lstat(l.path)
		if err == nil && os.SameFile(own, now) {
			if err := l.putAside(own); err != nil {
				l.failed(err)
				return nil // it grows on
			}
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := l.goOver(); err != nil || !l.closed {
			return err
		}
	}
}

// goOver opens the file that is there now.
func (l *Log) goOver() error {
	next, err := open(l.path)
	if err != nil {
		return err
	}
	if _, err = inspect(next); err == nil {
		err = lock(next)
	}
	if err != nil {
		next.Close()
		return err
	}
	l.file.Close() // which unlocks it
	l.file, l.first, l.retry = next, 0, 0
	info, err := next.Stat()
	if err != nil {
		return err
	}
	return l.readEnd(info.Size())
}

// putAside gives the file, which is closed, its name aside, and puts the next in its place.
func (l *Log) putAside(own os.FileInfo) error {
	aside, err := l.nameAside(own)
	if err != nil {
		return err
	}
	next := l.path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // of a process that ended in the middle
	}
	f, err := openFile(next, os.O_APPEND|os.O_EXCL)
	if err != nil {
		return err
	}
	defer f.Close()
	record, err := json.Marshal(continued{Time: time.Now(), Event: "continued", Previous: filepath.Base(aside), Last: hex.EncodeToString(l.last.Hash[:])})
	if err != nil {
		return err
	}
	end := l.last
	if _, err := f.Write(end.append(nil, record)); err != nil {
		return err
	}
	if err := os.Link(l.path, aside); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(l.path, aside); err != nil { // a file system without links
			return err
		}
	}
	if err := os.Rename(next, l.path); err != nil {
		return errors.Join(err, os.Remove(aside)) // it goes on under its own name
	}
	l.head.write(end)
	l.prune()
	return nil
}

// nameAside returns the name for the file that no other file has.
func (l *Log) nameAside(own os.FileInfo) (string, error) {
	ext := filepath.Ext(l.path)
	stem := fmt.Sprintf("%s-%012d-%012d", strings.TrimSuffix(l.path, ext), cmp.Or(l.first, l.last.Seq), l.last.Seq)
	for n, name := 2, stem+ext; ; n++ {
		switch other, err := os.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		case os.SameFile(own, other): // a process ended in the middle
			return name, nil
		}
		name = fmt.Sprintf("%s.%d%s", stem, n, ext)
	}
}

// Aside lists the files that were put aside for the log at path, the oldest first.
func Aside(path string) ([]string, error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ext)
	pattern, err := regexp.Compile(`^` + regexp.QuoteMeta(stem) + `-[0-9]{12,20}-[0-9]{12,20}(\.[0-9]+)?` + regexp.QuoteMeta(ext) + `$`)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() && pattern.MatchString(e.Name()) {
			list = append(list, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	slices.Sort(list)
	return list, nil
}

// prune removes the oldest files aside, of which there are more than are kept.
func (l *Log) prune() {
	if l.rotation.Keep <= 0 {
		return
	}
	list, err := Aside(l.path)
	if err != nil {
		l.failed(err)
		return
	}
	for _, name := range list[:max(0, len(list)-l.rotation.Keep)] {
		if err := os.Remove(name); err != nil {
			l.failed(err)
		}
	}
}

func (l *Log) failed(err error) {
	if l.rotation.Failed != nil {
		l.rotation.Failed(err)
	}
}
