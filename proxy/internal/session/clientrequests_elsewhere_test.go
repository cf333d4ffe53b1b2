package session

import (
	"testing"
	"time"
)

// TestAskedElsewhere: a proxy distinguishes its own requests from those of another replica.
func TestAskedElsewhere(t *testing.T) {
	made := func() *Client { return New(Options{Shared: true}, nil, time.Now).NewClient("ann", &Session{}) }
	one, other := made(), made()
	q := &ClientRequest{Answer: func(_, _ []byte) {}}
	if !one.ClientRequests.Open(q) {
		t.Fatal("no place for a request")
	}
	if one.ClientRequests.AskedElsewhere(q.id) || !other.ClientRequests.AskedElsewhere(q.id) {
		t.Errorf("whose %s is, is not known", q.id)
	}
	for _, id := range []string{`1`, `"x"`, `""`} {
		if one.ClientRequests.AskedElsewhere([]byte(id)) {
			t.Errorf("%s is of no proxy", id)
		}
	}
}
