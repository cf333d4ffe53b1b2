// Package lines reads and writes the messages of a client, one per line.
//
// A [Reader] limits the length of lines, and continues after a line that is too long. A [Writer] is
// shared by all goroutines that send to the client. It writes each line as a whole, drops
// notifications if the client reads too slowly, and writes several messages with one system call if
// possible.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ErrTooLong means that a line exceeds the limit. Reading can continue with the next line.
var ErrTooLong = errors.New("the message exceeds this proxy's limit")

// A Reader reads lines from a client. It is not safe for concurrent use.
type Reader struct {
	in    *bufio.Reader
	limit int
}

// NewReader returns a reader for lines of up to limit bytes, not counting line endings.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{bufio.NewReaderSize(in, 64<<10), limit}
}

// Next returns the next line without its line ending. The line belongs to the caller. Next skips a
// line that is too long and returns [ErrTooLong].
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > r.limit+2 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && len(line) == 0 && !tooLong:
			return nil, err
		case tooLong:
			return nil, ErrTooLong
		}
		if len(line) > 64<<10 && cap(line)-len(line) > len(line)/8 {
			line = bytes.Clone(line) // a call may retain the line for a long time, so the line must not have much unused capacity
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// More reports whether a complete line can be read without blocking.
func (r *Reader) More() bool {
	buffered, err := r.in.Peek(r.in.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// maxQueued is the maximum number of bytes queued for a client that does not read.
const maxQueued = 64 << 20

var errSlowClient = errors.New("the client does not read its messages")

const (
	bigPart  = 32 << 10  // parts of at least this size are written without copying
	maxBurst = 256 << 10 // maximum number of bytes held back while more messages are expected
	maxSpare = 1 << 20   // maximum size of a buffer that is reused
	maxNews  = 8 << 20   // number of queued bytes above which notifications are dropped
)

// A Writer writes lines to an output that nothing else uses. It is safe for concurrent use. Unless
// OwnGoroutine is set or the Writer is corked, a goroutine that sends a message also writes it. If
// another goroutine is writing, the message is queued instead, and the other goroutine writes it
// next. Several messages thus need only one system call, and no message waits for a goroutine to be
// scheduled. mu guards the fields below it. It is not held during a write.
type Writer struct {
	// OwnGoroutine makes the Writer use a goroutine of its own for writing, so that senders never
	// wait for this output. It must be set before the first Send.
	OwnGoroutine bool

	out    io.Writer
	broken chan struct{} // closed at the first error, or by Close

	mu      sync.Mutex
	idle    sync.Cond
	queue   []byte
	spare   []byte
	writing bool
	corks   int
	err     error
}

// NewWriter returns a writer for out. Nothing else may write to out from then on.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, broken: make(chan struct{})}
	w.idle.L = &w.mu
	return w
}

// Send writes the parts as one line. If another goroutine is writing or the Writer is corked, Send
// only queues the line.
func (w *Writer) Send(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return
	case len(w.queue) > maxNews && wire.IsNotification(parts[0]): // drop the notification, because no client waits for it
		return
	case !w.writing && !w.OwnGoroutine && slices.ContainsFunc(parts, func(part []byte) bool { return len(part) >= bigPart }):
		w.writeBig(parts)
		return
	}
	for _, part := range parts {
		w.queue = append(w.queue, part...)
	}
	w.queue = append(w.queue, '\n')
	switch {
	case w.writing && len(w.queue) > maxQueued:
		w.fail(errSlowClient)
	case w.writing || w.corks > 0 && len(w.queue) < maxBurst:
	default:
		w.begin()
	}
}

// Broken returns a channel that is closed at the first error, or by Close.
func (w *Writer) Broken() <-chan struct{} { return w.broken }

// Err returns the error that stopped the Writer, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Reply is the same as Send.
func (w *Writer) Reply(parts ...[]byte) { w.Send(parts...) }

// writeBig writes the queue and then one line, without copying the line's big parts. It then writes
// the messages sent during these writes.
func (w *Writer) writeBig(parts [][]byte) {
	w.writing = true
	out := w.take()
	for _, part := range parts {
		if len(part) < bigPart {
			out = append(out, part...)
			continue
		}
		w.write(out)
		w.write(part)
		out = out[:0]
	}
	w.drain(append(out, '\n'))
}

// Cork makes the Writer hold back messages until Uncork is called. It is used when more messages
// are about to follow.
func (w *Writer) Cork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corks++
}

// Uncork undoes one call to Cork. Once all calls have been undone, it writes the queue.
func (w *Writer) Uncork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corks--; w.corks == 0 && !w.writing {
		w.begin()
	}
}

// begin writes the queue or, if OwnGoroutine is set, starts a goroutine that does.
func (w *Writer) begin() {
	if !w.OwnGoroutine {
		w.drain(w.take())
		return
	}
	w.writing = true
	go func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.drain(w.take())
	}()
}

// drain writes the given buffer, which belongs to the Writer, and then the queue until it is empty.
// The caller must hold mu.
func (w *Writer) drain(out []byte) {
	w.writing = true
	for {
		w.write(out)
		if cap(out) <= maxSpare {
			w.spare = out[:0]
		}
		if len(w.queue) == 0 || w.err != nil {
			break
		}
		out = w.take()
	}
	w.writing = false
	w.idle.Broadcast()
}

// take removes and returns the queue.
func (w *Writer) take() []byte {
	queue := w.queue
	w.queue, w.spare = w.spare[:0], nil
	return queue
}

// write writes the given buffer. The caller must hold mu and must have set w.writing. mu is
// released during the write.
func (w *Writer) write(out []byte) {
	if len(out) == 0 || w.err != nil {
		return
	}
	w.mu.Unlock()
	_, err := w.out.Write(out)
	w.mu.Lock()
	if err != nil {
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.broken)
	}
}

// Close writes the queue. Messages sent later are dropped.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && w.err == nil {
		w.idle.Wait()
	}
	if !w.writing { // after an error, another goroutine may still be writing
		w.drain(w.take())
	}
	w.fail(io.ErrClosedPipe)
}

// AwaitIdle waits until all writes have ended. Close must be called first.
func (w *Writer) AwaitIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.idle.Wait()
	}
}
