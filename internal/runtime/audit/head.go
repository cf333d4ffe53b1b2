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

// HeadSuffix is the suffix of a log's head file. The head file holds the end of the chain, so that
// lines removed from the end are detected.
const HeadSuffix = ".head"

// headLength is the length of a head: 20 digits, a space, 64 hex digits and a line end.
const headLength = 20 + 1 + 64 + 1

// The byte at index space, which follows the digits, is normally a space. During an update it has
// the value unfinished.
const (
	space      = 20
	unfinished = '-'
)

// A head is the file beside a log that contains the number and hash of the log's last line. The
// process that holds the log's lock writes the head after writing the lines.
type head struct {
	file   *os.File // nil: no head
	mapped []byte   // memory-mapped content, which avoids system calls; nil: not mapped
	buf    [headLength]byte
}

// openHead opens the head of the log at path. If the directory is not writable and has no head,
// openHead returns an empty head without an error. An existing head that cannot be written is an
// error: another user could have created it to prevent the log from having a head.
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

// ReadHead returns the content of the head of the log at path. A head that is not a regular file,
// or whose owner is not the log's owner, is an error: the log's writers did not create it.
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
		return nil, fmt.Errorf("%s is not a regular file", name)
	case !safefile.SameOwner(info, log):
		return nil, fmt.Errorf("%s belongs to another user than the log", name)
	}
	return os.ReadFile(name)
}

// read returns the head's position, or the zero Place if the head has none.
func (h *head) read() Place {
	if h.file == nil {
		return Place{}
	}
	n, _ := h.file.ReadAt(h.buf[:], 0)
	p, _ := ParseHead(h.buf[:n])
	return p
}

// write stores a position. If writing fails, the log is longer than its head indicates, as after a
// crash between writing the lines and writing the head.
func (h *head) write(l Place) {
	if h.file == nil {
		return
	}
	content := appendHead(h.buf[:0], l)
	if h.mapped == nil || !h.store(content) {
		_, _ = h.file.WriteAt(content, 0)
	}
}

// store writes the content to mapped memory. If the process is killed during the update, the head
// is invalid. store returns false if another process has truncated the file.
func (h *head) store(content []byte) bool {
	return withMapped(&h.mapped, func() {
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

// UnwrittenHead reports whether a head's content contains no information, because no record has
// been written yet or the writer was killed during an update.
func UnwrittenHead(content []byte) bool {
	none := len(bytes.Trim(content, "\x00")) == 0
	return none || len(content) == headLength && content[space] == unfinished
}

// ParseHead parses a head's content. It returns false if the content is invalid.
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
