package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// TestSessions checks that the list contains each session, and that a session's page offers the
// operator's actions.
func TestSessions(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	b.wants("/sessions", "1 session,", `href="/sessions?id=s1"`, "&lt;b&gt;x&lt;/b&gt;", "backup-first")
	b.wants("/sessions?q=nobody", "No matching sessions")
	b.wants("/sessions?q=CONNECTION+s1", `href="/sessions?id=s1"`)
	page := b.wants("/sessions?id=s1", "in flight</span>")
	if strings.Contains(page, `name="call" value="8"`) {
		t.Error("a call in flight can be settled by hand")
	}
	b.wants("/sessions?id=s1", "web, cli", `name="call" value="7"`, "gate:1", "has moved", "refused 2 calls", "a.rules:9", `>ls &lt;x&gt;\u{202e}</div>`, `href="/nets?net=backup-first&amp;session=s1"`, "Reset the session")
	if code, _ := b.get("/sessions?id=nobody"); code != http.StatusNotFound {
		t.Errorf("an unknown session: %d", code)
	}
	for n := range 2 * sessionsShown {
		b.desk.all = append(b.desk.all, operator.SessionInfo{ID: fmt.Sprint("n", n), Since: time.Now()})
	}
	page = b.wants("/sessions", "201 sessions", `href="/sessions?from=100&amp;q="`, ">n199<")
	if strings.Contains(page, ">n99<") {
		t.Error("the first page has too many")
	}
	b.wants("/sessions?from=200", ">s1<", ">Newest<")
	b.wants("/sessions?from=-1", ">n199<")
}

// TestSessionsEmpty checks that an empty list is explained.
func TestSessionsEmpty(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	b.desk.all = nil
	b.wants("/sessions", "No client is connected")
}

// TestResetAndSettle checks that, after confirmation, a session is reset and a call is settled in
// the name of the visitor.
func TestResetAndSettle(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	b.post("/sessions/reset", url.Values{"id": {"s1"}})
	if got := b.desk.site.told(); got != "" {
		t.Errorf("without a confirmation: %s", got)
	}
	b.wants("/sessions?id=s1&reset=ask", "Reset every net of this session", `name="confirmed" value="yes"`)
	steps := []struct {
		path string
		form url.Values
		code int
		note string
	}{
		{"/sessions/reset", url.Values{"id": {"s1"}, "confirmed": {"yes"}}, http.StatusSeeOther, "is in its initial marking again"},
		{"/sessions/settle", url.Values{"id": {"s1"}, "call": {"7"}, "outcome": {"success"}}, http.StatusSeeOther, "Call 7 is settled: success."},
		{"/sessions/settle", url.Values{"id": {"s1"}, "call": {"8"}, "outcome": {"failure"}}, http.StatusSeeOther, "Call 8 is settled: failure."},
		{"/sessions/settle", url.Values{"id": {"s1"}, "call": {"99"}, "outcome": {"failure"}}, http.StatusSeeOther, "was not settled: no open call"},
		{"/sessions/settle", url.Values{"id": {"s1"}, "call": {"8"}, "outcome": {"perhaps"}}, http.StatusBadRequest, ""},
		{"/sessions/settle", url.Values{"id": {"s1"}, "call": {"-8"}, "outcome": {"success"}}, http.StatusBadRequest, ""},
	}
	for _, s := range steps {
		if code, _ := b.post(s.path, s.form); code != s.code {
			t.Errorf("%s %v: %d", s.path, s.form, code)
		}
		if s.note != "" {
			b.wants("/sessions?id=s1", s.note)
		}
	}
	if got := b.desk.site.told(); got != "reset s1 by ann; settle s1 7 true by ann; settle s1 8 false by ann" {
		t.Error(got)
	}
	for _, path := range []string{"/sessions/reset", "/sessions/settle"} {
		r, _ := b.do(b.request(http.MethodPost, path, url.Values{"id": {"s1"}, "confirmed": {"yes"}, "call": {"7"}, "outcome": {"success"}}))
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("%s without the token: %s", path, r.Status)
		}
		if code, _ := b.get(path); code != http.StatusNotFound && code != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, code)
		}
	}
}

// TestAcceptedToolIsTheShownOne checks that the page shows how a server has changed a tool, and
// that exactly the displayed definition is accepted.
func TestAcceptedToolIsTheShownOne(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	b.wants("/tools", "Changed by their servers", "<span class=\"tool\">fs.read</span>", "quarantined", "&lt;script&gt;", "absent", `name="hash" value="h1"`)
	b.post("/tools/accept", url.Values{"tool": {"fs.read"}, "hash": {"h0"}})
	b.wants("/tools", "fs.read was not accepted: not what was shown")
	b.post("/tools/accept", url.Values{"tool": {"fs.read"}, "hash": {"h1"}})
	b.wants("/tools", "fs.read is accepted with its current definition")
	if got := b.desk.site.told(); got != "accept fs.read h1 by ann" {
		t.Error(got)
	}
	r, _ := b.do(b.request(http.MethodPost, "/tools/accept", url.Values{"tool": {"fs.read"}, "hash": {"h1"}}))
	if r.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %s", r.Status)
	}
}
