package pipeline_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// childURL runs the test binary as an upstream over HTTP, whose memory is separate from the test's.
func childURL(t *testing.T, flags string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), proxytest.ChildVariable+"=--http 127.0.0.1:0 "+flags)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return url
}

// upstreamKinds are upstreams of either family over either transport.
func upstreamKinds(t *testing.T, f func(t *testing.T, up func(t *testing.T) proxy.Upstream)) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run("stdio upstream "+era, func(t *testing.T) {
			f(t, func(t *testing.T) proxy.Upstream {
				u, _ := proxytest.ChildUpstream(t, "--era "+era)
				return u
			})
		})
		t.Run("http upstream "+era, func(t *testing.T) {
			f(t, func(t *testing.T) proxy.Upstream {
				return proxy.Upstream{Name: "up", URL: childURL(t, "--era "+era)}
			})
		})
	}
}

// TestUnansweredCallsHoldNothing: a call whose upstream does not answer keeps its arguments only
// until they are sent: not after it was cancelled, nor after its timeout.
func TestUnansweredCallsHoldNothing(t *testing.T) {
	const calls, most = 8, 3 << 19 // connections keep a buffer or two of the last messages
	size := 1 << 19
	if soak.Race { // it keeps memory of its own: nothing is measured
		size = 1 << 12
	}
	large := `{"silent":true,"x":"` + strings.Repeat("x", size) + `"}`
	unanswered := func(t *testing.T, l proxytest.Leg, u proxy.Upstream, timeout time.Duration) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) {
			u.Timeout = timeout
			o.Upstreams = []proxy.Upstream{u}
		}})
		c := s.Connect(l, "")
		before, ids := int(proxytest.HeapInUse()), []string{}
		for i := range calls {
			id := c.Call("lie", large)
			s.Eventually("it is let pass", func() bool { return len(s.Records.Decisions("allow")) == i+1 })
			if timeout == proxytest.Patience {
				c.Cancel(id)
			}
			ids = append(ids, id)
		}
		s.Eventually("none is waited for", func() bool { return len(s.Records.Outcomes()) >= calls })
		c.Leave(ids)
		s.Eventually("the upstream has read all of it", func() bool { return !c.Do("safe", `{}`).IsError() })
		if soak.Race {
			return
		}
		held, more := 0, 20
		defer func() {
			if t.Failed() {
				t.Logf("%d bytes are held of %d calls of %d", held, calls, size)
			}
		}()
		s.Eventually("the calls hold nothing", func() bool { // cancelled calls are released when their goroutines run
			if more > 0 { // each call leaves a record
				more--
				c.Do("safe", `{}`)
			}
			held = int(proxytest.HeapInUse()) - before
			return held <= most
		})
	}
	upstreamKinds(t, func(t *testing.T, up func(t *testing.T) proxy.Upstream) {
		for _, l := range proxytest.Legs() { // sequentially: all of them share one heap
			t.Run(l.Name, func(t *testing.T) {
				unanswered(t, l, up(t), proxytest.Patience)
				if l.Name == "http" {
					unanswered(t, l, up(t), 100*time.Millisecond)
				}
			})
		}
	})
}
