package control

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// TestChangesWaitsForChange checks that the first request does not wait, and that the next one
// waits until something changes, an approval expires, or either side disconnects.
func TestChangesWaitsForChange(t *testing.T) {
	type answer struct {
		Changes
		err error
	}
	for name, tt := range map[string]struct {
		happens func(b *fakeProxy, end, cancel func())
		want    operator.ApprovalState
		after   time.Duration
		problem string
	}{
		"a change": {func(b *fakeProxy, _, _ func()) {
			b.mu.Lock()
			b.expires = time.Now()
			b.mu.Unlock()
			close(b.changed)
		}, operator.Expired, 0, ""},
		"its time is over": {func(*fakeProxy, func(), func()) {}, operator.Expired, 3 * time.Second, ""},
		"nothing":          {func(b *fakeProxy, _, _ func()) { b.expires = b.expires.Add(time.Hour) }, operator.Pending, maxWait, ""},
		"the proxy ends":   {func(_ *fakeProxy, end, _ func()) { end() }, "", 0, errEnds.Error()},
		"the client ends":  {func(_ *fakeProxy, _, cancel func()) { cancel() }, "", 0, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &fakeProxy{changed: make(chan struct{}), expires: time.Now().Add(3 * time.Second)}
				if name == "nothing" {
					tt.happens(b, nil, nil)
				}
				ends := make(chan struct{})
				first, err := awaitChange(t.Context(), b, ends, "")
				if err != nil || first.Version == "" || len(first.Approvals) != 1 || first.Approvals[0].State != operator.Pending {
					t.Fatalf("%+v, %v", first, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began, next := time.Now(), make(chan answer, 1)
				go func() {
					now, err := awaitChange(ctx, b, ends, first.Version)
					next <- answer{now, err}
				}()
				synctest.Wait()
				if name != "nothing" {
					tt.happens(b, func() { close(ends) }, cancel)
				}
				got := <-next
				if waited := time.Since(began); waited != tt.after {
					t.Errorf("it waited %s", waited)
				}
				switch {
				case tt.problem != "":
					if got.err == nil || got.err.Error() != tt.problem {
						t.Errorf("%+v", got)
					}
				case got.err != nil || (got.Version == first.Version) != (tt.want == operator.Pending) || got.Approvals[0].State != tt.want:
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// TestCloseEndsFollowers checks that requests that wait for changes do not delay Close.
func TestCloseEndsFollowers(t *testing.T) {
	b := &fakeProxy{changed: make(chan struct{})}
	s := listen(t, socketDir(t), b)
	c := Dial(s.Path)
	first, err := c.Changes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Changes(t.Context(), first.Version)
		ended <- err
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), s.Path) && err.Error() != errEnds.Error() {
		t.Errorf("got %v", err)
	}
}
