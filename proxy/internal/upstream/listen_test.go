package upstream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// A notebook is a connection that only records calls of its methods.
type notebook struct {
	conn.Conn
	sent, cancelled chan int64
}

func (n *notebook) Send(x *Exchange)             { n.sent <- x.ID }
func (n *notebook) Cancel(x *Exchange, _ string) { n.cancelled <- x.ID }

// TestAcknowledged checks that a subscription counts only once it has been acknowledged itself. A
// late acknowledgement of the previous one has no effect.
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
	u.Watch([]string{"a://c"}) // when this has been handled, earlier changes have been handled, too
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
	u.host.Heard("notifications/subscriptions/acknowledged", []byte(`{}`)) // from a server that does not name the subscription
	stop()
	<-done
	if len(heard)+len(n.cancelled) > 0 {
		t.Errorf("heard %d times more, %d cancelled more", len(heard), len(n.cancelled))
	}
}

// TestUnwatchedEndsSubscription checks that a subscription ends when no resource is watched any
// more and the server announces no changes of lists, and that a later one begins anew.
func TestUnwatchedEndsSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := New(Config{}, Options{OnListen: func() {}})
		n := &notebook{sent: make(chan int64, 9), cancelled: make(chan int64, 9)}
		ctx, stop := context.WithCancel(t.Context())
		u.watched.Store(&[]string{"a://b"})
		go u.subscribe(ctx, n, []byte(`{"tools":{}}`))
		first := <-n.sent
		u.Watch(nil)
		if id := <-n.cancelled; id != first {
			t.Errorf("%d is cancelled, want %d", id, first)
		}
		u.Watch([]string{"a://c"})
		if id := <-n.sent; id == first {
			t.Errorf("%d is sent again", id)
		}
		stop()
		synctest.Wait()
	})
}
