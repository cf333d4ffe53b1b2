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

// PendingSuffix is added to the name of a log to form the name of its pending file. A process that
// writes many records appends them to the pending file first, and moves them to the log later. The
// last process to close the log removes the pending file.
const PendingSuffix = ".pending"

// Layout of a pending file: the number of times that lines were moved to the log, the size of the
// pending lines, and the lines themselves.
const (
	pendingMoves = 0
	pendingUsed  = 8
	pendingLines = 4 << 10
	pendingSize  = 64 << 10
	pendingEnd   = pendingLines + pendingSize
)

// A pendingFile is mapped memory that survives a crash of the process. It may be used only with the
// log's lock held.
type pendingFile struct {
	file   *os.File
	mapped []byte // nil if another process has truncated the file

	moves, size *atomic.Uint64 // counters in the mapped memory: how often lines were moved to the log, and the size of the pending lines
}

// openPendingFile opens the pending file of the log at path. It creates the file if necessary and
// reserves its disk space.
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

// keep atomically appends new lines to the pending lines, which have the given total size. It
// returns false if the new lines do not fit or the memory has been unmapped.
func (r *pendingFile) keep(size int, lines []byte) bool {
	return size+len(lines) <= pendingSize && withMapped(&r.mapped, func() {
		copy(r.mapped[pendingLines+size:], lines)
		r.size.Store(uint64(size + len(lines)))
	})
}

// used returns the total size of the pending lines. It returns false if the memory has been
// unmapped.
func (r *pendingFile) used() (n int, ok bool) {
	ok = withMapped(&r.mapped, func() { n = int(min(r.size.Load(), pendingSize)) })
	return n, ok
}

// lines returns a copy of the pending lines, which have the given total size. It returns false if
// the memory has been unmapped.
func (r *pendingFile) lines(size int) (lines []byte, ok bool) {
	ok = withMapped(&r.mapped, func() { lines = bytes.Clone(r.mapped[pendingLines : pendingLines+size]) })
	return lines, ok
}

// clear removes the lines. It increases the number of moves, so that concurrent readers notice.
func (r *pendingFile) clear() {
	withMapped(&r.mapped, func() {
		r.size.Store(0)
		r.moves.Add(1)
	})
}

// lost reports whether the file has been removed or unmapped. A crash would then lose lines that
// are written to it now.
func (r *pendingFile) lost() bool {
	info, err := r.file.Stat()
	return r.mapped == nil || err != nil || quickfile.Removed(info)
}

func (r *pendingFile) close() {
	unmapFile(r.mapped)
	r.mapped = nil
	r.file.Close()
}

// Pending returns the lines that have not yet been moved to the log at path. Call it before reading
// the log, and skip the lines that the log already has.
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
		return nil, cutShort(err) // the lines have just been moved to the log
	}
	return lines, nil
}

// cutShort returns err, or nil if err means that the file is too short to contain lines.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// withMapped calls a function that accesses the mapped memory, and reports whether the access
// succeeded. If the memory is not mapped, it returns false without calling the function. If another
// process has truncated the file, it unmaps the memory and returns false.
func withMapped(mapped *[]byte, access func()) (done bool) {
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
	access()
	return true
}
