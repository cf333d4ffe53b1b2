package proxytest

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/petrigate/petrigate/proxy"
)

// An HTTPRequest describes a complete HTTP request, so that a test case can change any part of it.
type HTTPRequest struct {
	Method, Path, Host string
	Header             http.Header
	Body               string
}

// Fetch sends a request and reads the whole response.
func (s *Site) Fetch(p HTTPRequest) (status int, header http.Header, body string) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, p.Method, s.HTTP.URL+p.Path, strings.NewReader(p.Body))
	if err != nil {
		s.T.Fatal(err)
	}
	r.Host, r.Header = p.Host, p.Header
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	b, _ := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(b)
}

// ModernCall returns an HTTP request of MCP revision 2026-07-28 that calls the tool "read".
func (s *Site) ModernCall() HTTPRequest {
	return s.modernCall("1", "read")
}

func (s *Site) modernCall(id, tool string) HTTPRequest {
	c := &Client{Site: s, Leg: Legs()[2], Version: "2026-07-28", Capabilities: "{}"}
	return HTTPRequest{
		Method: http.MethodPost, Path: "/mcp",
		Header: http.Header{
			"Authorization": {"Bearer " + Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
		},
		Body: `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + c.Meta("") + `"name":"` + tool + `"}}`,
	}
}

// ModernCallAs is like ModernCall, but uses the given bearer token.
func (s *Site) ModernCallAs(token string) HTTPRequest {
	p := s.ModernCall()
	p.Header.Set("Authorization", "Bearer "+token)
	return p
}

// CallAs calls a tool over HTTP with the given bearer token and returns the response. It uses the
// protocol revision of the given [Leg]. For revision 2026-07-28, the session is ignored.
func (s *Site) CallAs(l Leg, token, session, id, tool string) Message {
	s.T.Helper()
	if !l.Modern {
		status, _, text := s.InSession(token, session, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`"}}`)
		return ParseMessage([]byte(text), status)
	}
	p := s.modernCall(id, tool)
	p.Header.Set("Authorization", "Bearer "+token)
	status, _, text := s.Fetch(p)
	return ParseMessage([]byte(text), status)
}

// OpenSession opens a session and returns its ID.
func (s *Site) OpenSession(token string) string {
	s.T.Helper()
	status, header, body := s.InSession(token, "", InitializeRequest)
	if status != 200 {
		s.T.Fatalf("%d %s", status, body)
	}
	return header.Get("Mcp-Session-Id")
}

// InSession sends a request of MCP revision 2025-11-25 within the given session.
func (s *Site) InSession(token, session, body string) (int, http.Header, string) {
	s.T.Helper()
	p := s.ModernCallAs(token)
	p.Body = body
	p.Header.Del("Mcp-Method")
	p.Header.Del("Mcp-Name")
	p.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if session != "" {
		p.Header.Set("Mcp-Session-Id", session)
	}
	return s.Fetch(p)
}

// Requests of MCP revision 2025-11-25.
const (
	InitializeRequest = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	PushRequest       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"push"}}`
)

// ServeWith serves the proxy on a new listener with the given access settings. Later requests by s
// and its clients go to that listener.
func (s *Site) ServeWith(a proxy.Access) {
	s.T.Helper()
	s.serve(a, nil)
}

// StreamSince opens the session's event stream and requests the events that follow the event with
// the given ID.
func (c *Client) StreamSince(last string) io.ReadCloser {
	c.T.Helper()
	response, err := c.HTTP.Do(c.newRequest(c.T.Context(), http.MethodGet, last))
	if err != nil {
		c.T.Fatal(err)
	}
	return response.Body
}
