package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// wired sends bytes on a connection of their own, and returns the responses until the connection is
// closed or there are enough.
func (s *site) wired(request string, most int) (answers []*http.Response, closed bool) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request); err != nil {
		s.t.Fatal(err)
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
	s := start(t, setup{rules: "block danger\n"})
	_, port, _ := net.SplitHostPort(s.http.Listener.Addr().String())
	body := s.modernCall().body
	danger := strings.Replace(body, `"name":"read"`, `"name":"danger"`, 1)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	first := "POST /mcp HTTP/1.1\r\nHost: localhost:" + port + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n"
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
		before := s.log.Executed("")
		answers, closed := s.wired(c.request, 2)
		if len(answers) == 0 || answers[0].StatusCode != c.want {
			t.Errorf("%s: %v, want %d", c.name, answers, c.want)
			continue
		}
		if len(answers) != 1 || !closed {
			t.Errorf("%s: %d answers, closed: %v", c.name, len(answers), closed)
		}
		if n := s.log.Executed("") - before; n != c.executed {
			t.Errorf("%s: %d executions", c.name, n)
		}
	}
	s.executed("danger", 0)
}

// TestKeptConnections: if the length of a request is clear, the connection takes the next one.
func TestKeptConnections(t *testing.T) {
	s := start(t, setup{rules: "block danger\n"})
	_, port, _ := net.SplitHostPort(s.http.Listener.Addr().String())
	body := s.modernCall().body
	request := "POST /mcp HTTP/1.1\r\nHost: localhost:" + port + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n" +
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	answers, closed := s.wired(request+request, 2)
	if len(answers) != 2 || closed {
		t.Errorf("%d answers, closed: %v", len(answers), closed)
	}
	s.executed("read", 2)
}

// TestRevisionHeaders: A096. The header of the revision only determines whether a request is served
// at all.
func TestRevisionHeaders(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[1], "")
	c.must("safe", `{}`)
	for _, version := range []string{"", "1900-01-01", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", "x", "2025-11-25 ", "2025-11-25,2026-07-28"} {
		for tool, want := range map[string]string{"danger": "blocked", "delete": "blocked", "deploy": "approval"} {
			p := s.modernCall()
			p.body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
			p.header.Set("Mcp-Name", tool)
			p.header.Set("Mcp-Session-Id", c.session)
			if p.header.Set("Mcp-Protocol-Version", version); version == "" {
				p.header.Del("Mcp-Protocol-Version")
			}
			status, _, body := s.fetch(p)
			if m := parseMessage([]byte(body), status); status == 200 && m.decision("kind") != want || status != 200 && status != 400 {
				t.Errorf("%q: %s: %d %s", version, tool, status, body)
			}
		}
	}
	s.executed("", 1)
}

// TestForeignEvents: a stream can be resumed only in its own session, whatever Last-Event-ID a
// client sends.
func TestForeignEvents(t *testing.T) {
	s := start(t, setup{})
	c, other := s.connect(legs()[1], ""), s.connect(legs()[1], "")
	id := c.call("slow", `{}`)
	s.awaitExecuted("slow", 1)
	seen := []string{"1_0", "2_0", "3_0", "4_0", "1_-1", "1_99999999999999999999", "1_9223372036854775807", "_", "1", "../1_0", "0_0", "1_0_0", c.session + "_0"}
	got := make(chan string, len(seen))
	for _, last := range seen {
		body := other.since(last)
		go func() {
			defer func() { _ = body.Close() }()
			b, _ := io.ReadAll(body)
			got <- last + ": " + string(b)
		}()
	}
	s.upstream.Release()
	if r := c.reply(id); r.isError() || r.text() != "released" {
		t.Errorf("%s", r.raw)
	}
	other.close() // ends its streams
	for range seen {
		if text := <-got; strings.Contains(text, "released") {
			t.Errorf("%s", text)
		}
	}
}

// since returns a stream of the session after the client's Last-Event-ID.
func (c *client) since(last string) io.ReadCloser {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.site.http.URL+"/mcp", http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	c.setHeaders(r)
	r.Header.Set("Last-Event-ID", last)
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.Body
}

// TestMalformedOlder: the messages of HTTP+SSE (2024-11-05) are parsed like those of the other
// transports.
func TestMalformedOlder(t *testing.T) {
	s := start(t, setup{})
	c := s.older(token)
	c.ask(opening)
	c.ask(strings.Replace(pushing, "push", "read", 1))
	before := s.state()
	for i, m := range differentials() {
		id := fmt.Sprint(100 + i)
		raw := strings.ReplaceAll(strings.ReplaceAll(m.template, "%ID%", id), "%META%", "")
		r := c.ask(raw)
		want := id
		if m.noID {
			want = "null"
		}
		if r.code() != m.code || r.id != want {
			t.Errorf("%s: %s, want %s", m.name, clipped(r.raw), m.code)
		}
	}
	for _, tool := range []string{"danger", "delete", "deploy"} {
		if r := c.ask(strings.Replace(pushing, "push", tool, 1)); !r.isError() || r.decision("decision") != "refuse" {
			t.Errorf("%s: %s", tool, r.raw)
		}
	}
	if s.state() != before {
		t.Error("the state moved")
	}
	s.executed("", 1)
}
