package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// PendingSuffix is the suffix of a log's pending file. The pending file holds lines that a busy
// process has yet to move to the log. It exists from the first lease until that process ends. After
// a crash, it exists until another process that had the log open has ended.
const PendingSuffix = ".pending"

// Layout of a pending file: the number of moves to the log, the size of the pending lines, and the
// lines.
const (
	pendingMoves = 0
	pendingUsed  = 8
	pendingLines = 4 << 10
	pendingSize  = 64 << 10
	pendingEnd   = pendingLines + pendingSize
)

// A pendingFile is memory that survives the process. It belongs to the process that holds the log's
// lock.
type pendingFile struct {
	file   *os.File
	mapped []byte // nil: another process has truncated the file

	moves, size *atomic.Uint64 // pointers into mapped: the number of moves to the log, and the size of the lines
}

// openPendingFile opens the pending file of the log at path. If the file does not exist,
// openPendingFile creates it and reserves all of its disk space.
func openPendingFile(path string) (*pendingFile, error) {
	f, err := openFile(path+PendingSuffix, 0)
	if err != nil {
		return nil, err
	}
	regular, err := inspect(f)
	if err = errors.Join(err, notRegular(regular)); err == nil {
		err = allocate(f, pendingEnd)
	}
	if err == nil {
		if m := mapFile(f, pendingEnd); m != nil {
			counter := func(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&m[at])) }
			return &pendingFile{file: f, mapped: m, moves: counter(pendingMoves), size: counter(pendingUsed)}, nil
		}
		err = errors.New("it cannot be mapped into memory")
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", path+PendingSuffix, err)
}

// keep writes lines at the offset used. The change is atomic. keep returns false if the lines do
// not fit.
func (r *pendingFile) keep(used int, lines []byte) bool {
	return used+len(lines) <= pendingSize && withMapped(&r.mapped, func() {
		copy(r.mapped[pendingLines+used:], lines)
		r.size.Store(uint64(used + len(lines)))
	})
}

// used returns the size of the lines. It returns false if the size is unknown.
func (r *pendingFile) used() (n int, ok bool) {
	ok = withMapped(&r.mapped, func() { n = int(min(r.size.Load(), pendingSize)) })
	return n, ok
}

// lines returns the pending lines. It returns false if they are unknown.
func (r *pendingFile) lines(used int) (lines []byte, ok bool) {
	ok = withMapped(&r.mapped, func() { lines = bytes.Clone(r.mapped[pendingLines : pendingLines+used]) })
	return lines, ok
}

// clear removes the lines. Concurrent readers detect the removal by the number of moves, which is
// increased before new lines are written.
func (r *pendingFile) clear() {
	withMapped(&r.mapped, func() {
		r.size.Store(0)
		r.moves.Add(1)
	})
}

// lost reports whether lines that are now written to the file would be lost in a crash.
func (r *pendingFile) lost() bool {
	info, err := r.file.Stat()
	return r.mapped == nil || err != nil || quickfile.Removed(info)
}

func (r *pendingFile) close() {
	unmapFile(r.mapped)
	r.mapped = nil
	r.file.Close()
}

// Pending returns the lines that have yet to be moved to the log at path. The caller must call it
// before reading the log, and skip lines that the log already has.
func Pending(path string) ([]byte, error) {
	f, err := os.Open(path + PendingSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var counts, after [16]byte
	if _, err := f.ReadAt(counts[:], pendingMoves); err != nil {
		return nil, cutShort(err)
	}
	lines := make([]byte, min(binary.NativeEndian.Uint64(counts[pendingUsed:]), pendingSize))
	_, err = f.ReadAt(lines, pendingLines)
	if err == nil {
		_, err = f.ReadAt(after[:], pendingMoves)
	}
	if err != nil || !bytes.Equal(counts[:pendingUsed], after[:pendingUsed]) {
		return nil, cutShort(err) // the lines have been moved to the log in the meantime
	}
	return lines, nil
}

// cutShort ignores the error for a file that is too short to contain lines.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// withMapped calls do, which accesses the mapped memory. It returns false if no memory is mapped.
// If another process has truncated the file, withMapped unmaps the memory and returns false.
func withMapped(mapped *[]byte, do func()) (done bool) {
	if *mapped == nil {
		return false
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if !done && recover() != nil {
			unmapFile(*mapped)
			*mapped = nil
		}
	}()
	do()
	return true
}
