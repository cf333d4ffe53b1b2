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
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// Suffixes of the log's files, which are stored next to the database. When a segment is full, its
// file is renamed. The new name contains the segment's number, which is the number of the last step
// before it. When the segment is sealed, the step lines are removed, and only the records remain.
const (
	logSuffix      = "-log"
	endSuffix      = "-head"     // suffix of the file that stores the last step known to be on disk; see durableEnd
	nextSuffix     = "-log.new"  // suffix of the next segment until it becomes the log
	segmentSuffix  = "-log-"     // suffix of a renamed segment, followed by its number in twenty digits
	fullSuffix     = ".full"     // suffix of a renamed segment that is not sealed
	unsealedSuffix = ".unsealed" // suffix of a sealed segment that is still being written
)

// directory provides access to the files beside a database.
type directory struct {
	disk     disk
	path     string // path of the database
	database string // ID of the database, or empty if it is not known yet
	owner    string // writer's name, used in the names of temporary files
}

// log is the current segment. Steps are appended to it.
//
// If the steps are flushed, the last step is followed by padding: spaces that are already on disk.
// Later steps overwrite the padding, because flushing overwritten blocks takes about half as long
// as flushing a file that has grown.
type log struct {
	directory
	file     file
	flusher  *flusher // flushes the log's file
	header   position
	end      int64 // end of the last step
	size     int64 // file size; valid while this process holds the process lock
	diskFull bool  // whether padding could not be added because the disk was full
	scanned  bool  // whether this process has read the whole file; if so, nothing but padding follows the last step
	buf      []byte
}

// paddingSize is the number of spaces that addPadding writes.
const paddingSize = 256 << 10

var blank = sync.OnceValue(func() []byte { return bytes.Repeat([]byte{' '}, paddingSize/4) })

func (l *directory) name() string { return l.path + logSuffix }

// segmentName returns the name of a renamed segment.
func (l *directory) segmentName(after uint64) string {
	return fmt.Sprintf("%s%s%020d", l.path, segmentSuffix, after)
}

// writeSegment creates a segment that begins after the given position, and flushes it to disk.
func (l *directory) writeSegment(name string, at *position) error {
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

// installNext makes the next segment the current one by renaming its file.
func (l *directory) installNext() error {
	if err := l.disk.rename(l.path+nextSuffix, l.name()); err != nil {
		return err
	}
	return l.disk.syncDir(filepath.Dir(l.path))
}

func (l *log) open() error {
	f, header, err := l.openSegment(l.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	l.setFile(f, header)
	return nil
}

// setFile replaces the log's file with f.
func (l *log) setFile(f file, header position) {
	l.close()
	l.file, l.flusher, l.header = f, newFlusher(f, header.step), header
	l.size, l.diskFull, l.scanned = header.offset, false, false
}

// openSegment opens one of the database's log files and reads the header.
func (l *directory) openSegment(name string, flags int) (f file, header position, err error) {
	f, err = l.disk.open(name, flags)
	if err != nil {
		if info, missing := l.disk.stat(name); missing == nil {
			err = errors.Join(sqlite.CheckRegular(name, info), err)
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
		err = sqlite.CheckRegular(name, info)
	}
	if err != nil {
		return header, err
	}
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, 4<<10)).ReadSlice('\n')
	if err != nil {
		return header, fmt.Errorf("%q is not a petrigate log; restore its own log", name)
	}
	database, header, err := readHeader(line[:len(line)-1])
	if err != nil {
		return header, fmt.Errorf("%q: %w", name, err)
	}
	if database != l.database {
		return header, fmt.Errorf("%w: %q is the log of another state database; restore its own log", backend.ErrRolledBack, name)
	}
	return header, nil
}

func (l *log) close() {
	if l.file != nil {
		l.flusher.release()
		l.file, l.flusher = nil, nil
	}
}

// hasName reports whether the open file still has the log's name.
func (l *log) hasName() (bool, error) {
	now, err := l.disk.stat(l.name())
	if err != nil {
		return false, err
	}
	own, err := l.file.Stat()
	return err == nil && os.SameFile(now, own), err
}

// readFrom reads lines, starting at the given offset and ending before the padding. It reads at
// most the given number of bytes, and reports whether more lines follow. It uses buf if buf is
// large enough. If all is true, it also reads past the padding, because a power loss may have left
// data there.
func (l *log) readFrom(buf []byte, offset int64, most int, all bool) (data []byte, more bool, err error) {
	size, _, err := l.file.state()
	switch {
	case err != nil:
		return nil, false, err
	case size < offset:
		return nil, false, fmt.Errorf("%w: the log is shorter than before; restore the newer copy", backend.ErrRolledBack)
	}
	l.size, data = size, buf[:0]
	most = int(min(int64(most), size-offset))
	for next := 64; len(data) < most; next = max(16<<10, 4*next) { // start with a small read, because usually there are no new lines
		from := len(data)
		if next = min(next, most-from); all {
			next = most - from
		}
		data = slices.Grow(data, next)[:from+next]
		n, err := l.file.ReadAt(data[from:], offset+int64(from))
		if data = data[:from+n]; errors.Is(err, io.EOF) {
			return trimPadding(data), false, nil // another process has just truncated the file
		}
		if err != nil {
			return nil, false, err
		}
		if !all && endsInPadding(data) {
			return trimPadding(data), false, nil
		}
	}
	if more = offset+int64(len(data)) < size; !more {
		data = trimPadding(data)
	}
	return data, more, nil
}

// trimPadding removes the padding at the end of a file, or the zeros that can replace it after a
// power loss.
func trimPadding(data []byte) []byte { return bytes.TrimRight(data, " \x00") }

// endsInPadding reports whether padding follows the last line.
func endsInPadding(data []byte) bool {
	lines := trimPadding(data)
	return len(lines) < len(data) && (len(lines) == 0 || lines[len(lines)-1] == '\n')
}

// endsAt reports whether f contains the end of a step at the given position, and whether that step
// has the position's hash. The file f is a segment, and header is the position at the end of its
// first line.
func endsAt(f file, header *position, at *position) (bool, error) {
	if at.offset == 0 || at.offset == header.offset {
		return header.step == at.step && header.hash == at.hash, nil
	}
	var end [tailSize + 1]byte
	if _, err := f.ReadAt(end[:], at.offset-int64(len(end))); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	return bytes.Equal(end[:], appendHash(nil, at.hash)), nil
}

// linesEnd returns the offset where a file's lines end and its padding begins. A reader must stop
// there, because another process may be writing a step into the padding, and the reader could see
// the end of that step without the beginning. The lines before the offset no longer change.
func linesEnd(f file) (int64, error) {
	end, _, err := f.state()
	if err != nil {
		return 0, err
	}
	block := make([]byte, paddingSize/4)
	for end > 0 {
		from := max(0, end-int64(len(block)))
		n, err := f.ReadAt(block[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		lines := trimPadding(block[:n])
		if end = from + int64(len(lines)); len(lines) > 0 {
			break
		}
	}
	return end, nil
}

// isEnd reports whether the log ends at the given position: a step ends there, and only padding
// follows.
func (l *log) isEnd(at *position) bool {
	right, err := endsAt(l.file, &l.header, at)
	if err != nil || !right {
		return false
	}
	lines, _, err := l.readFrom(nil, at.offset, len(`{"step":`), false)
	return err == nil && len(trimPadding(lines)) == 0
}

// append appends the lines of one or more steps to the log. The slice ends contains the offset of
// the end of each step in the lines. append returns the number of bytes that it has appended. After
// an error, a step is committed only if all of its lines are in the file.
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
		err = errors.Join(err, cut) // the bytes of the incomplete step remain in the file; they are removed before another step is appended
	}
	return whole, err
}

// cut removes all bytes after the last step.
func (l *log) cut() error {
	err := l.file.Truncate(l.end)
	if err == nil {
		l.size = l.end
	}
	return err
}

// cutPadding removes the padding after a segment's last step. It ignores errors, because padding
// does not make a log invalid.
func (l *log) cutPadding(end int64) {
	if l.end = end; l.size > end {
		_ = l.cut()
	}
}

// addPadding adds padding after the last step if all padding is used up. If the disk has been full,
// it adds no padding to this segment, so that the last free bytes are left for steps.
func (l *log) addPadding() {
	if l.end < l.size || l.diskFull {
		return
	}
	for l.size < l.end+paddingSize {
		n, err := l.file.WriteAt(blank(), l.size)
		if l.size += int64(n); err != nil {
			_, l.diskFull = l.cut(), true
			return
		}
	}
}

// listSegments lists the numbers of the renamed segments, oldest first. It also returns the set of
// segments that still have their step lines, and the set of sealed segments.
func (l *directory) listSegments() (numbers []uint64, full, sealed map[uint64]bool, err error) {
	names, err := l.disk.list(filepath.Dir(l.path))
	if err != nil {
		return nil, nil, nil, err
	}
	full, sealed = map[uint64]bool{}, map[uint64]bool{}
	for _, name := range names {
		digits, ok := strings.CutPrefix(filepath.Base(name), filepath.Base(l.path)+segmentSuffix)
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

// remedy returns advice for a log that is damaged or older than its database.
func (l *directory) remedy() string {
	return fmt.Sprintf("restore the newer copy or, to continue from the checkpoint, stop all petrigate processes that use it and remove %q and %q", l.name(), l.path+endSuffix)
}

// finishRotation completes a rotation if a process was killed during it: finishRotation makes the
// next segment the current one. If this process has not read the log up to the beginning of the
// next segment, finishRotation does nothing. The argument is the position after the last step that
// was read.
func (l *directory) finishRotation(at *position) error {
	f, header, err := l.openSegment(l.path+nextSuffix, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("the log %q was removed while it was in use; restore it, or stop all petrigate processes that use it and start again", l.name())
	}
	_ = f.Close()
	if header.step > at.step {
		return nil
	}
	if header.step != at.step || header.hash != at.hash {
		return fmt.Errorf("%w: its log %q is missing; restore it", backend.ErrRolledBack, l.name())
	}
	return l.installNext()
}

// maxTempAge is the longest time that a running process needs a temporary file. An older file must
// be from a killed process.
const maxTempAge = time.Minute

// removeLeftovers removes the temporary files of killed processes. If a slow process loses a file
// this way, it writes the file again.
func (l *log) removeLeftovers(now time.Time) error {
	names, err := l.disk.list(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	_ = l.disk.remove(l.path + "-witness") // left by versions with an older schema, which had no log
	for _, name := range names {
		unsealed := strings.HasPrefix(name, l.path+segmentSuffix) && strings.HasSuffix(name, unsealedSuffix)
		if !unsealed && !strings.HasPrefix(name, l.path+endSuffix+".") {
			continue
		}
		if info, err := l.disk.stat(name); err == nil && now.Sub(info.ModTime()) > maxTempAge {
			_ = l.disk.remove(name) // the next start tries again
		}
	}
	return nil
}
