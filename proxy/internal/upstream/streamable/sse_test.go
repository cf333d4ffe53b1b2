package streamable

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzEvents checks that events are the same whether they arrive at once or byte by byte, and that
// they are never larger than the stream.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: a\ndata: b\n\n: c\n\ndata\n\nretry: 5\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (out [][]byte) {
			events := NewEventReader(r, 1<<20)
			for {
				e, err := events.Next()
				if err != nil {
					return out
				}
				out = append(out, e.Data)
			}
		}
		whole, bit := read(bytes.NewReader(data)), read(iotest.OneByteReader(bytes.NewReader(data)))
		total := 0
		for _, d := range whole {
			total += len(d)
		}
		if !bytes.Equal(bytes.Join(whole, []byte("|")), bytes.Join(bit, []byte("|"))) || total > len(data) {
			t.Errorf("%q, %q", whole, bit)
		}
	})
}
