package conn

import (
	"context"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TestOnOver checks that f is called before everything else that follows the end of a request,
// because that may end the stream to the client.
func TestOnOver(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(*ServerRequests, *ServerRequest)
		want []string
	}{
		{"answered", func(_ *ServerRequests, q *ServerRequest) { q.Refuse(-32603, "late"); q.Result([]byte(`{}`)) }, []string{"over", "sent"}},
		{"cancelled", func(all *ServerRequests, q *ServerRequest) {
			all.Cancelled([]byte(`{"requestId":7,"reason":"why not"}`))
			q.Result([]byte(`{}`))
		}, []string{"over, why not"}},
		{"closed", func(all *ServerRequests, q *ServerRequest) {
			all.Close()
			all.Cancelled([]byte(`{"requestId":7}`))
			q.Result([]byte(`{}`))
		}, []string{"over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all ServerRequests
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

func overFor(q *ServerRequest) string {
	if err := q.Context().Err(); err == nil {
		return "not over"
	}
	if reason, ok := context.Cause(q.Context()).(Withdrawn); ok {
		return "over, " + string(reason)
	}
	return "over"
}

// TestServerRequestsAreBounded checks that a server is refused if it sends requests faster than
// they are answered, and that each request gets one answer.
func TestServerRequestsAreBounded(t *testing.T) {
	var table ServerRequests
	answers := 0
	ask := func(id string) *ServerRequest {
		return table.take(wire.Message{Kind: wire.Request, ID: []byte(id), Method: "roots/list"}, func([]byte) { answers++ })
	}
	first := ask("1")
	if ask("1") != nil {
		t.Error("one id stands for two requests")
	}
	for i := range 2 * maxServerRequests {
		ask(`"` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `"`)
	}
	if n := len(table.byID); n != maxServerRequests {
		t.Errorf("%d wait", n)
	}
	first.Result([]byte(`{}`))
	first.Refuse(1, "again")
	if answers != 1 || first.Context().Err() == nil {
		t.Errorf("%d answers", answers)
	}
	second := ask("1")
	table.Cancelled([]byte(`{"requestId":1}`))
	second.Result([]byte(`{}`))
	table.Close()
	if answers != 1 || second.Context().Err() == nil || ask("2") != nil {
		t.Errorf("%d answers after the end", answers)
	}
}
