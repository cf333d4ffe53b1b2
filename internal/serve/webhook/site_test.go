package webhook_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/serve/webhook"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

func TestMain(m *testing.M) { leftover.Main(m) }

const (
	secret   = "correct horse battery staple"
	patience = 30 * time.Second // limit for waiting for an event
)

// A delivery is a POST to the operator's system.
type delivery struct {
	Event, Delivery, ID, State, Upstream, Tool, SHA256, Client, Question, Nonce, Answer, Approve, Deny, Channel, Actor, Reason string

	Version, Size, Needs int
	LeftOut              bool `json:"argumentsLeftOut"`
	Arguments            json.RawMessage
	Rules                []string

	header http.Header
	body   []byte
}

// A setup configures a site.
type setup struct {
	rules   string                                   // empty means require human-approval before deploy
	respond func(http.ResponseWriter, *http.Request) // responds on behalf of the system; nil means 202
	change  func(*webhook.Options, *proxy.Options)   // may be nil
}

// A site consists of a real proxy with one client and one server, a hook, and the operator's
// system.
type site struct {
	t        *testing.T
	executed *testserver.Log
	proxy    *proxy.Proxy
	hook     *webhook.Hook
	answers  string // URL of the endpoint
	got      chan delivery
	logged   *lockedBuffer

	mu      sync.Mutex
	skew    time.Duration // how far the hook's clock is ahead
	in      io.Writer
	calls   int
	replies map[string]chan string
}

// A later implements Approvals for a hook that is created before its proxy.
type later struct{ *proxy.Proxy }

func start(t *testing.T, s setup) *site {
	t.Helper()
	st := &site{t: t, executed: &testserver.Log{}, got: make(chan delivery, 100), logged: &lockedBuffer{}, replies: map[string]chan string{}}
	server := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack(), Record: st.executed.Add}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	system := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { st.receive(s.respond, w, r) }))
	t.Cleanup(system.Close)

	approvals := &later{}
	log := slog.New(slog.NewTextHandler(st.logged, nil))
	ho := webhook.Options{URL: system.URL + "/hooks/T0001", Secret: secret, Approvals: approvals, Log: log, Now: st.clock, Retry: time.Millisecond}
	po := proxy.Options{
		Upstreams: []proxy.Upstream{{Name: "up", URL: server.URL + "/mcp"}}, Startup: patience, Logger: log,
		Approval: proxy.Approval{Channels: []string{"cli", "webhook"}, Hold: patience},
	}
	po.Policy = policyOf(t, cmp.Or(s.rules, "require human-approval before deploy\n"))
	if s.change != nil {
		s.change(&ho, &po)
	}
	var err error
	if st.hook, err = webhook.New(ho); err != nil {
		t.Fatal(err)
	}
	po.Approval.Asked = st.hook.Asked
	if st.proxy, err = proxy.New(po); err != nil {
		t.Fatal(err)
	}
	approvals.Proxy = st.proxy
	endpoint := httptest.NewServer(st.hook.Handler())
	st.answers = endpoint.URL
	t.Cleanup(func() {
		if err := st.proxy.Close(); err != nil {
			t.Error(err)
		}
		st.hook.Close()
		endpoint.Close()
	})
	st.hook.Start(endpoint.URL)
	st.proxy.Start()
	st.proxy.AwaitTools(t.Context())
	st.connect()
	return st
}

func policyOf(t *testing.T, text string) *gate.Policy {
	t.Helper()
	r, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "safety.rules", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.skew)
}

// shift moves the hook's clock forward.
func (s *site) shift(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = by
}

// receive acts as the operator's system and verifies the signature of each POST.
func (s *site) receive(respond func(http.ResponseWriter, *http.Request), w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	d := delivery{header: r.Header, body: body}
	if err == nil {
		err = json.Unmarshal(body, &d)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/hooks/T0001" || !signed(r.Header, body) {
		s.t.Errorf("%s %s: %v\n%s", r.Method, r.URL, err, body)
	}
	s.got <- d
	if respond == nil {
		w.WriteHeader(http.StatusAccepted)
	} else {
		respond(w, r)
	}
}

// waiting waits until an approval is pending and returns its ID.
func (s *site) waiting() string {
	s.t.Helper()
	for {
		changed := s.proxy.ApprovalsChanged()
		for _, a := range s.proxy.Approvals() {
			if a.State == operator.Pending {
				return a.ID
			}
		}
		select {
		case <-changed:
		case <-time.After(patience):
			s.t.Fatal("nothing waits")
		}
	}
}

// next returns the next message that the system receives.
func (s *site) next(event string) delivery {
	s.t.Helper()
	select {
	case d := <-s.got:
		if d.Event != event {
			s.t.Fatalf("got %s, want %s:\n%s", d.Event, event, d.body)
		}
		return d
	case <-time.After(patience):
		s.t.Fatalf("nothing was posted\n%s", s.logged)
		return delivery{}
	}
}

// connect connects a client over stdio.
func (s *site) connect() {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.proxy.ServeStdio(ctx, inR, outW)
	}()
	s.t.Cleanup(func() {
		cancel()
		_ = inW.Close()
		_ = outR.Close()
		<-served
	})
	s.in = inW
	go s.read(outR)
	s.send(`{"jsonrpc":"2.0","id":"0","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tes\u202eter","version":"1"}}}`, "0")
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (s *site) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var m struct{ ID string }
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		s.mu.Lock()
		to := s.replies[m.ID]
		s.mu.Unlock()
		if to != nil {
			to <- lines.Text()
		}
	}
}

func (s *site) write(line string) {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Error(err)
	}
}

// send sends a request and returns a channel that receives the response.
func (s *site) send(line, id string) <-chan string {
	reply := make(chan string, 1)
	s.mu.Lock()
	s.replies[id] = reply
	s.mu.Unlock()
	s.write(line)
	return reply
}

// call calls a tool.
func (s *site) call(tool, args string) <-chan string {
	s.mu.Lock()
	s.calls++
	id := fmt.Sprint(s.calls)
	s.mu.Unlock()
	return s.send(`{"jsonrpc":"2.0","id":"`+id+`","method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`, id)
}

// reply waits for the result of a call.
func (s *site) reply(from <-chan string) string {
	s.t.Helper()
	select {
	case r := <-from:
		return r
	case <-time.After(patience):
		s.t.Fatalf("no reply\n%s", s.logged)
		return ""
	}
}

// ran checks how many times a tool was executed.
func (s *site) ran(tool string, want int) {
	s.t.Helper()
	if n := s.executed.Executed(tool); n != want {
		s.t.Errorf("%s was executed %d times, want %d", tool, n, want)
	}
}

// pending checks that an approval is still pending.
func (s *site) pending(id string) {
	s.t.Helper()
	if state := s.proxy.ApprovalState(id); state != operator.Pending {
		s.t.Errorf("approval %s is %q", id, state)
	}
}

// post posts a body with the given headers, listed as alternating names and values.
func (s *site) post(url string, body []byte, headers ...string) (status int, said string) {
	s.t.Helper()
	return s.do(http.MethodPost, url, body, headers...)
}

func (s *site) do(method, url string, body []byte, headers ...string) (status int, said string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// answer posts a signed answer.
func (s *site) answer(body string) (status int, said string) {
	s.t.Helper()
	return s.post(s.answers+"/answer", []byte(body), "X-Petrigate-Signature", sign(secret, []byte(body), time.Now()))
}

func say(d delivery, decision, actor string) string {
	return `{"id":"` + d.ID + `","nonce":"` + d.Nonce + `","decision":"` + decision + `","actor":"` + actor + `","reason":"checked"}`
}

// A lockedBuffer is a log that can be read while it is being written.
type lockedBuffer struct {
	mu      sync.Mutex
	b       strings.Builder
	written chan struct{} // closed when the next line is written; nil if no one waits
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written != nil {
		close(b.written)
		b.written = nil
	}
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// says waits until the log contains the given text.
func (s *site) says(text string) {
	s.t.Helper()
	for {
		s.logged.mu.Lock()
		if s.logged.written == nil {
			s.logged.written = make(chan struct{})
		}
		written := s.logged.written
		s.logged.mu.Unlock()
		if strings.Contains(s.logged.String(), text) {
			return
		}
		select {
		case <-written:
		case <-time.After(patience):
			s.t.Fatalf("the log does not say %q:\n%s", text, s.logged)
		}
	}
}
