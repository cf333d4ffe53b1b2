package lines

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A blocked is an output that blocks until it is released.
type blocked struct {
	release, entered chan struct{}
	out              bytes.Buffer
	writing          atomic.Bool
}

func (b *blocked) Write(p []byte) (int, error) {
	b.writing.Store(true)
	defer b.writing.Store(false)
	select {
	case b.entered <- struct{}{}:
	default:
	}
	<-b.release
	return b.out.Write(p)
}

// TestNewsAreDropped covers F022: if a client does not read, notifications are dropped before the
// connection is closed, and every answer arrives.
func TestNewsAreDropped(t *testing.T) {
	for _, aside := range []bool{false, true} {
		out := &blocked{release: make(chan struct{}), entered: make(chan struct{}, 1)}
		w := NewWriter(out)
		w.OwnGoroutine = aside
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Send([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`)) // blocks, unless another goroutine writes
		}()
		<-out.entered
		news := wire.AppendNotification(nil, "notifications/message", fmt.Appendf(nil, `{"data":"%01000000d"}`, 0))
		for range 2 * maxQueued / len(news) {
			w.Send(news)
		}
		const answers = 100
		for i := range answers {
			w.Reply(wire.AppendResult(nil, fmt.Append(nil, i+1), []byte(`{}`)))
		}
		close(out.release)
		<-done
		w.Close()
		w.AwaitIdle()
		if n := bytes.Count(out.out.Bytes(), []byte(`"result":{}}`+"\n")); n != answers+1 {
			t.Errorf("aside %t: %d answers came, want %d", aside, n, answers+1)
		}
		if n := bytes.Count(out.out.Bytes(), []byte("notifications/message")); n == 0 || n > maxNews/len(news)+2 {
			t.Errorf("aside %t: %d notifications came", aside, n)
		}
	}
}

// TestIdleAfterSlowClient checks that AwaitIdle waits for the write that is under way when the
// queue for a client that does not read has become too long. Over HTTP, the output must not be used
// after the handler has returned.
func TestIdleAfterSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &blocked{release: make(chan struct{}), entered: make(chan struct{}, 1)}
		w := NewWriter(out)
		w.OwnGoroutine = true
		w.Send([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`))
		<-out.entered
		answer := wire.AppendResult(nil, []byte("1"), make([]byte, maxQueued/4))
		for range 5 {
			w.Reply(answer)
		}
		if <-w.Broken(); !errors.Is(w.Err(), errSlowClient) {
			t.Fatal(w.Err())
		}
		go func() {
			<-time.After(time.Second) // until both have waited
			close(out.release)
		}()
		w.Close()
		w.AwaitIdle()
		if out.writing.Load() {
			t.Error("AwaitIdle returned during a write")
		}
	})
}
