package upstream

import (
	"context"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// A notebook is a connection that only notes what is done on it.
type notebook struct {
	conn.Conn
	sent, cancelled chan int64
}

func (n *notebook) Send(x *Exchange)             { n.sent <- x.ID }
func (n *notebook) Cancel(x *Exchange, _ string) { n.cancelled <- x.ID }

// TestAcknowledged: a subscription counts when it is acknowledged itself. That the
// one before it is, however late that is heard, says nothing about it.
func TestAcknowledged(t *testing.T) {
	heard := make(chan struct{}, 9)
	u := New(Config{}, Options{OnListen: func() { heard <- struct{}{} }})
	n := &notebook{sent: make(chan int64, 9), cancelled: make(chan int64, 9)}
	acknowledge := func(id int64) {
		u.host.Heard("notifications/subscriptions/acknowledged", fmt.Appendf(nil, `{"_meta":{"io.modelcontextprotocol/subscriptionId":%d}}`, id))
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.subscribe(ctx, n, []byte(`{"tools":{"listChanged":true}}`))
	}()
	first := <-n.sent
	u.Watch([]string{"a://b"})
	second := <-n.sent
	acknowledge(first)
	u.Watch([]string{"a://c"}) // when it is acted on, so has been what came before
	third := <-n.sent
	if id := <-n.cancelled; id != first || len(heard) > 0 {
		t.Errorf("%d is cancelled, want %d; heard %d times", id, first, len(heard))
	}
	acknowledge(second)
	acknowledge(third)
	if id := <-n.cancelled; id != second {
		t.Errorf("%d is cancelled, want %d", id, second)
	}
	<-heard
	u.host.Heard("notifications/subscriptions/acknowledged", []byte(`{}`)) // by a server that does not say of which
	stop()
	<-done
	if len(heard)+len(n.cancelled) > 0 {
		t.Errorf("heard %d times more, %d cancelled more", len(heard), len(n.cancelled))
	}
}
