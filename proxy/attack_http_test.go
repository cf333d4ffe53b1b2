package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// wired sends bytes on a connection of their own, and returns the responses until the connection is
// closed or there are enough.
func wired(s *proxytest.Site, request string, most int) (answers []*http.Response, closed bool) {
	s.T.Helper()
	conn, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request); err != nil {
		s.T.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for len(answers) < most {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return answers, true
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		answers = append(answers, r)
		closed = r.Close
	}
	return answers, closed
}

// TestAmbiguousFramingIsRefused: A026. Ambiguous ends of a request, or ambiguous headers, let
// nothing past the gate, and nothing after them is read.
func TestAmbiguousFramingIsRefused(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	_, port, _ := net.SplitHostPort(s.HTTP.Listener.Addr().String())
	body := s.ModernCall().Body
	danger := strings.Replace(body, `"name":"read"`, `"name":"danger"`, 1)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	first := "POST /mcp HTTP/1.1\r\nHost: localhost:" + port + "\r\nAuthorization: Bearer " + proxytest.Token + "\r\nContent-Type: application/json\r\n"
	named := "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	second := first + strings.Replace(named, "read", "danger", 1) + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(danger), danger)
	for _, c := range []struct {
		name, request string
		want          int // status of the first response
		executed      int
	}{
		{"length and chunks", first + named + length + "Transfer-Encoding: chunked\r\n\r\n" + chunked + second, 200, 1},
		{"chunks and a length of nothing", first + named + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked + second, 200, 1},
		{"chunks alone", first + named + "Transfer-Encoding: chunked\r\n\r\n" + chunked + second, 200, 1},
		{"chunks, in a list", first + named + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked, 501, 0},
		{"chunks twice", first + named + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, 501, 0},
		{"chunks, misspelt", first + named + "Transfer-Encoding: xchunked\r\n\r\n" + chunked, 501, 0},
		{"chunks behind a vertical tab", first + named + "Transfer-Encoding: \x0bchunked\r\n\r\n" + chunked, 400, 0},
		{"space before the colon", first + named + length + "Transfer-Encoding : chunked\r\n\r\n" + body, 400, 0},
		{"lengths that differ", first + named + length + "Content-Length: 3\r\n\r\n" + body, 400, 0},
		{"lengths in a list", first + named + "Content-Length: 3, 3\r\n\r\n" + body, 400, 0},
		{"length with a sign", first + named + "Content-Length: +3\r\n\r\n" + body, 400, 0},
		{"length in hexadecimal", first + named + "Content-Length: 0x3\r\n\r\n" + body, 400, 0},
		{"folded name", first + strings.Replace(named, "Mcp-Name: read", "Mcp-Name: re\r\n ad", 1) + length + "Connection: close\r\n\r\n" + body, 400, 0},
		{"folded type", strings.Replace(first, "application/json", "application/json;\r\n charset=utf-16", 1) + named + length + "Connection: close\r\n\r\n" + body, 415, 0},
		{"folded token", strings.Replace(first, "Bearer ", "Bearer\r\n\t", 1) + named + length + "Connection: close\r\n\r\n" + body, 200, 1}, // one space, as RFC 9112 requires
		{"folded host", strings.Replace(first, "Host: localhost", "Host: evil.example\r\n localhost", 1) + named + length + "Connection: close\r\n\r\n" + body, 400, 0},
		{"folded coding", first + named + length + "Content-Encoding:\r\n gzip\r\nConnection: close\r\n\r\n" + body, 415, 0},
		{"name twice, in two spellings", first + named + "MCP-NAME: danger\r\n" + length + "Connection: close\r\n\r\n" + body, 400, 0},
		{"a bare carriage return", first + "X: a\rMcp-Name: danger\r\n" + named + length + "Connection: close\r\n\r\n" + body, 400, 0},
		{"NUL in a header", first + "X: a\x00b\r\n" + named + length + "Connection: close\r\n\r\n" + body, 400, 0},
		{"lines that end in LF", strings.ReplaceAll(first+named+length+"Connection: close\r\n\r\n", "\r\n", "\n") + body, 200, 1},
		{"HTTP/0.9", "POST /mcp\r\n\r\n" + body, 400, 0},
		{"another method by header", strings.Replace(first, "POST", "GET", 1) + "X-HTTP-Method-Override: POST\r\n" + named + length + "Connection: close\r\n\r\n" + body, 405, 0},
	} {
		before := s.Log.Executed("")
		answers, closed := wired(s, c.request, 2)
		if len(answers) == 0 || answers[0].StatusCode != c.want {
			t.Errorf("%s: %v, want %d", c.name, answers, c.want)
			continue
		}
		if len(answers) != 1 || !closed {
			t.Errorf("%s: %d answers, closed: %v", c.name, len(answers), closed)
		}
		if n := s.Log.Executed("") - before; n != c.executed {
			t.Errorf("%s: %d executions", c.name, n)
		}
	}
	s.Executed("danger", 0)
}

// TestKeptConnections: if the length of a request is clear, the connection takes the next one.
func TestKeptConnections(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	_, port, _ := net.SplitHostPort(s.HTTP.Listener.Addr().String())
	body := s.ModernCall().Body
	request := "POST /mcp HTTP/1.1\r\nHost: localhost:" + port + "\r\nAuthorization: Bearer " + proxytest.Token + "\r\nContent-Type: application/json\r\n" +
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	answers, closed := wired(s, request+request, 2)
	if len(answers) != 2 || closed {
		t.Errorf("%d answers, closed: %v", len(answers), closed)
	}
	s.Executed("read", 2)
}

// TestRevisionHeaders: A096. The header of the revision only determines whether a request is served
// at all.
func TestRevisionHeaders(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[1], "")
	c.Must("safe", `{}`)
	for _, version := range []string{"", "1900-01-01", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", "x", "2025-11-25 ", "2025-11-25,2026-07-28"} {
		for tool, want := range map[string]string{"danger": "blocked", "delete": "blocked", "deploy": "approval"} {
			p := s.ModernCall()
			p.Body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
			p.Header.Set("Mcp-Name", tool)
			p.Header.Set("Mcp-Session-Id", c.Session)
			if p.Header.Set("Mcp-Protocol-Version", version); version == "" {
				p.Header.Del("Mcp-Protocol-Version")
			}
			status, _, body := s.Fetch(p)
			if m := proxytest.ParseMessage([]byte(body), status); status == 200 && m.Decision("kind") != want || status != 200 && status != 400 {
				t.Errorf("%q: %s: %d %s", version, tool, status, body)
			}
		}
	}
	s.Executed("", 1)
}

// TestForeignEvents: a stream can be resumed only in its own session, whatever Last-Event-ID a
// client sends.
func TestForeignEvents(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c, other := s.Connect(proxytest.Legs()[1], ""), s.Connect(proxytest.Legs()[1], "")
	id := c.Call("slow", `{}`)
	s.AwaitExecuted("slow", 1)
	seen := []string{"1_0", "2_0", "3_0", "4_0", "1_-1", "1_99999999999999999999", "1_9223372036854775807", "_", "1", "../1_0", "0_0", "1_0_0", c.Session + "_0"}
	got := make(chan string, len(seen))
	for _, last := range seen {
		body := other.StreamSince(last)
		go func() {
			defer func() { _ = body.Close() }()
			b, _ := io.ReadAll(body)
			got <- last + ": " + string(b)
		}()
	}
	s.Upstream.Release()
	if r := c.Reply(id); r.IsError() || r.Text() != "released" {
		t.Errorf("%s", r.Raw)
	}
	other.Close() // ends its streams
	for range seen {
		if text := <-got; strings.Contains(text, "released") {
			t.Errorf("%s", text)
		}
	}
}

// TestMalformedOlder: the messages of HTTP+SSE (2024-11-05) are parsed like those of the other
// transports.
func TestMalformedOlder(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.ConnectOlder(proxytest.Token)
	c.Ask(proxytest.InitializeRequest)
	c.Ask(strings.Replace(proxytest.PushRequest, "push", "read", 1))
	before := s.State()
	for i, m := range differentials() {
		id := fmt.Sprint(100 + i)
		raw := strings.ReplaceAll(strings.ReplaceAll(m.template, "%ID%", id), "%META%", "")
		r := c.Ask(raw)
		want := id
		if m.noID {
			want = "null"
		}
		if r.Code() != m.code || r.ID != want {
			t.Errorf("%s: %s, want %s", m.name, proxytest.Clip(r.Raw), m.code)
		}
	}
	for _, tool := range []string{"danger", "delete", "deploy"} {
		if r := c.Ask(strings.Replace(proxytest.PushRequest, "push", tool, 1)); !r.IsError() || r.Decision("decision") != "refuse" {
			t.Errorf("%s: %s", tool, r.Raw)
		}
	}
	if s.State() != before {
		t.Error("the state moved")
	}
	s.Executed("", 1)
}
