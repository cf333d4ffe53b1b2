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

// HeadSuffix is added to the name of a log to form the name of its head file. The head holds the
// end of the chain, so that removal of lines from the end can be detected.
const HeadSuffix = ".head"

// headLength is the length of a head: 20 digits, a space, 64 hex digits and a newline.
const headLength = 20 + 1 + 64 + 1

// space is the offset of the byte after the record number in a head. The byte is ' ' or, while the
// head is being updated, '-'.
const (
	space      = 20
	unfinished = '-'
)

// A head is the file next to a log that holds the number and hash of the log's last line. It is
// updated after the lines are written, by the process that holds the log's lock.
type head struct {
	file   *os.File // nil if the log has no head
	mapped []byte   // mapped content, used to avoid system calls; nil if the file is not mapped
	buf    [headLength]byte
}

// openHead opens or creates the head of the log at path. It returns an empty head and no error if
// the head does not exist and the directory is not writable. It returns an error if the head exists
// but cannot be written, because another user could otherwise disable the head by creating a file
// with its name.
func openHead(path string) (head, error) {
	f, err := openFile(path+HeadSuffix, 0)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		info, missing := os.Lstat(path + HeadSuffix)
		if errors.Is(missing, fs.ErrNotExist) {
			return head{}, nil
		}
		if missing == nil {
			err = errors.Join(safefile.CheckFile(info), err)
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

// ReadHead returns the content of the head of the log at path. It returns an error if the head is
// not a regular file or has a different owner than the log, because the log's writers would not
// have created such a head.
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
		return nil, fmt.Errorf("%s does not belong to the owner of the log", name)
	}
	return os.ReadFile(name)
}

// read returns the position stored in the head, or the zero Place if the head is missing or its
// content is invalid.
func (h *head) read() Place {
	if h.file == nil {
		return Place{}
	}
	n, _ := h.file.ReadAt(h.buf[:], 0)
	p, _ := ParseHead(h.buf[:n])
	return p
}

// write stores a position in the head. If that fails, the head lags behind the log, just as after a
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

// store copies content to the mapped memory. If the process is killed during the copy, the head is
// left invalid. store returns false if another process has truncated the file.
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

// UnwrittenHead reports whether the content of a head is empty because nothing has been recorded
// yet, or invalid because its writer was killed during an update.
func UnwrittenHead(content []byte) bool {
	none := len(bytes.Trim(content, "\x00")) == 0
	return none || len(content) == headLength && content[space] == unfinished
}

// ParseHead parses the content of a head. It reports whether the content is valid.
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
