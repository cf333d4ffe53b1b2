package proxy_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// A pushes is a GET stream with the ids of its events.
type pushes struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func()
}

// pushesAfter opens the GET stream of a session; lastID can be empty.
func (c *client) pushesAfter(lastID string) *pushes {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.site.http.URL+"/mcp", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.setHeaders(r)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	response, err := c.http.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("opening the GET stream: %v, %v", response, err)
	}
	p := &pushes{t: c.t, lines: bufio.NewScanner(response.Body)}
	p.end = func() {
		cancel()
		_ = response.Body.Close()
	}
	c.t.Cleanup(p.end)
	return p
}

// next returns the next event.
func (p *pushes) next() (id, data string) {
	p.t.Helper()
	for p.lines.Scan() {
		if v, ok := strings.CutPrefix(p.lines.Text(), "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(p.lines.Text(), "data: "); ok {
			return id, v
		}
	}
	p.t.Fatal("the stream has ended")
	return "", ""
}

// told waits for a log message of the upstream. An announcement of changed tools can come first.
func (p *pushes) told(want string) (id string) {
	p.t.Helper()
	id, data := p.next()
	for strings.Contains(data, "tools/list_changed") {
		id, data = p.next()
	}
	if at([]byte(data), "params", "data") != want {
		p.t.Fatalf("%s %s, want %s", id, data, want)
	}
	return id
}

// tell sends a log message of the upstream.
func (s *site) tell(data string) {
	s.upstream.Notify("notifications/message", `{"level":"info","data":`+data+`}`)
}

// TestPushesAreKept: messages from before the GET stream was open come with the next one, and
// messages that a broken stream may have lost come again to a client that sends Last-Event-ID; no
// message comes twice.
func TestPushesAreKept(t *testing.T) {
	s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy}})
	s.awaitSubscribed()
	c := s.connect(legs()[1], "")
	c.list()
	for _, name := range []string{"one", "two", "three"} {
		s.upstream.AddTool(running(testserver.Tool{Name: name}))
		s.eventually("the tool is listed", func() bool { return strings.Contains(string(c.list().raw), `"`+name+`"`) })
	}
	s.tell("1")
	p := c.pushesAfter("")
	begin, data := p.next()
	if data != "" || begin != "0_0" {
		t.Errorf("the stream begins with %q %q", begin, data)
	}
	first := ""
	for changed := false; !changed || first == ""; { // in any order: announcements of changes are delayed
		id, data := p.next()
		switch {
		case strings.Contains(data, "tools/list_changed"):
			changed = true
		case at([]byte(data), "params", "data") == "1" && first == "":
			first = id
		default:
			t.Fatal(id, data)
		}
	}
	s.tell("2")
	p.told("2")
	s.tell("3")
	p.told("3")

	broken := p
	p = c.pushesAfter(first) // while the proxy still considers the other one open
	if id, _ := p.next(); id != first {
		t.Errorf("the stream begins after %s, want %s", id, first)
	}
	p.told("2")
	third := p.told("3")
	for broken.lines.Scan() { // to its end; an announcement of changed tools can come first
		if data, ok := strings.CutPrefix(broken.lines.Text(), "data: "); ok && !strings.Contains(data, "tools/list_changed") {
			t.Errorf("the stream that broke goes on: %s", data)
		}
	}
	p.end()
	s.tell("4")
	p = c.pushesAfter(third)
	p.next()
	fourth := p.told("4")
	s.tell("5")
	p.told("5")
	p = c.pushesAfter(fourth)
	p.next()
	p.told("5")
	p = c.pushesAfter("0_999") // of an unknown event
	p.next()
	s.tell("6")
	p.told("6")
}

// TestPushesToOlderClients: before 2025-11-25 every event has data.
func TestPushesToOlderClients(t *testing.T) {
	s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy}})
	s.awaitSubscribed()
	c := s.unconnected(legs()[1])
	c.version = "2025-03-26"
	c.initialize()
	s.tell("1")
	c.pushesAfter("").told("1")
}
