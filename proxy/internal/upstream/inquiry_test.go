package upstream

import (
	"context"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TestOnOver: who was asked is told that nothing is wanted of them any more
// before anything else happens: what follows may end the stream to them.
func TestOnOver(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(*inquiries, *Inquiry)
		want []string
	}{
		{"answered", func(_ *inquiries, q *Inquiry) { q.Refuse(-32603, "late"); q.Result([]byte(`{}`)) }, []string{"over", "sent"}},
		{"cancelled", func(all *inquiries, q *Inquiry) {
			all.cancelled([]byte(`{"requestId":7,"reason":"why not"}`))
			q.Result([]byte(`{}`))
		}, []string{"over, why not"}},
		{"closed", func(all *inquiries, q *Inquiry) {
			all.close()
			all.cancelled([]byte(`{"requestId":7}`))
			q.Result([]byte(`{}`))
		}, []string{"over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all inquiries
			var got []string
			q := all.take(wire.Message{ID: []byte("7"), Method: "roots/list"}, func([]byte) { got = append(got, "sent") })
			over := func() { got = append(got, overFor(q)) }
			q.OnOver(over)
			c.ends(&all, q)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			got = nil
			if q.OnOver(over); len(got) != 1 {
				t.Errorf("told %d times of what was over already", len(got))
			}
		})
	}
}

func overFor(q *Inquiry) string {
	if err := q.Context().Err(); err == nil {
		return "not over"
	}
	if reason, ok := context.Cause(q.Context()).(Withdrawn); ok {
		return "over, " + string(reason)
	}
	return "over"
}
