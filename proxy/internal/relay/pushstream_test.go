package relay_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// A pushes is a GET stream with the ids of its events.
type pushes struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func()
}

// pushesAfter opens the GET stream of a session; lastID can be empty.
func pushesAfter(c *proxytest.Client, lastID string) *pushes {
	c.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Site.HTTP.URL+"/mcp", nil)
	if err != nil {
		c.T.Fatal(err)
	}
	c.SetHeaders(r)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	response, err := c.HTTP.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		c.T.Fatalf("opening the GET stream: %v, %v", response, err)
	}
	p := &pushes{t: c.T, lines: bufio.NewScanner(response.Body)}
	p.end = func() {
		cancel()
		_ = response.Body.Close()
	}
	c.T.Cleanup(p.end)
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
	if proxytest.Member([]byte(data), "params", "data") != want {
		p.t.Fatalf("%s %s, want %s", id, data, want)
	}
	return id
}

// TestPushesAreKept: messages from before the GET stream was open come with the next one, and
// messages that a broken stream may have lost come again to a client that sends Last-Event-ID; no
// message comes twice.
func TestPushesAreKept(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy}})
	s.AwaitSubscribed()
	c := s.Connect(proxytest.Legs()[1], "")
	c.List()
	for _, name := range []string{"one", "two", "three"} {
		s.Upstream.AddTool(proxytest.Runnable(testserver.Tool{Name: name}))
		s.Eventually("the tool is listed", func() bool { return strings.Contains(string(c.List().Raw), `"`+name+`"`) })
	}
	s.SendLog("1")
	p := pushesAfter(c, "")
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
		case proxytest.Member([]byte(data), "params", "data") == "1" && first == "":
			first = id
		default:
			t.Fatal(id, data)
		}
	}
	s.SendLog("2")
	p.told("2")
	s.SendLog("3")
	p.told("3")

	broken := p
	p = pushesAfter(c, first) // while the proxy still considers the other one open
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
	s.SendLog("4")
	p = pushesAfter(c, third)
	p.next()
	fourth := p.told("4")
	s.SendLog("5")
	p.told("5")
	p = pushesAfter(c, fourth)
	p.next()
	p.told("5")
	p = pushesAfter(c, "0_999") // of an unknown event
	p.next()
	s.SendLog("6")
	p.told("6")
}

// TestPushesToOlderClients: before 2025-11-25 every event has data.
func TestPushesToOlderClients(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy}})
	s.AwaitSubscribed()
	c := s.UnconnectedClient(proxytest.Legs()[1])
	c.Version = "2025-03-26"
	c.Initialize()
	s.SendLog("1")
	pushesAfter(c, "").told("1")
}
