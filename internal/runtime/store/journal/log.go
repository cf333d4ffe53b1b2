package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/safefile"
)

// The names of files beside the database. A segment that is full is put aside under its number, the
// step that it begins after: at first with all its lines, and once it is folded with its records
// alone.
const (
	logSuffix   = "-log"
	nextSuffix  = "-log.new"  // the next segment, until it has its name
	asideSuffix = "-log-"     // and twenty digits
	fullSuffix  = ".full"     // with all its lines
	tornSuffix  = ".unsealed" // a segment with records alone, until it has its name
)

// A directory has the files beside a database.
type directory struct {
	disk     disk
	path     string // of the database
	database string // its id; empty: it is not known yet
	owner    string // of files until they have their names: the writer
}

// A log is the segment that steps are appended to.
//
// A log whose steps are flushed has room behind the last step: spaces that are already on the disk. Steps
// overwrite them. Flushing overwritten blocks takes about half as long as flushing a file that has grown.
type log struct {
	directory
	file     file
	flushing *flushing // of the file
	header   position
	end      int64 // of the last step
	size     int64 // of the file, as far as this process has the turn
	full     bool  // the disk was full when room was to be made
	settled  bool  // this process has read the whole file, so only room can be behind the last step
	buf      []byte
}

// room is the number of spaces that makeRoom writes.
const room = 256 << 10

var blank = sync.OnceValue(func() []byte { return bytes.Repeat([]byte{' '}, room/4) })

func (l *directory) name() string { return l.path + logSuffix }

// aside is the name of a segment that was put aside.
func (l *directory) aside(after uint64) string {
	return fmt.Sprintf("%s%s%020d", l.path, asideSuffix, after)
}

// start makes the first segment of a database.
func (l *directory) start(at *position) error {
	if err := l.write(l.path+nextSuffix, at); err != nil {
		return err
	}
	return l.install()
}

// write makes a segment that begins behind a position, which is on the disk when it returns.
func (l *directory) write(name string, at *position) error {
	if err := l.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := l.disk.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(appendHeader(nil, l.database, at))
	return errors.Join(err, f.sync(), f.Close())
}

// install gives the next segment its name.
func (l *directory) install() error {
	if err := l.disk.rename(l.path+nextSuffix, l.name()); err != nil {
		return err
	}
	return l.disk.syncDir(filepath.Dir(l.path))
}

// open opens the segment that has the name now.
func (l *log) open() error {
	f, header, err := l.openSegment(l.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	l.use(f, header)
	return nil
}

// use goes over to another file.
func (l *log) use(f file, header position) {
	l.close()
	l.file, l.flushing, l.header = f, newFlushing(f, header.step), header
	l.size, l.full, l.settled = header.offset, false, false
}

// openSegment opens a file of the log of this database, and reads its header.
func (l *directory) openSegment(name string, flags int) (f file, header position, err error) {
	f, err = l.disk.open(name, flags)
	if err != nil {
		if info, missing := l.disk.stat(name); missing == nil {
			err = errors.Join(regular(name, info), err)
		}
		return nil, header, err
	}
	if header, err = l.readHeader(name, f); err != nil {
		_ = f.Close()
		return nil, header, err
	}
	return f, header, nil
}

func (l *directory) readHeader(name string, f file) (header position, err error) {
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return header, err
	}
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, 4<<10)).ReadSlice('\n')
	if err != nil {
		return header, fmt.Errorf("%q does not begin as a log of petrigate does; put its own log back", name)
	}
	database, header, err := readHeader(line[:len(line)-1])
	if err != nil {
		return header, fmt.Errorf("%q: %w", name, err)
	}
	if database != l.database {
		return header, fmt.Errorf("%w: %q is the log of another state database; put its own log back", backend.ErrRolledBack, name)
	}
	return header, nil
}

// exists reports whether a file has the name.
func (l *directory) exists(name string) bool {
	_, err := l.disk.stat(name)
	return err == nil
}

// regular refuses a file that others could have written.
func regular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return backend.Unusable(fmt.Errorf("%q is no regular file", name))
	}
	if info.Mode().Perm()&0o600 != 0o600 {
		return fmt.Errorf("%q may not be written (mode %04o); chmod 600", name, info.Mode().Perm())
	}
	if err := safefile.Regular(info); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

func (l *log) close() {
	if l.file != nil {
		l.flushing.leave()
		l.file, l.flushing = nil, nil
	}
}

// named reports whether the file that is open is the one that has the name.
func (l *log) named() (bool, error) {
	now, err := l.disk.stat(l.name())
	if err != nil {
		return false, err
	}
	own, err := l.file.Stat()
	return err == nil && os.SameFile(now, own), err
}

// rest reads the lines behind an offset, up to the room and at most so many bytes, into buf if that is large
// enough. It reports whether more lines follow. With all it reads beyond room too, because a loss of power
// may have left something there.
func (l *log) rest(buf []byte, offset int64, most int, all bool) (data []byte, more bool, err error) {
	size, _, err := l.file.state()
	switch {
	case err != nil:
		return nil, false, err
	case size < offset:
		return nil, false, fmt.Errorf("%w: the log is shorter than it was; put the newer copy back", backend.ErrRolledBack)
	}
	l.size, data = size, buf[:0]
	most = int(min(int64(most), size-offset))
	for next := 64; len(data) < most; next = max(16<<10, 4*next) { // mostly there is nothing new
		from := len(data)
		if next = min(next, most-from); all {
			next = most - from
		}
		data = slices.Grow(data, next)[:from+next]
		n, err := l.file.ReadAt(data[from:], offset+int64(from))
		if data = data[:from+n]; errors.Is(err, io.EOF) {
			return withoutRoom(data), false, nil // it was cut meanwhile
		}
		if err != nil {
			return nil, false, err
		}
		if !all && atRoom(data) {
			return withoutRoom(data), false, nil
		}
	}
	if more = offset+int64(len(data)) < size; !more {
		data = withoutRoom(data)
	}
	return data, more, nil
}

// withoutRoom leaves out the room at the end of a file, or the zeros in its place that a loss of power
// can leave.
func withoutRoom(data []byte) []byte { return bytes.TrimRight(data, " \x00") }

// atRoom reports whether room follows the last line.
func atRoom(data []byte) bool {
	lines := withoutRoom(data)
	return len(lines) < len(data) && (len(lines) == 0 || lines[len(lines)-1] == '\n')
}

// ends reports whether a step with the hash ends at the offset of a segment with that header.
func ends(f file, header *position, at *position) (bool, error) {
	if at.offset == 0 || at.offset == header.offset {
		return header.step == at.step && header.hash == at.hash, nil
	}
	var end [tail + 1]byte
	if _, err := f.ReadAt(end[:], at.offset-int64(len(end))); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	return bytes.Equal(end[:], appendHash(nil, at.hash)), nil
}

// linesEnd returns where the lines of a file end. They stay as they are up to there. A reader that goes on to
// the end of the file could meet a step while another process writes it into the room, and miss its beginning.
func linesEnd(f file) (int64, error) {
	end, _, err := f.state()
	if err != nil {
		return 0, err
	}
	block := make([]byte, room/4)
	for end > 0 {
		from := max(0, end-int64(len(block)))
		n, err := f.ReadAt(block[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		lines := withoutRoom(block[:n])
		if end = from + int64(len(lines)); len(lines) > 0 {
			break
		}
	}
	return end, nil
}

// isEnd reports whether the log ends at a position: there is the step, and nothing but room behind it.
func (l *log) isEnd(at *position) bool {
	right, err := ends(l.file, &l.header, at)
	if err != nil || !right {
		return false
	}
	lines, _, err := l.rest(nil, at.offset, len(`{"step":`), false)
	return err == nil && len(withoutRoom(lines)) == 0
}

// append appends lines behind the last step. After an error so many bytes of them are in the file as
// it says: nothing but whole steps, which end at the ends.
func (l *log) append(lines []byte, ends []int) (n int, err error) {
	n, err = l.file.WriteAt(lines, l.end)
	if err == nil {
		l.end += int64(n)
		l.size = max(l.size, l.end)
		return n, nil
	}
	whole := 0
	for _, end := range ends {
		if end <= n {
			whole = end
		}
	}
	l.end += int64(whole)
	if cut := l.cut(); cut != nil && n > whole {
		err = errors.Join(err, cut) // the next process with the turn cuts it off
	}
	return whole, err
}

// cut leaves nothing behind the last step.
func (l *log) cut() error {
	err := l.file.Truncate(l.end)
	if err == nil {
		l.size = l.end
	}
	return err
}

// fill cuts off the room behind the last step of a segment. The log is as good with it.
func (l *log) fill(end int64) {
	if l.end = end; l.size > end {
		_ = l.cut()
	}
}

// makeRoom makes room behind the last step when the room is used up. After the disk was full it stops doing
// so in this segment, to leave the last free bytes to steps.
func (l *log) makeRoom() {
	if l.end < l.size || l.full {
		return
	}
	for l.size < l.end+room {
		n, err := l.file.WriteAt(blank(), l.size)
		if l.size += int64(n); err != nil {
			_, l.full = l.cut(), true
			return
		}
	}
}

// asides lists the segments that were put aside, the oldest first, by number, with whether the one
// with all its lines is there and the one with its records alone.
func (l *directory) asides() (numbers []uint64, full, sealed map[uint64]bool, err error) {
	names, err := l.disk.list(filepath.Dir(l.path))
	if err != nil {
		return nil, nil, nil, err
	}
	full, sealed = map[uint64]bool{}, map[uint64]bool{}
	for _, name := range names {
		digits, ok := strings.CutPrefix(filepath.Base(name), filepath.Base(l.path)+asideSuffix)
		digits, whole := strings.CutSuffix(digits, fullSuffix)
		after, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || len(digits) != 20 {
			continue
		}
		if !full[after] && !sealed[after] {
			numbers = append(numbers, after)
		}
		if whole {
			full[after] = true
		} else {
			sealed[after] = true
		}
	}
	slices.Sort(numbers)
	return numbers, full, sealed, nil
}
