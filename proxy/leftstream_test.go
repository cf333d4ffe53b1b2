package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestLeftStreamsHoldLittle: answers for clients that have left their streams are kept up to the
// principal's share, across all its sessions. A client that returns for a dropped answer is told
// that it is lost.
func TestLeftStreamsHoldLittle(t *testing.T) {
	soak.Bulk(t)
	const calls, size, most = 12, 3 << 20, 18 << 20
	for _, l := range legs()[1:] {
		if !l.http {
			continue
		}
		var answer [calls]chan struct{}
		for i := range answer {
			answer[i] = make(chan struct{})
		}
		long := testserver.Tool{Name: "long", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			c.Progress(1, 2)
			n, err := strconv.Atoi(string(c.Arg("n")))
			if err != nil {
				return nil, err
			}
			<-answer[n]
			return testserver.Text(strings.Repeat("x", size)), nil
		}}
		s := start(t, setup{rules: "block danger\n", server: testserver.Options{Tools: append(testserver.Attack(), long)}})
		clients := []*client{s.connect(l, ""), s.connect(l, "")}
		clients[0].must("safe", `{}`)
		before := heap()
		for i := range calls {
			c := clients[i%2]
			id := c.callWith("long", fmt.Sprintf(`{"n":%d}`, i), `"progressToken":"p"`, "")
			c.await("progress", func(m message) bool { return m.method == "notifications/progress" })
			c.leave([]string{id})
		}
		for i := range answer { // oldest first
			close(answer[i])
			s.eventually("it has ended", func() bool { return len(s.records.outcomes()) >= i+2 })
		}
		s.eventually("little is held", func() bool { return heap() < before+most })
		if l.modern {
			continue // no stream can be resumed
		}
		for n, kept := range map[int]bool{1: false, calls / 2: true} {
			body := clients[1].since(fmt.Sprint(n, "_1"))
			b, err := io.ReadAll(body)
			_ = body.Close()
			if err != nil || kept != (len(b) > size) || kept == strings.Contains(string(b), "the answer is lost") {
				t.Errorf("stream %d, %v: %.300s", n, err, b)
			}
		}
	}
}
