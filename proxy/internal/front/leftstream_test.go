package front_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestLeftStreamsHoldLittle: answers for clients that have left their streams are kept up to the
// principal's share, across all its sessions. A client that returns for a dropped answer is told
// that it is lost.
func TestLeftStreamsHoldLittle(t *testing.T) {
	soak.Bulk(t)
	const calls, size, most = 12, 3 << 20, 18 << 20
	for _, l := range proxytest.Legs()[1:] {
		if !l.HTTP {
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
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Server: testserver.Options{Tools: append(testserver.Attack(), long)}})
		clients := []*proxytest.Client{s.Connect(l, ""), s.Connect(l, "")}
		clients[0].Must("safe", `{}`)
		before := proxytest.HeapInUse()
		for i := range calls {
			c := clients[i%2]
			id := c.CallWith("long", fmt.Sprintf(`{"n":%d}`, i), `"progressToken":"p"`, "")
			c.Await("progress", func(m proxytest.Message) bool { return m.Method == "notifications/progress" })
			c.Leave([]string{id})
		}
		for i := range answer { // oldest first
			close(answer[i])
			s.Eventually("it has ended", func() bool { return len(s.Records.Outcomes()) >= i+2 })
		}
		s.Eventually("little is held", func() bool { return proxytest.HeapInUse() < before+most })
		if l.Modern {
			continue // no stream can be resumed
		}
		for n, kept := range map[int]bool{1: false, calls / 2: true} {
			body := clients[1].StreamSince(fmt.Sprint(n, "_1"))
			b, err := io.ReadAll(body)
			_ = body.Close()
			if err != nil || kept != (len(b) > size) || kept == strings.Contains(string(b), "this request is lost") {
				t.Errorf("stream %d, %v: %.300s", n, err, b)
			}
		}
	}
}
