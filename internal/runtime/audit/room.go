package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// PendingSuffix is behind the name of a log in the name of its room: the file that has the
// lines which a busy process has yet to move to the log. It is there from when a process is
// busy until that ends, and after a crash until another that had the log open ends.
const PendingSuffix = ".pending"

// What a room has: how often its lines were moved to the log, how many bytes of lines there
// are, and the lines.
const (
	roomMoves = 0
	roomUsed  = 8
	roomLines = 4 << 10
	roomSize  = 64 << 10
	roomEnd   = roomLines + roomSize
)

// A room is memory that outlives the process. Whoever has the lock of the log has it for
// itself.
type room struct {
	file   *os.File
	mapped []byte // nil: somebody has cut the file short
}

// openRoom opens the room of the log at path, and makes it with all that it needs of the disk
// if there is none.
func openRoom(path string) (*room, error) {
	f, err := openFile(path+PendingSuffix, 0)
	if err != nil {
		return nil, err
	}
	regular, err := inspect(f)
	if err = errors.Join(err, notRegular(regular)); err == nil {
		err = allocate(f, roomEnd)
	}
	if err == nil {
		if r := (&room{file: f, mapped: mapFile(f, roomEnd)}); r.mapped != nil {
			return r, nil
		}
		err = errors.New("it cannot be mapped into memory")
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", path+PendingSuffix, err)
}

// count is one of the two numbers.
func (r *room) count(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&r.mapped[at]))
}

// keep puts lines behind those that use so many bytes. They are there once it returns true,
// and none of them before.
func (r *room) keep(used int, lines []byte) bool {
	return used+len(lines) <= roomSize && touch(&r.mapped, func() {
		copy(r.mapped[roomLines+used:], lines)
		r.count(roomUsed).Store(uint64(used + len(lines)))
	})
}

// used says how many bytes of lines are there. It reports false where that is not known.
func (r *room) used() (n int, ok bool) {
	ok = touch(&r.mapped, func() { n = int(min(r.count(roomUsed).Load(), roomSize)) })
	return n, ok
}

// lines returns the lines that are there. It reports false where they are not known.
func (r *room) lines(used int) (lines []byte, ok bool) {
	ok = touch(&r.mapped, func() { lines = bytes.Clone(r.mapped[roomLines : roomLines+used]) })
	return lines, ok
}

// clear forgets the lines that are there. Whoever reads them meanwhile sees that from the
// moves, which are counted before others take their place.
func (r *room) clear() {
	touch(&r.mapped, func() {
		r.count(roomUsed).Store(0)
		r.count(roomMoves).Add(1)
	})
}

// lost reports whether what is kept there would not be found.
func (r *room) lost() bool {
	info, err := r.file.Stat()
	return r.mapped == nil || err != nil || quickfile.Removed(info)
}

func (r *room) close() {
	unmapFile(r.mapped)
	r.mapped = nil
	r.file.Close()
}

// Pending returns the lines that are on their way to the log at path. It is called before the
// log is read, and those that are there are to be passed over.
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
	if _, err := f.ReadAt(counts[:], roomMoves); err != nil {
		return nil, cutShort(err)
	}
	lines := make([]byte, min(binary.NativeEndian.Uint64(counts[roomUsed:]), roomSize))
	_, err = f.ReadAt(lines, roomLines)
	if err == nil {
		_, err = f.ReadAt(after[:], roomMoves)
	}
	if err != nil || !bytes.Equal(counts[:roomUsed], after[:roomUsed]) {
		return nil, cutShort(err) // the log has them now
	}
	return lines, nil
}

// cutShort ignores that a room ends too early: nothing was ever kept in it.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
