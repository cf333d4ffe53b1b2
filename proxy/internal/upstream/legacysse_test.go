package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/httpsse"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// TestSSE checks that an HTTP+SSE server of another library works, whether configured as such or
// detected.
func TestSSE(t *testing.T) {
	for _, sse := range []bool{true, false} {
		t.Run(fmt.Sprint("configured ", sse), func(t *testing.T) {
			m := mcpserver.NewMCPServer("old", "1", mcpserver.WithToolCapabilities(true))
			m.AddTool(mcp.NewTool("greet"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("hello " + r.GetString("name", "")), nil
			})
			old := mcpserver.NewSSEServer(m)
			web := httptest.NewServer(old)
			t.Cleanup(web.Close)
			t.Cleanup(web.CloseClientConnections)
			s := prepare(t, Config{Name: "old", URL: web.URL + "/sse", SSE: sse})
			s.Start(t.Context())
			if st := s.await(Up); st.Rev() != rev.Rev2025 || !strings.Contains(string(st.ServerInfo), `"old"`) {
				t.Errorf("%+v", st)
			}
			var calls []*Exchange
			for i := range 50 {
				calls = append(calls, s.tool("greet", fmt.Sprintf(`{"name":"n%d"}`, i)))
			}
			for i, x := range calls {
				if got := s.answer(x); !strings.Contains(got, fmt.Sprintf(`"hello n%d"`, i)) {
					t.Errorf("%d: %s", i, got)
				}
			}
			m.AddTool(mcp.NewTool("later"), nil)
			for note := range s.notes {
				if strings.HasPrefix(note, "notifications/tools/list_changed") {
					break
				}
			}
		})
	}
}

// A stream is an HTTP+SSE server. The test determines its answers.
type stream struct {
	*httptest.Server
	endpoint string                       // address for messages, as announced first
	posted   chan incoming                // all messages, except those of the handshake
	said     chan string                  // text to write to the stream unchanged; if empty, the stream ends
	status   func(m incoming) (code int)  // status of the response to a POST; nil means 202
	opened   chan http.Header             // headers of each stream
	named    func(w io.Writer, at string) // writes the first event; nil to write the correct one
}

func streams(t *testing.T, s *stream) *stream {
	t.Helper()
	s.posted, s.said, s.opened = make(chan incoming, 100), make(chan string, 100), make(chan http.Header, 100)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	if s.endpoint == "" {
		s.endpoint = "/messages?session=1"
	}
	return s
}

func (s *stream) config() Config {
	return Config{Name: "old", URL: s.URL + "/sse", SSE: true, Headers: map[string]string{"X-Key": "s3cr3t"}}
}

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.post(w, r)
		return
	}
	s.opened <- r.Header.Clone()
	w.Header().Set("Content-Type", "text/event-stream")
	if s.named == nil {
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", s.endpoint)
	} else {
		s.named(w, s.endpoint)
	}
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case message := <-s.said:
			if message == "" {
				return
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", message)
		case <-r.Context().Done():
			return
		}
	}
}

func (s *stream) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := incoming{raw: string(body)}
	_ = json.Unmarshal(body, &m)
	code := http.StatusAccepted
	if s.status != nil {
		code = s.status(m)
	}
	w.WriteHeader(code)
	switch {
	case code != http.StatusAccepted:
		fmt.Fprint(w, "no, s3cr3t")
	case m.Method == "initialize":
		s.said <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"o","version":"1"},"capabilities":{"tools":{}}}}`, m.ID)
	case m.Method == "notifications/initialized":
	default:
		s.posted <- m
	}
}

// TestSSELost checks that after the end of the stream, the outcome of requests in flight is
// unknown. Nothing is sent again, and the next stream is a new session.
func TestSSELost(t *testing.T) {
	t.Parallel()
	web := streams(t, &stream{})
	s := start(t, web.config())
	if h := <-web.opened; h.Get("X-Key") != "s3cr3t" {
		t.Errorf("headers %v", h)
	}
	x := s.tool("write", `{}`)
	first := <-web.posted
	web.said <- ""
	var lost *Lost
	if r := <-x.Done(); !errors.As(r.Err, &lost) || !lost.Sent || lost.Dead {
		t.Errorf("%+v", r)
	}
	s.await(Up)
	<-web.opened
	again := s.tool("write", `{}`)
	second := <-web.posted
	if string(first.ID) == string(second.ID) {
		t.Error("it was sent again")
	}
	web.said <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"late":true}}`, first.ID)
	web.said <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"x":1E400}}`, second.ID)
	if got := s.answer(again); got != `{"x":1E400}` {
		t.Errorf("%s", got)
	}
}

// TestSSERefused checks that if the status of the POST is an error, it is the answer.
func TestSSERefused(t *testing.T) {
	web := streams(t, &stream{status: func(m incoming) int {
		if m.Method == "tools/call" {
			return http.StatusNotFound
		}
		return http.StatusAccepted
	}})
	s := start(t, web.config())
	var status *StatusError
	if r := <-s.tool("write", `{}`).Done(); !errors.As(r.Err, &status) || status.Code != 404 || status.Executed() || strings.Contains(status.Excerpt, "s3cr3t") {
		t.Errorf("%+v", r)
	}
}

// TestSSEOtherOrigin checks that credentials are sent only to the configured origin.
func TestSSEOtherOrigin(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked elsewhere") }))
	t.Cleanup(elsewhere.Close)
	for _, endpoint := range []string{elsewhere.URL + "/messages", "//" + strings.TrimPrefix(elsewhere.URL, "http://") + "/m", "https://127.0.0.1/", "file:///etc/passwd"} {
		s := prepare(t, streams(t, &stream{endpoint: endpoint}).config())
		s.Start(t.Context())
		if st := <-s.states; st.Phase != Failed || !errors.Is(st.Err, httpsse.ErrOtherOrigin) {
			t.Errorf("%s: %v %v", endpoint, st.Phase, st.Err)
		}
	}
}

// TestSSENoEndpoint checks that a stream that does not begin with the address for messages is
// refused.
func TestSSENoEndpoint(t *testing.T) {
	for name, first := range map[string]string{"message": "event: message\ndata: /m\n\n", "unnamed": "data: /m\n\n", "empty": "event: endpoint\ndata:\n\n", "garbage": "event: endpoint\ndata: ht!tp://%zz\n\n"} {
		web := streams(t, &stream{named: func(w io.Writer, _ string) { fmt.Fprint(w, first) }})
		s := prepare(t, web.config())
		s.Start(t.Context())
		if st := <-s.states; st.Phase != Down || !errors.Is(st.Err, httpsse.ErrNoEndpoint) {
			t.Errorf("%s: %v %v", name, st.Phase, st.Err)
		}
		s.Close()
	}
}

// TestSSEMessages checks that the server's requests and notifications arrive on the stream, and
// that answers and cancellations are sent by POST.
func TestSSEMessages(t *testing.T) {
	web := streams(t, &stream{})
	s := start(t, web.config())
	web.said <- `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	if m := <-web.posted; m.raw != `{"jsonrpc":"2.0","id":"p","result":{}}` {
		t.Errorf("%s", m.raw)
	}
	notes := make(chan string, 1)
	x := s.Send(Request{Method: "tools/call", Params: []byte(`{}`), Token: 7, Notify: func(method string, params []byte) { notes <- method + string(params) }})
	call := <-web.posted
	web.said <- `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`
	if note := <-notes; !strings.HasPrefix(note, "notifications/progress") {
		t.Errorf("%s", note)
	}
	x.Cancel("enough")
	if m := <-web.posted; m.Method != "notifications/cancelled" || !strings.Contains(m.raw, fmt.Sprintf(`"requestId":%s`, call.ID)) {
		t.Errorf("%s", m.raw)
	}
	web.said <- "nonsense"
	web.said <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"stopped"}}`, call.ID)
	if r := <-x.Done(); string(r.Error) != `{"code":-1,"message":"stopped"}` {
		t.Errorf("%+v", r)
	}
}
