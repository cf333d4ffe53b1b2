package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
)

// TestBegin checks that an abandoned exchange is not sent, and that an exchange on the caller's
// goroutine has its reply when Send returns.
func TestBegin(t *testing.T) {
	var calls atomic.Int32
	e := serve(t, &endpoint{call: func(w http.ResponseWriter, _ *http.Request, m incoming) {
		calls.Add(1)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	}})
	u := start(t, e.config())
	send := func(wanted bool) (begun *Exchange, got []Reply) {
		u.Send(Request{
			Method: "tools/call", Params: []byte(`{"name":"x"}`), Here: true,
			Begin:   func(x *Exchange) bool { begun = x; return wanted },
			Deliver: func(r Reply) { got = append(got, r) },
		})
		return begun, got
	}
	if x, got := send(false); x == nil || len(got) != 1 || !errors.Is(got[0].Err, ErrNotSent) || calls.Load() != 0 {
		t.Errorf("unwanted: %v, %d calls", got, calls.Load())
	}
	if x, got := send(true); x == nil || len(got) != 1 || string(got[0].Result) != "{}" || calls.Load() != 1 {
		t.Errorf("wanted: %v, %d calls", got, calls.Load())
	}
}
