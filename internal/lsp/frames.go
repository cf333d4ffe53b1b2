package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Limits on the size of a message, in bytes.
const (
	maxMessage = 32 << 20
	maxHeader  = 8 << 10
)

// A frames value reads and writes JSON-RPC messages with the header fields of the LSP base
// protocol. It implements [jsonrpc2.ObjectStream]. It answers a message that is not valid JSON-RPC
// with an error and skips it. An invalid header ends the stream, because the start of the next
// message is then unknown.
type frames struct {
	in  *bufio.Reader
	end io.Closer // closes the input; may be nil

	mu  sync.Mutex
	out io.Writer
}

func newFrames(in io.Reader, out io.Writer) *frames {
	f := &frames{in: bufio.NewReader(in), out: out}
	f.end, _ = in.(io.Closer)
	return f
}

// ReadObject reads the next valid message into v.
func (f *frames) ReadObject(v any) error {
	for {
		body, err := readFrame(f.in)
		if err != nil {
			return err
		}
		if err = json.Unmarshal(body, v); err == nil {
			return nil
		}
		if err := f.refuse(body, err); err != nil {
			return err
		}
	}
}

// refuse responds to an invalid message with an error. The ID in the response is null, since the ID
// in the message cannot be trusted.
func (f *frames) refuse(body []byte, why error) error {
	code := jsonrpc2.CodeInvalidRequest
	if !json.Valid(body) {
		code = jsonrpc2.CodeParseError
	}
	type answer struct {
		Version string         `json:"jsonrpc"`
		ID      *int           `json:"id"`
		Error   jsonrpc2.Error `json:"error"`
	}
	return f.WriteObject(answer{Version: "2.0", Error: jsonrpc2.Error{Code: int64(code), Message: why.Error()}})
}

// WriteObject writes a message. It is safe for concurrent use.
func (f *frames) WriteObject(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// Close closes the input, if it can be closed. This unblocks a pending read.
func (f *frames) Close() error {
	if f.end == nil {
		return nil
	}
	return f.end.Close()
}

// readFrame reads the headers and the body of a message.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for read := 0; ; {
		line, err := readLine(r, maxHeader-read)
		if err != nil {
			return nil, err
		}
		read += len(line) + 1
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("a header without a colon: %.40q", line)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
			return nil, fmt.Errorf("the Content-Length %.40q is not a number, or is over %d", strings.TrimSpace(value), maxMessage)
		}
	}
	if length < 0 {
		return nil, errors.New("a message without a Content-Length")
	}
	var body strings.Builder // grows with the data received, because the announced length may be wrong
	if n, err := io.CopyN(&body, r, int64(length)); err != nil {
		return nil, fmt.Errorf("a message ends after %d of %d bytes: %w", n, length, io.ErrUnexpectedEOF)
	}
	return []byte(body.String()), nil
}

// readLine reads a header line of at most limit bytes and returns it without its line ending.
func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		b, err := r.ReadByte()
		switch {
		case err == io.EOF && len(line) > 0:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case b == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case len(line) >= limit:
			return "", fmt.Errorf("the headers of a message are over %d bytes", maxHeader)
		}
		line = append(line, b)
	}
}
