package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// An endpoint is an HTTP server. The test determines how it answers calls.
type endpoint struct {
	*httptest.Server
	t testing.TB

	call     func(w http.ResponseWriter, r *http.Request, m incoming) // handles a tools/call request
	get      func(w http.ResponseWriter, r *http.Request)             // handles the GET stream; nil if the server has no stream
	list     func(w http.ResponseWriter, m incoming)                  // handles a tools/list request
	modern   bool
	sessions atomic.Int64 // number of sessions issued
	valid    atomic.Value // current session; empty before the first

	arrived  chan struct{} // receives a value for each POST request
	mu       sync.Mutex
	messages []string // bodies of all POST requests
	headers  []http.Header
}

func serve(t testing.TB, e *endpoint) *endpoint {
	t.Helper()
	e.t = t
	e.arrived = make(chan struct{}, 1000)
	e.valid.Store("")
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) config() Config {
	return Config{Name: "web", URL: e.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer s3cr3t-value"}}
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		if e.get == nil {
			w.WriteHeader(405)
			return
		}
		e.get(w, r)
	case http.MethodPost:
		e.post(w, r)
	}
}

func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.messages = append(e.messages, string(body))
	e.headers = append(e.headers, r.Header.Clone())
	e.mu.Unlock()
	select {
	case e.arrived <- struct{}{}:
	default: // in a benchmark, no test receives the values
	}
	m := incoming{raw: string(body)}
	_ = json.Unmarshal(body, &m)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case m.Method == "server/discover" && e.modern:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, m.ID)
	case m.Method == "server/discover":
		w.WriteHeader(400)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: not initialized"}}`)
	case m.Method == "initialize":
		id := fmt.Sprintf("s-%d", e.sessions.Add(1))
		e.valid.Store(id)
		w.Header().Set("Mcp-Session-Id", id)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"w","version":"1"},"capabilities":{"tools":{"listChanged":true}}}}`, m.ID)
	case !e.modern && r.Header.Get("Mcp-Session-Id") != e.valid.Load():
		w.WriteHeader(404)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
	case m.Method == "tools/call":
		e.call(w, r, m)
	case m.Method == "tools/list":
		e.list(w, m)
	default:
		w.WriteHeader(202)
	}
}

// seen returns how many POST requests contain the given text.
func (e *endpoint) seen(text string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, m := range e.messages {
		if strings.Contains(m, text) {
			n++
		}
	}
	return n
}

// await waits until a POST request that contains the given text has arrived.
func (e *endpoint) await(text string) {
	for e.seen(text) == 0 {
		<-e.arrived
	}
}

func events(w http.ResponseWriter, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		fmt.Fprint(w, e, "\n\n")
		w.(http.Flusher).Flush()
	}
}

func TestHTTPAnswers(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":ID,"result":{"n":9007199254740993,"f":1.10}}`
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		body   string // body of the answer; ID stands for the request ID
		result string
		refuse string
		err    string
	}{
		"json":         {body: good, result: `{"n":9007199254740993,"f":1.10}`},
		"pretty":       {body: "{\"jsonrpc\":\"2.0\",\n\"id\":ID,\r\n\"result\":{\n\"a\": 1}}\n", result: "{\t\"a\": 1}"},
		"error":        {body: `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no","data":1.0}}`, refuse: `{"code":-32602,"message":"no","data":1.0}`},
		"status error": {answer: status(400), body: `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`, refuse: `{"code":-32602,"message":"no"}`},
		"status null":  {answer: status(500), body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}`, refuse: `{"code":-32603,"message":"no"}`},
		"other id":     {body: `{"jsonrpc":"2.0","id":777,"result":{}}`, err: "malformed"},
		"string id":    {body: `{"jsonrpc":"2.0","id":"ID","result":{}}`, err: "malformed"},
		"not json":     {body: `<html>`, err: "malformed"},
		"empty":        {body: ``, err: "malformed"},
		"accepted":     {answer: status(202), err: "sent no answer"},
		"no content":   {answer: status(204), err: "sent no answer"},
		"redirect":     {answer: redirect, err: "does not follow"},
		"forbidden":    {answer: status(403), body: "token s3cr3t-value \x1b[31m is bad", err: `403: token [redacted] \u{1b}[31m is bad`},
		"gateway":      {answer: status(502), body: "", err: "502"},
		"html":         {answer: contentType("text/html"), body: good, err: `content type "text/html"`},
		"no type":      {answer: contentType(""), body: good, err: "content type"},
		"stream":       {answer: contentType("text/event-stream"), body: "\xEF\xBB\xBF: hello\n\ndata: " + good + "\n\n", result: `{"n":9007199254740993,"f":1.10}`},
		"lines":        {answer: contentType("text/event-stream"), body: "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":ID,\"result\":{}}\r\n\r\n", result: `{}`},
		"stream end":   {answer: contentType("text/event-stream"), body: ": nothing\n\n", err: "ended the stream"},
		"half event":   {answer: contentType("text/event-stream"), body: "data: " + good + "\n", err: "ended the stream"},
		"bad event":    {answer: contentType("text/event-stream"), body: "data: garbage\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}\n\n", err: "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, &endpoint{call: func(w http.ResponseWriter, _ *http.Request, m incoming) {
				if c.answer != nil {
					c.answer(w)
				}
				fmt.Fprint(w, strings.ReplaceAll(c.body, "ID", string(m.ID)))
			}})
			s := start(t, e.config())
			r := <-s.tool("x", "{}").Done()
			if string(r.Result) != c.result || string(r.Error) != c.refuse || (r.Err == nil) != (c.err == "") {
				t.Fatalf("got %s %s %v", r.Result, r.Error, r.Err)
			}
			if r.Err != nil && (!strings.Contains(r.Err.Error(), c.err) || strings.Contains(r.Err.Error(), "s3cr3t") || errors.Is(r.Err, ErrNotSent)) {
				t.Error(r.Err)
			}
			if n := e.seen("tools/call"); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}

func redirect(w http.ResponseWriter) {
	w.Header().Set("Location", "http://127.0.0.1:1/steal")
	w.WriteHeader(307)
}

func contentType(t string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.Header()["Content-Type"] = []string{t} }
}

func TestStatusErrorsThatRefuse(t *testing.T) {
	for code, executed := range map[int]bool{401: false, 404: false, 307: false, 400: true, 500: true, 504: true} {
		if e := (&StatusError{Code: code}); e.Executed() != executed {
			t.Error(code)
		}
	}
}

func TestHeaders(t *testing.T) {
	e := serve(t, &endpoint{call: ok})
	s := start(t, e.config())
	s.answer(s.tool("grüße", "{}"))
	h := e.headers[len(e.headers)-1]
	for name, want := range map[string]string{
		"Mcp-Session-Id": "s-1", "Mcp-Protocol-Version": "2025-06-18", "Authorization": "Bearer s3cr3t-value",
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Mcp-Method": "",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
}

func TestModernHeaders(t *testing.T) {
	e := serve(t, &endpoint{call: ok, modern: true})
	s := start(t, e.config())
	s.answer(s.tool("do", "{}"))
	h := e.headers[len(e.headers)-1]
	for name, want := range map[string]string{
		"Mcp-Session-Id": "", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "do",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
}

func ok(w http.ResponseWriter, _ *http.Request, m incoming) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
}

// TestForgottenSession checks that if the server no longer knows the session, and thus has not
// executed the call, the call is sent again once in a new session, regardless of how many calls
// discover this at the same time.
func TestForgottenSession(t *testing.T) {
	e := serve(t, &endpoint{call: ok})
	s := start(t, e.config())
	e.valid.Store("forgotten")
	var exchanges []*Exchange
	for range 20 {
		exchanges = append(exchanges, s.tool("x", "{}"))
	}
	for _, x := range exchanges {
		s.answer(x)
	}
	if n := e.sessions.Load(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	s.await(Up) // once more, because the tools may have changed
}

// TestForgottenSessionInOtherWords checks that a call is executed once, in a new session, however
// the server reports an unknown session.
func TestForgottenSessionInOtherWords(t *testing.T) {
	rpc := func(code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, message)
	}
	for _, c := range []struct {
		status int
		body   string // "%s" stands for the request ID; an answer on a stream begins with "data:"
	}{
		{404, ""},
		{404, rpc(-32001, "Session not found")},
		{410, "gone"},
		{400, rpc(-32000, "Bad Request: No valid session ID provided")},
		{400, rpc(-32000, "Bad Request: Server not initialized")},
		{400, "Invalid session ID"},
		{400, `{"error":"Session s-1 has expired"}`},
		{400, `{"detail":"Unknown session"}`},
		{200, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`},
		{200, `data: {"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"session not found: s-1"}}`},
	} {
		t.Run(fmt.Sprint(c.status, c.body), func(t *testing.T) {
			e := serve(t, &endpoint{})
			var executed atomic.Int64
			e.call = func(w http.ResponseWriter, r *http.Request, m incoming) {
				if r.Header.Get("Mcp-Session-Id") != "s-1" {
					executed.Add(1)
					ok(w, r, m)
					return
				}
				body := strings.Replace(c.body, "%s", string(m.ID), 1)
				if strings.HasPrefix(body, "data:") {
					events(w, body)
					return
				}
				if !strings.HasPrefix(body, "{") {
					w.Header().Set("Content-Type", "text/plain")
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, body)
			}
			s := start(t, e.config())
			first, second := s.tool("x", "{}"), s.tool("y", "{}")
			s.answer(first)
			s.answer(second)
			if n, made := e.sessions.Load(), executed.Load(); n != 2 || made != 2 {
				t.Errorf("%d sessions, %d calls executed", n, made)
			}
		})
	}
}

// TestOtherRefusals checks that a refusal that does not concern the session is the answer to the
// call, which is not sent again.
func TestOtherRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		error  string
		sent   int
	}{
		{400, `{"code":-32602,"message":"argument session is missing"}`, 1},
		{400, `{"code":-32000,"message":"browser session not found"}`, 1},
		{403, `{"code":-32001,"message":"Session not found"}`, 1},
		{500, `{"code":-32001,"message":"Session not found"}`, 1},
		{200, `{"code":-32001,"message":"Request timed out"}`, 1},
		{200, `{"code":-32001,"message":"browser session not found"}`, 1},
		{200, `{"code":-32000,"message":"Session not found"}`, 1},
		{200, `{"code":-32001,"message":"Session not found"}`, 2}, // in the new session too: the error is the tool's
	} {
		t.Run(fmt.Sprint(c.status, c.error), func(t *testing.T) {
			e := serve(t, &endpoint{})
			e.call = func(w http.ResponseWriter, _ *http.Request, m incoming) {
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, c.error)
			}
			s := start(t, e.config())
			for range 3 { // later calls are not sent again
				if r := <-s.tool("x", "{}").Done(); string(r.Error) != c.error {
					t.Errorf("%+v", r)
				}
			}
			if n := e.seen("tools/call"); n != c.sent+2 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// TestRedirectedEndpoint checks that a handshake follows redirects on the same origin, and that
// calls go to the target of the redirect.
func TestRedirectedEndpoint(t *testing.T) {
	for _, code := range []int{301, 302, 307, 308} {
		for _, modern := range []bool{false, true} {
			e := serve(t, &endpoint{call: ok, modern: modern})
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/mcp" {
					w.Header().Set("Location", "/mcp/")
					w.WriteHeader(code)
					return
				}
				e.ServeHTTP(w, r)
			}))
			config := e.config()
			config.URL = front.URL + "/mcp"
			s := start(t, config)
			s.answer(s.tool("x", "{}"))
			front.Close()
		}
	}
}

// TestRedirectsWithoutEnd checks that endless redirects, and redirects to another origin, are not
// followed, and that no call is sent there.
func TestRedirectsWithoutEnd(t *testing.T) {
	for location, want := range map[string]string{
		"/mcp?again":                "redirects",
		"http://other.invalid/x?k=": "redirects to another address (http://other.invalid)",
		"https://%[1]s/mcp":         "redirects to another address (https://",
		"http://user@%[1]s/mcp":     "redirects to another address (http://",
		"":                          "redirects",
	} {
		asked := 0
		var e *httptest.Server
		e = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Location", strings.ReplaceAll(location, "%[1]s", e.Listener.Addr().String()))
			w.WriteHeader(307)
		}))
		subject := prepare(t, Config{Name: "web", URL: e.URL + "/mcp"})
		subject.Start(t.Context())
		st := subject.await(Down)
		subject.Close()
		if st.Err == nil || !strings.Contains(st.Err.Error(), want) || strings.Contains(st.Err.Error(), "k=") {
			t.Errorf("%s: %v", location, st.Err)
		}
		e.Close()
		if asked > 20 {
			t.Errorf("%s: asked %d times", location, asked)
		}
	}
}

func TestSessionThatNeverIs(t *testing.T) {
	e := serve(t, &endpoint{})
	e.call = func(w http.ResponseWriter, _ *http.Request, _ incoming) { w.WriteHeader(404) }
	s := start(t, e.config())
	if r := <-s.tool("x", "{}").Done(); r.Err == nil {
		t.Error(r)
	}
	if n := e.seen("tools/call"); n != 2 {
		t.Errorf("sent %d times", n)
	}
}

func TestMessagesOverHTTPAreBounded(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for name, call := range map[string]func(http.ResponseWriter, *http.Request, incoming){
		"length":  func(w http.ResponseWriter, _ *http.Request, _ incoming) { fmt.Fprint(w, big) },
		"chunked": func(w http.ResponseWriter, _ *http.Request, _ incoming) { w.(http.Flusher).Flush(); fmt.Fprint(w, big) },
		"line":    func(w http.ResponseWriter, _ *http.Request, _ incoming) { events(w, "data: "+big) },
		"event": func(w http.ResponseWriter, _ *http.Request, _ incoming) {
			events(w, strings.Repeat("data: "+big[:1000]+"\n", 1000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, &endpoint{call: call}).config()
			c.MaxMessage = 1 << 17
			s := start(t, c)
			if r := <-s.tool("x", "{}").Done(); !errors.Is(r.Err, process.ErrTooLong) {
				t.Errorf("%d %v", len(r.Result), r.Err)
			}
		})
	}
}

func TestCancelOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprint("modern ", modern), func(t *testing.T) {
			reached, gone := make(chan struct{}), make(chan struct{})
			e := serve(t, &endpoint{modern: modern})
			e.call = func(_ http.ResponseWriter, r *http.Request, _ incoming) {
				close(reached)
				<-r.Context().Done()
				close(gone)
			}
			s := start(t, e.config())
			x := s.tool("x", "{}")
			<-reached
			x.Cancel("enough")
			if modern { // closing the stream cancels the request
				<-gone
				r := <-x.Done()
				var lost *Lost
				if !errors.As(r.Err, &lost) || !lost.Sent || lost.Dead {
					t.Error(r.Err)
				}
				return
			}
			e.await(fmt.Sprintf(`"params":{"requestId":%d,"reason":"enough"}`, x.ID))
			select {
			case r := <-x.Done():
				t.Error("a legacy server may still answer", r)
			default:
			}
			s.Close()
			<-gone
			if r := <-x.Done(); r.Err == nil {
				t.Error(r)
			}
		})
	}
}

// TestDroppedConnections checks servers that accept connections and drop them, before or after
// reading.
func TestDroppedConnections(t *testing.T) {
	e := serve(t, &endpoint{})
	e.call = func(w http.ResponseWriter, _ *http.Request, _ incoming) {
		c, _, _ := w.(http.Hijacker).Hijack()
		c.Close()
	}
	s := start(t, e.config())
	r := <-s.tool("x", "{}").Done()
	var lost *Lost
	if !errors.As(r.Err, &lost) || !lost.Sent || errors.Is(r.Err, ErrNotSent) || e.seen("tools/call") != 1 {
		t.Error(r.Err, e.seen("tools/call"))
	}
}

func TestServerThatIsGone(t *testing.T) {
	e := serve(t, &endpoint{call: ok})
	address := e.Listener.Addr().String()
	s := start(t, e.config())
	e.Close()
	s.host.Client.CloseIdleConnections() // the end of the connection may be noticed late
	r := <-s.tool("x", "{}").Done()
	if !errors.Is(r.Err, ErrNotSent) {
		t.Fatal(r.Err)
	}
	s.await(Down)
	l, err := net.Listen("tcp", address) // the server is available again
	if err != nil {
		t.Skip(err)
	}
	back := httptest.NewUnstartedServer(e)
	back.Listener.Close()
	back.Listener = l
	back.Start()
	defer back.Close()
	s.await(Up)
	s.answer(s.tool("x", "{}"))
}

func TestIdleConnectionThatWasClosed(t *testing.T) {
	e := serve(t, &endpoint{call: ok})
	s := start(t, e.config())
	for range 100 {
		e.CloseClientConnections() // the next call finds its connection closed, or closing
		r := <-s.tool("x", "{}").Done()
		if r.Err != nil && !errors.As(r.Err, new(*Lost)) {
			t.Fatal(r.Err)
		}
	}
	if n := e.seen("tools/call"); n > 100 {
		t.Errorf("100 calls were sent %d times", n)
	}
}

func TestServerThatHangs(t *testing.T) {
	release := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer h.Close()
	defer close(release)
	s := prepare(t, Config{Name: "hang", URL: h.URL})
	s.host.Options.ConnectTimeout, s.probe = 100*time.Millisecond, 50*time.Millisecond
	s.Start(t.Context())
	if st := s.await(Down); !strings.Contains(st.Err.Error(), "did not complete the handshake") {
		t.Error(st.Err)
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	c := Config{Name: "web", URL: "http://user:pa55word@127.0.0.1:1/mcp?key=hunter22", Headers: map[string]string{"X-Key": "s3cr3t-value"}}
	s := prepare(t, c)
	s.Start(t.Context())
	st := s.await(Down)
	r := <-s.tool("x", "{}").Done()
	for _, text := range []string{st.Err.Error(), r.Err.Error(), s.log.String()} {
		for _, secret := range []string{"pa55word", "hunter22", "s3cr3t-value"} {
			if strings.Contains(text, secret) {
				t.Error(text)
			}
		}
	}
}

func TestAgainstTheFixtureOverHTTP(t *testing.T) {
	for _, era := range []testserver.Revisions{testserver.Legacy, testserver.Modern} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(era, stream), func(t *testing.T) {
				server := testserver.New(testserver.Options{Tools: testserver.Attack(), Revisions: era, Stream: stream, PageSize: 3})
				h := httptest.NewServer(server)
				defer h.Close()
				s := start(t, Config{Name: "f", URL: h.URL + "/mcp"})
				defer s.Close()
				if got := s.State().Rev(); (got == rev.Rev2026) != (era == testserver.Modern) {
					t.Fatal(got)
				}
				tools, err := s.ListTools(t.Context())
				if err != nil || len(tools.Tools) != len(testserver.Attack()) {
					t.Fatal(len(tools.Tools), err)
				}
				params := []byte(`{"name":"echo","arguments":{"a":1.10},"_meta":{` + string(s.RequestMeta(nil)) + `}}`)
				got := s.answer(s.Send(Request{Method: "tools/call", Name: "echo", Params: params}))
				if !bytes.Contains([]byte(got), []byte("1.10")) {
					t.Error(got)
				}
				server.AddTool(testserver.Tool{Name: "fresh"})
				for len(tools.Tools) == len(testserver.Attack()) { // the announcement arrives, however early the tool was added
					<-s.notes
					if tools, err = s.ListTools(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
