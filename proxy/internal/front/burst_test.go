package front_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
	"github.com/petrigate/petrigate/proxy/internal/burst"
)

// batches is a recorder that counts the records of each write.
type batches struct {
	*proxytest.Memory
	mu     sync.Mutex
	writes []int // number of records of each write
}

func (b *batches) AppendAll(records [][]byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes = append(b.writes, len(records))
	for _, r := range records {
		if err := b.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// largest returns the largest number of records in one write.
func (b *batches) largest() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := 0
	for _, n := range b.writes {
		most = max(most, n)
	}
	return most
}

// TestBurst: calls that a client writes together are recorded together, each before it is
// forwarded. If they cannot be recorded, none is forwarded and nothing is taken.
func TestBurst(t *testing.T) {
	const calls = 20
	records := &batches{Memory: &proxytest.Memory{}}
	s := proxytest.Start(t, proxytest.Setup{Rules: fmt.Sprintf("limit read to %d per user\n", calls), Change: func(o *proxy.Options) { o.Recorder = records }})
	var said strings.Builder
	for id := range calls {
		fmt.Fprintf(&said, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read"}}`+"\n", id)
	}
	burst := func() string {
		t.Helper()
		var out bytes.Buffer
		if err := s.Proxy.ServeStdio(t.Context(), strings.NewReader(said.String()), &out); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	records.Fail.Store(true)
	if got := strings.Count(burst(), "The call was not made: cannot record the decision."); got != calls {
		t.Errorf("%d of %d calls are refused for want of a record", got, calls)
	}
	s.Executed("read", 0)
	records.Fail.Store(false)
	burst()
	s.AwaitExecuted("read", calls) // the whole budget
	if got := len(records.Decisions("allow")); got != calls {
		t.Errorf("%d calls are on record as allowed, want %d", got, calls)
	}
	if most := records.largest(); most < calls {
		t.Errorf("the largest write had %d records, though %d calls came together", most, calls)
	}
	s.Eventually("all outcomes are on record", func() bool { return len(records.Outcomes()) == calls })
	s.Executed("read", calls)
}

// TestLongBurst: of many calls that a client writes together, the first ones are sent before all
// are decided.
func TestLongBurst(t *testing.T) {
	const calls = 3 * burst.MaxMessages
	records := &batches{Memory: &proxytest.Memory{}}
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Recorder = records }})
	defer s.Upstream.Release()
	var said strings.Builder
	for id := range calls {
		fmt.Fprintf(&said, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow"}}`+"\n", id)
	}
	if err := s.Proxy.ServeStdio(t.Context(), strings.NewReader(said.String()), io.Discard); err != nil {
		t.Error(err)
	}
	if got := len(records.Decisions("allow")); got != calls {
		t.Errorf("%d calls are on record as allowed, want %d", got, calls)
	}
	records.mu.Lock()
	defer records.mu.Unlock()
	if most := slices.Max(records.writes[:3]); most > burst.MaxMessages {
		t.Errorf("writes of records: %v", records.writes)
	}
}

// TestTooLongEndsBurst: messages written together are answered, even if the last line is too long.
func TestTooLongEndsBurst(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.MaxRequest = 500 }})
	in, client := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Proxy.ServeStdio(t.Context(), in, out) }()
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}` + "\n"
	if _, err := client.Write([]byte(call + strings.Repeat("x", 600) + "\n")); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answers)
	for _, want := range []string{"is longer than 500 bytes", `"id":1,"result"`} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("%s, want %s", lines.Text(), want)
		}
	}
	_ = client.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestHandshakeEndsBurst: while a handshake waits for a server, messages written together with it
// are not held back.
func TestHandshakeEndsBurst(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Idle: true, Change: func(o *proxy.Options) {
		up, _ := proxytest.ChildUpstream(t, "--hang")
		o.Upstreams = []proxy.Upstream{up}
	}})
	s.Proxy.Start()
	ctx, leave := context.WithCancel(t.Context())
	in, client := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Proxy.ServeStdio(ctx, in, out) }()
	if _, err := client.Write([]byte(`{"jsonrpc":"2.0","id":"beside","method":"ping"}` + "\n" + proxytest.InitializeRequest + "\n")); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answers)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"beside","result"`) {
		t.Error(lines.Text())
	}
	leave()
	_ = answers.Close()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("the handshake did not wait: %v", err)
	}
}
