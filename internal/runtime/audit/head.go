package audit

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/petrigate/petrigate/internal/safefile"
)

// HeadSuffix is behind the name of a log in the name of its head: the file that says where
// the chain ends, so that lines which somebody cuts off at the end are missed.
const HeadSuffix = ".head"

// headLength is that of 20 digits, a space, 64 hex digits and a line end.
const headLength = 20 + 1 + 64 + 1

// A head has a space behind its number, and this while it is written.
const (
	space      = 20
	unfinished = '-'
)

// A head is the file beside a log that has the number and the hash of its last line. It is
// written after the lines, by whoever holds the lock of the log.
type head struct {
	file   *os.File // nil: there is none
	mapped []byte   // its content in memory, which costs no call of the system; nil: it is not
	buf    [headLength]byte
}

// openHead opens the head beside the log at path. Without an error there may be no head,
// where the directory does not take one. A head that is there and cannot be written is an
// error: another user could have made it first, so that none is kept.
func openHead(path string) (head, error) {
	f, err := openFile(path+HeadSuffix, 0)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		info, missing := os.Lstat(path + HeadSuffix)
		if errors.Is(missing, fs.ErrNotExist) {
			return head{}, nil
		}
		if missing == nil {
			err = errors.Join(safefile.Regular(info), err)
		}
		return head{}, fmt.Errorf("its head %s: %w", path+HeadSuffix, err)
	case err != nil:
		return head{}, err
	}
	if regular, err := inspect(f); err != nil || !regular {
		f.Close()
		return head{}, fmt.Errorf("its head %s: %w", path+HeadSuffix, errors.Join(err, notRegular(regular)))
	}
	return head{file: f, mapped: mapFile(f, headLength)}, nil
}

// ReadHead returns the content of the head of the log at path. A head that is no regular
// file, or of another user than the log, is an error: it is not that of the writers.
func ReadHead(path string) ([]byte, error) {
	name := path + HeadSuffix
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	log, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case !safefile.SameOwner(info, log):
		return nil, fmt.Errorf("%s belongs to another user than the log", name)
	}
	return os.ReadFile(name)
}

func notRegular(regular bool) error {
	if regular {
		return nil
	}
	return errors.New("it is no regular file")
}

// read returns the place on the chain that the head names, the zero one where it names none.
func (h *head) read() Place {
	if h.file == nil {
		return Place{}
	}
	n, _ := h.file.ReadAt(h.buf[:], 0)
	p, _ := ParseHead(h.buf[:n])
	return p
}

// write makes the head name the place. Where that fails the log is longer than its head
// says, as after a crash between the two.
func (h *head) write(l Place) {
	if h.file == nil {
		return
	}
	content := appendHead(h.buf[:0], l)
	if h.mapped == nil || !h.store(content) {
		_, _ = h.file.WriteAt(content, 0)
	}
}

// store puts the content into memory. A process that is killed in the middle leaves what is
// no head. It reports false where the file was cut short by somebody.
func (h *head) store(content []byte) bool {
	return touch(&h.mapped, func() {
		h.mapped[space] = unfinished
		copy(h.mapped, content[:space])
		copy(h.mapped[space+1:], content[space+1:])
		h.mapped[space] = ' '
	})
}

func (h *head) close() {
	if h.file != nil {
		unmapFile(h.mapped)
		h.mapped = nil
		h.file.Close()
	}
}

func appendHead(b []byte, l Place) []byte {
	const zeros = "00000000000000000000"
	var digits [20]byte
	number := strconv.AppendUint(digits[:0], l.Seq, 10)
	b = append(append(b, zeros[len(number):]...), number...)
	b = hex.AppendEncode(append(b, ' '), l.Hash[:])
	return append(b, '\n')
}

// UnwrittenHead reports whether the content of a head is that before the first record, or of
// a process that was killed while it wrote: it tells nothing.
func UnwrittenHead(content []byte) bool {
	none := len(bytes.Trim(content, "\x00")) == 0
	return none || len(content) == headLength && content[space] == unfinished
}

// ParseHead reads the content of a head. It reports false where that is none.
func ParseHead(content []byte) (Place, bool) {
	if len(content) != headLength || content[space] != ' ' || content[headLength-1] != '\n' {
		return Place{}, false
	}
	seq, err := strconv.ParseUint(string(content[:space]), 10, 64)
	if err != nil || seq == 0 {
		return Place{}, false
	}
	p := Place{Seq: seq}
	if _, err = hex.Decode(p.Hash[:], content[space+1:headLength-1]); err != nil {
		return Place{}, false
	}
	return p, true
}
