package trail

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// blocks yields blocks of whole lines, each of about the given size in bytes. A block is valid only
// until the next one is yielded. If the data does not end with a newline, the last block is yielded
// with the error [errPartial].
func blocks(r io.Reader, size int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := make([]byte, 0, size)
		for {
			if len(buf) == cap(buf) {
				if len(buf) > maxLine {
					yield(nil, errLong)
					return
				}
				buf = append(make([]byte, 0, 2*cap(buf)), buf...)
			}
			n, err := r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
			switch {
			case errors.Is(err, io.EOF):
				yield(lastBlock(buf))
				return
			case err != nil:
				yield(nil, err)
				return
			}
			end := bytes.LastIndexByte(buf, '\n') + 1
			if end == 0 || len(buf) < cap(buf) {
				continue
			}
			if !yield(buf[:end], nil) {
				return
			}
			buf = buf[:copy(buf, buf[end:])]
		}
	}
}

// lastBlock returns the last block, which consists of the complete lines in buf, and [errPartial]
// if an incomplete line follows them.
func lastBlock(buf []byte) ([]byte, error) {
	end := bytes.LastIndexByte(buf, '\n') + 1
	if end < len(buf) {
		return buf[:end], errPartial
	}
	return buf[:end], nil
}

// cutLine returns the first line of a block, without its newline, and the rest.
func cutLine(block []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(block, []byte{'\n'})
	return line, rest
}

var (
	errPartial = errors.New("its last line is incomplete")
	errLong    = errors.New("it is too long for an audit record")
)

// A line of more than maxLine bytes may be rejected, to limit the memory use. Valid lines are
// shorter.
const maxLine = 5 << 20
