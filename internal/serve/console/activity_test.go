package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

func (d *desk) Sessions() []operator.SessionInfo {
	return []operator.SessionInfo{{ID: "s1", Principal: "ann"}, {ID: "s2", Principal: d.evil}}
}

func (d *desk) Tools(session string) ([]operator.ToolInfo, error) {
	if session == "gone" {
		return nil, errors.New("no session \"gone\"")
	}
	return slices.Clone(d.tools), nil
}

func (d *desk) Stop(session, actor, reason string) (operator.Stopping, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = append(d.answers, fmt.Sprintf("stop %q by %s: %s", session, actor, reason))
	return operator.Stopping{Shared: session == ""}, nil
}

func (d *desk) StartAgain(session string, a operator.Actor) (operator.Stopping, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = append(d.answers, fmt.Sprintf("start %q by %s", session, a.Name+a.PIN))
	return operator.Stopping{Already: session == "s9"}, nil
}

// active opens a console with the given records.
func active(t *testing.T, records ...[]byte) (*browser, *Console) {
	b, c := visit(t)
	c.journal.add(records, 0)
	return b, c
}

// toolsOn returns the tools in the rows of a page, in order.
func toolsOn(page string) (tools []string) {
	for _, part := range strings.Split(page, `<td class="tool"><a href="/activity/`)[1:] {
		_, rest, _ := strings.Cut(part, `">`)
		name, _, _ := strings.Cut(rest, "</a>")
		tools = append(tools, name)
	}
	return tools
}

// TestActivityFilters checks each filter alone and combined, on the page and in the export.
func TestActivityFilters(t *testing.T) {
	now := time.Now()
	asks := record(t, audit.Decision{Time: now, Event: "decision", Session: "s3", Principal: "eve", Client: "zed", Upstream: "prod", Tool: "deploy", Names: []string{"deploy", "release"}, Decision: "ask", Kind: "approval", Approval: "ap_7", Reason: "waiting for a person"})
	shadow := record(t, audit.Decision{Time: now, Event: "decision", Session: "s3", Principal: "eve", Call: 9, Upstream: "prod", Tool: "list", Decision: "allow", Would: &audit.Would{Decision: "refuse", Kind: "blocked", Reason: "would be too many", Nets: []audit.NetVerdict{{Net: "dark"}}}})
	b, _ := active(t,
		record(t, audit.Session{Time: now.Add(-3 * time.Hour), Event: "session opened", Session: "s", Principal: "ann"}),
		allowed(t, "s", 1, "push", now.Add(-3*time.Hour)), result(t, "s", 1, "push", now.Add(-3*time.Hour), time.Second, "success"),
		allowed(t, "s", 2, "pull", now.Add(-2*time.Hour)), result(t, "s", 2, "pull", now.Add(-2*time.Hour), time.Second, "failure"),
		refusal(t, "s2", "drop", now.Add(-time.Hour)), asks, shadow, allowed(t, "s", 3, "fetch", now),
	)
	for query, want := range map[string]string{
		"":                            "up.fetch prod.list prod.deploy up.drop up.pull up.push",
		"tool=pu":                     "up.pull up.push",
		"tool=up.*":                   "up.fetch up.drop up.pull up.push",
		"tool=PUSH":                   "up.push",
		"tool=release":                "prod.deploy",
		"tool=rel?ase":                "prod.deploy",
		"decision=refuse":             "up.drop",
		"decision=ask":                "prod.deploy",
		"decision=would":              "prod.list",
		"outcome=success":             "up.push",
		"outcome=failure":             "up.pull",
		"outcome=open":                "up.fetch prod.list",
		"session=s2":                  "up.drop",
		"principal=eve":               "prod.list prod.deploy",
		"client=claude":               "up.drop",
		"net=backup-first":            "up.drop",
		"net=dark":                    "prod.list",
		"kind=approval":               "prod.deploy",
		"q=backup+requires":           "up.drop",
		"q=AP_7":                      "prod.deploy",
		"q=too+many":                  "prod.list",
		"q=opened":                    "",
		"since=90m":                   "up.fetch prod.list prod.deploy up.drop",
		"since=2h30m+ago":             "up.fetch prod.list prod.deploy up.drop up.pull",
		"since=2020-01-01":            "up.fetch prod.list prod.deploy up.drop up.pull up.push",
		"session=s&outcome=success":   "up.push",
		"session=s&decision=refuse":   "",
		"tool=pu&q=cursor&since=150m": "up.pull",
	} {
		_, page := b.get("/activity?" + query)
		if got := strings.Join(toolsOn(page), " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		r, lines := b.do(b.request(http.MethodGet, "/activity.jsonl?only=calls&"+query, nil))
		var exported []string
		for line := range strings.Lines(lines) {
			var one row
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("%s: %s", err, line)
			}
			exported = append(exported, one.Tool)
		}
		slices.Reverse(exported)
		if got := strings.Join(exported, " "); got != want || !strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment;") {
			t.Errorf("export of %s: %s, want %s", query, got, want)
		}
	}
	if _, page := b.get("/activity?only=calls"); strings.Contains(page, "session opened") {
		t.Error("an event is shown among calls alone")
	}
	if _, page := b.get("/activity?q=opened"); !strings.Contains(page, "<b>session opened</b>") {
		t.Error(page)
	}
}

// TestCommands checks that a row shows the script of a call, provided that it was recorded, both in
// the activity and in the session's history, and that a search finds it. It also checks that rows
// of processes and sessions can be left out.
func TestCommands(t *testing.T) {
	now := time.Now()
	bash := audit.Decision{
		Time: now, Event: "decision", Session: "s", Call: 1, Upstream: "claude-code", Tool: "Bash", Decision: "allow",
		Args: json.RawMessage(`{"command":"cd pkg \u0026\u0026 npm publish <x>\u202e","timeout":5}`),
	}
	masked := bash
	masked.Call, masked.Args = 2, json.RawMessage(`{"command":"***"}`)
	hashed := bash
	hashed.Call, hashed.Args = 3, nil
	b, _ := active(t,
		record(t, audit.Process{Time: now, Event: "start", Process: "P1"}), record(t, audit.Session{Time: now, Event: "session opened", Session: "s", Principal: "ann"}),
		record(t, bash), record(t, masked), record(t, hashed), record(t, audit.Operator{Time: now, Event: "stop", Actor: "ann", Reason: "lunch"}),
	)
	_, page := b.get("/activity")
	for _, want := range []string{`cd pkg &amp;&amp; npm publish &lt;x&gt;\u{202e} {&#34;timeout&#34;:5}</div>`, `***</div>`, "process started", "session opened", "lunch"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if n := strings.Count(page, `class="mono does"`); n != 2 {
		t.Errorf("%d rows have a command", n)
	}
	if _, page := b.get("/activity?q=npm+publish"); strings.Join(toolsOn(page), " ") != "claude-code.Bash" {
		t.Error(page)
	}
	if _, page := b.get("/activity?only=acts"); strings.Contains(page, "process started") || strings.Contains(page, "session opened") || !strings.Contains(page, "lunch") || len(toolsOn(page)) != 3 {
		t.Error(page)
	}
	e := trail.Entry{Decision: bash}
	if got := describe(&e); got != `claude-code.Bash allowed (call 1): cd pkg && npm publish <x>\u{202e} {"timeout":5}` {
		t.Error(got)
	}
}

// TestWrongFilters checks that an invalid filter is reported and matches nothing.
func TestWrongFilters(t *testing.T) {
	b, _ := active(t, refusal(t, "s", "drop", day))
	for query, want := range map[string]string{
		"only=some": "only must be calls or acts", "since=tomorrow": "write a time as 10m", "tool=[": "is invalid", "q=" + strings.Repeat("x", maxFilter+1): "is longer than",
	} {
		if code, page := b.get("/activity?" + query); code != http.StatusOK || !strings.Contains(page, want) || len(toolsOn(page)) > 0 {
			t.Errorf("%s: %d %s", query, code, page)
		}
		if code, _ := b.get("/activity.jsonl?" + query); code != http.StatusBadRequest {
			t.Errorf("export of %s: %d", query, code)
		}
	}
	if _, page := b.get("/activity?before=x"); len(toolsOn(page)) != 1 {
		t.Error(page)
	}
}

// TestActivityPages checks that the newest rows come first and the others follow on further pages,
// even while new rows arrive.
func TestActivityPages(t *testing.T) {
	b, c := active(t)
	for n := range 250 {
		c.journal.add([][]byte{refusal(t, "s", fmt.Sprint("t", n), day.Add(time.Duration(n)*time.Second))}, 0)
	}
	path, want := "/activity?session=s", 249
	for range 3 {
		_, page := b.get(path)
		for _, tool := range toolsOn(page) {
			if tool != fmt.Sprint("up.t", want) {
				t.Fatalf("%s, want t%d", tool, want)
			}
			want--
		}
		c.journal.add([][]byte{refusal(t, "s", "more", day.Add(time.Duration(want)*time.Minute))}, 0)
		_, rest, _ := strings.Cut(page, `<p class="pager">`)
		links := strings.Split(rest, `href="`)
		path, _, _ = strings.Cut(links[len(links)-1], `"`)
		path = strings.ReplaceAll(path, "&amp;", "&")
		if at := strings.Index(rest, ">Older</a>"); at < 0 {
			break
		}
	}
	if want != -1 {
		t.Errorf("%d calls are on no page", want+1)
	}
}

// TestOneCall checks the page of a call, including operators' actions on the call.
func TestOneCall(t *testing.T) {
	decision := record(t, audit.Decision{
		Time: day.Add(time.Minute), Called: day, Event: "decision", Session: "s", Principal: "ann", Client: "zed <1>", Call: 7, Upstream: "prod", Tool: "deploy", Names: []string{"deploy"}, Decision: "allow",
		Arguments: "abc", Args: json.RawMessage(`{"to":"x"}`), Approval: "ap_1", Channel: "web", Actor: "eve", Nets: []audit.NetVerdict{{Net: "ask-first", Verdict: "gated", Transition: "approve", Rule: "a.rules:3:1"}},
	})
	settled := record(t, audit.Operator{Time: day.Add(time.Hour), Event: "settle success", Session: "s", Call: 7, Actor: "root", Reason: "it is there"})
	b, c := visit(t, question(1, "deploy"))
	c.journal.add([][]byte{decision, record(t, audit.Outcome{Time: day.Add(2 * time.Minute), Event: "outcome", Session: "s", Call: 7, Tool: "prod.deploy", Outcome: "unknown", Millis: 120_000}), settled}, 0)
	_, page := b.get("/activity/" + recordID(decision))
	for _, want := range []string{
		`href="/inbox/ap_1"`, "by eve via web, pending", "the call waited 1m0s", `<span class="state unknown">unknown</span> in 2m`, "ask-first", "a.rules:3:1", "settle success by root: it is there", `settled as <span class="state success">success</span> by root`, `<a href="/activity" aria-current="page">`,
		"&#34;to&#34;: &#34;x&#34;", "sha256 abc", "<dt>Client</dt><dd>zed &lt;1&gt;</dd>", "<dt>Principal</dt><dd>ann</dd>", `&#34;decision&#34;: &#34;allow&#34;`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if code, page := b.get("/activity/" + recordID(settled)); code != http.StatusOK || !strings.Contains(page, "<h1>Settle success</h1>") {
		t.Errorf("%d %s", code, page)
	}
	if code, page := b.get("/activity/0123"); code != http.StatusNotFound || !strings.Contains(page, "petrigate audit query") {
		t.Errorf("%d %s", code, page)
	}
}

// TestCallShowsOtherMembers checks that the page of a call shows the members of its record that the
// console does not know, and that it omits those that are too long.
func TestCallShowsOtherMembers(t *testing.T) {
	decision := []byte(`{"time":"2026-01-02T08:00:00Z","event":"decision","session":"s","tool":"deploy","names":["deploy","rm"],"own":2,"uncertain":["rm"],"decision":"refuse","risk":{"score":7},"long":"` +
		strings.Repeat("x", maxRowMore) + `","policy":"f"}`)
	b, c := visit(t)
	c.journal.add([][]byte{decision}, 0)
	_, page := b.get("/activity/" + recordID(decision))
	for _, want := range []string{`<dt>uncertain</dt><dd class="mono">[&#34;rm&#34;]</dd>`, `<dt>risk</dt><dd class="mono">{&#34;score&#34;:7}</dd>`, `&#34;more&#34;: {`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	for _, known := range []string{"<dt>own</dt>", "<dt>long</dt>", "<dt>decision</dt>"} {
		if strings.Contains(page, known) {
			t.Errorf("%s in %s", known, page)
		}
	}
}

// TestActivitySaysWhatItHas checks that an empty page explains why it is empty, and how to keep
// more.
func TestActivitySaysWhatItHas(t *testing.T) {
	b, c := active(t)
	if _, page := b.get("/activity"); !strings.Contains(page, "No calls yet.") || !strings.Contains(page, "Older calls are not kept; set <code>audit.file</code>") {
		t.Error(page)
	}
	if _, page := b.get("/activity?q=x"); !strings.Contains(page, "None of the newest 0 calls match.") {
		t.Error(page)
	}
	c.journal.add([][]byte{[]byte("{")}, 3)
	c.journal.setReading(false, errors.New("it is <away>"))
	if _, page := b.get("/activity?pause=1"); !strings.Contains(page, "3 records arrived too fast") || !strings.Contains(page, "1 record of the log cannot be read") ||
		!strings.Contains(page, "Older calls could not be read: it is &lt;away&gt;.") || !strings.Contains(page, `<a class="button" id="pause" href="/activity" data-paused="yes">Resume</a>`) {
		t.Error(page)
	}
}

// TestActivityEvents checks that a page is notified of new rows.
func TestActivityEvents(t *testing.T) {
	b, c := active(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(b.request(http.MethodGet, "/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	want := "event: approvals\ndata: 0\n\n"
	for _, next := range []string{want, "event: activity\ndata: \n\n"} {
		got := make([]byte, len(next))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != next {
			t.Fatalf("%q, %v, want %q", got, err, next)
		}
		c.journal.add([][]byte{refusal(t, "s", "drop", time.Now())}, 0)
	}
}

// TestToolsPage checks that each tool is shown with its names and verdict, and that text from the
// server is marked as such.
func TestToolsPage(t *testing.T) {
	b, _ := visit(t)
	left := 2
	b.desk.tools = []operator.ToolInfo{
		{Canonical: "prod.drop", Bare: "drop", Exposed: "p_drop", Upstream: "prod", Session: "s1", Decision: "refuse", Says: "refused: backup first", Definition: "0123456789abcdef", Annotations: json.RawMessage(`{"destructiveHint":true,"readOnlyHint":false,"openWorldHint":"x"}`), Description: "Drops it.\n<b>Now</b>\x1b[2J", Nets: []operator.ToolVerdict{{Net: "n1", Verdict: "blocked", Rule: "a.rules:1:1"}}},
		{Canonical: "prod.list", Bare: "list", Exposed: "list", Upstream: "prod", Session: "s1", Decision: "allow", Says: "passes, 2 left", Depends: true, Annotations: json.RawMessage(`{"destructiveHint":false,"readOnlyHint":true,"idempotentHint":true}`), Nets: []operator.ToolVerdict{{Net: "n2", Verdict: "gated", Left: &left}}},
	}
	_, page := b.get("/tools")
	for _, want := range []string{
		">p_drop</b>", ">prod.drop</span>", ">drop</span>", `<span class="state refuse">refuse</span>`, "refused: backup first", `title="0123456789abcdef">0123456789ab</span>`,
		"<summary><q>Drops it.</q></summary>", "&lt;b&gt;Now&lt;/b&gt;", `<span class="net blocked" title="blocked, a.rules:1:1">n1</span>`, "depends on the arguments", "passes, 2 left", `<span class="mono">s1</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Contains(page, "\x1b") || strings.Contains(page, "<b>Now") {
		t.Error(page)
	}
	if hints := hintsOf(b.desk.tools[1].Annotations); fmt.Sprint(hints) != "[{read-only false} {not destructive false} {idempotent false}]" {
		t.Error(hints)
	}
	if _, page := b.get("/tools?q=drops+REFUSE"); !strings.Contains(page, "p_drop") || strings.Contains(page, ">list</b>") || !strings.Contains(page, "1 of them shown") {
		t.Error(page)
	}
	if _, page := b.get("/tools?q=nothing"); !strings.Contains(page, "No matching tools.") {
		t.Error(page)
	}
	if _, page := b.get("/tools?session=gone"); !strings.Contains(page, "The tools cannot be listed: no session &#34;gone&#34;.") {
		t.Error(page)
	}
}

// TestStopIsConfirmed checks that a stop requires confirmation and is recorded under the visitor's
// name.
func TestStopIsConfirmed(t *testing.T) {
	b, _ := visit(t)
	for _, c := range []struct {
		path           string
		form           url.Values
		ask, did, note string
	}{
		{"/stop", url.Values{"reason": {" too <fast> "}}, "Stop all calls?", `stop "" by ann: too <fast>`, "All calls are refused from now on, in all proxies with this database."},
		{"/stop", url.Values{"session": {"s1"}}, `the calls of session <span class="mono">s1</span>?`, `stop "s1" by ann: `, "The calls of session s1 are refused from now on, until this proxy exits."},
		{"/start", url.Values{"session": {"s1"}}, "Resume", `start "s1" by ann`, "The calls of session s1 pass again, as the policy allows."},
		{"/start", url.Values{"session": {"s9"}}, "Resume", `start "s9" by ann`, "The calls of session s9 were allowed already."},
	} {
		b.desk.answers = nil
		if code, page := b.post(c.path, c.form); code != http.StatusOK || !strings.Contains(page, c.ask) || b.desk.told() != "" {
			t.Errorf("%s %v: %d %q %s", c.path, c.form, code, b.desk.told(), page)
		}
		c.form.Set("confirmed", "yes")
		if code, _ := b.post(c.path, c.form); code != http.StatusSeeOther || b.desk.told() != c.did {
			t.Errorf("%s %v: %d %q", c.path, c.form, code, b.desk.told())
		}
		if _, page := b.get("/health"); !strings.Contains(page, c.note) {
			t.Errorf("no %q in %s", c.note, page)
		}
	}
	b.desk.answers = nil
	for _, path := range []string{"/stop?confirmed=yes", "/start?confirmed=yes"} {
		if code, _ := b.get(path); code != http.StatusMethodNotAllowed || b.desk.told() != "" {
			t.Errorf("GET %s: %d %s", path, code, b.desk.told())
		}
	}
}

// TestHealthPage checks that problems come first and that all numbers are shown.
func TestHealthPage(t *testing.T) {
	now := time.Now()
	b, c := visit(t)
	b.desk.approvals = []operator.ApprovalInfo{
		{ID: "ap_1", State: operator.Consumed, Rules: []string{"a.rules:1:1"}, Created: now.Add(-time.Hour), Answered: now.Add(-time.Hour + 30*time.Second)},
		{ID: "ap_2", State: operator.Denied, Rules: []string{"a.rules:2:1"}, Created: now.Add(-time.Hour), Answered: now.Add(-time.Hour + 10*time.Second)},
		{ID: "ap_3", State: operator.Approved, Rules: []string{"a.rules:1:1", "a.rules:2:1"}, Created: now.Add(-time.Hour), Answered: now.Add(-time.Hour + 40*time.Second)},
		{ID: "ap_4", State: operator.Expired, Rules: []string{"a.rules:3:1"}}, {ID: "ap_5", State: operator.Pending},
	}
	at := now.Add(-time.Hour)
	b.desk.status = operator.Status{
		Version: "v1", Started: at, Policy: "0123456789abcdef0123", Config: "/etc/p.yaml", Reloaded: &at, ReloadProblem: "p.yaml:1:1: no\n  it is wrong",
		Upstreams: []operator.UpstreamStatus{{Name: "git", State: "up", Since: at, Protocol: "2025-11-25", Pid: 7}, {Name: "prod", State: "down", Since: at, Error: "exit status 1", Said: []string{"no <key>"}}},
		State:     operator.StateInfo{Driver: "sqlite", Place: "/var/s.db", Unknown: []operator.UnknownCall{{Session: "s1", Process: "p", Call: 3, Tool: "git.push", Since: at}}},
		Audit:     &operator.AuditInfo{File: "/var/a.jsonl", Records: 17, Error: "no space left", Aside: 2, Rotated: &at}, Stopped: []operator.StopInfo{{Session: "s1", Actor: "eve", Reason: "wild", Since: at}},
	}
	for n := range 100 {
		came := now.Add(-time.Duration(n) * time.Second)
		c.journal.add([][]byte{allowed(t, "s", uint64(n)+1, "push", came), result(t, "s", uint64(n)+1, "push", came, time.Duration(n+1)*time.Millisecond, "success")}, 0)
	}
	c.journal.add([][]byte{refusal(t, "s", "push", now.Add(-90*time.Second))}, 0)
	_, page := b.get("/health")
	for _, want := range []string{
		"because decisions cannot be recorded: no space left", "The upstream prod is down: exit status 1", "changed configuration was not applied: p.yaml:1:1: no", "1 call has an unknown outcome",
		">0123456789abcdef</dd>", "  it is wrong", "no &lt;key&gt;", "2 rotated files", "petrigate sessions settle SESSION CALL --success", "by eve", "wild",
		"101 calls", "1 % refused", "60 in the last minute", ">50 ms</td><td>95 ms</td>", "5 approvals: 2 approved, 1 denied, 1 expired, 1 waiting.", "67 % were approvals",
		"The median time to an answer is 30s.", `<span class="mono">a.rules:1:1</span>: approved 2 times`, `name="session" value="s1"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if strings.Contains(page, ">a.rules:2:1</span>: approved") || strings.Contains(page, "All upstreams respond") {
		t.Error(page)
	}
	b.desk.status, b.desk.approvals = operator.Status{}, nil
	if _, page := b.get("/health"); !strings.Contains(page, "All upstreams respond") || !strings.Contains(page, "No approvals are kept") {
		t.Error(page)
	}
}

// TestWhenShowsOtherDay checks that a row from another day shows its date.
func TestWhenShowsOtherDay(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 30, 0, 0, time.Local)
	for want, at := range map[string]time.Time{"00:10:00": now.Add(-20 * time.Minute), "Jan 1 23:30:00": now.Add(-time.Hour)} {
		if got := (&row{Time: at}).When(now); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestPercentOfSmallParts checks that a share is never rounded to nothing or to everything.
func TestPercentOfSmallParts(t *testing.T) {
	for want, of := range map[string][2]int{"0 %": {0, 10}, "< 1 %": {1, 1000}, "> 99 %": {999, 1000}, "100 %": {7, 7}, "33 %": {1, 3}} {
		if got := percent(of[0], of[1]); got != want {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
	for of, want := range map[[2]int]string{{1, 200}: "< 1 %", {199, 200}: "> 99 %"} { // on the bounds
		if got := percent(of[0], of[1]); got != want {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
	if got := percent(0, 0); got != "0 %" {
		t.Error(got)
	}
}

// TestHostileActivity checks that text from callers, servers and operators does not become markup
// in any view.
func TestHostileActivity(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[2J\u202e\"onload='x'"
	nets := []audit.NetVerdict{{Net: evil, Verdict: evil, Transition: evil, Rule: evil}}
	one := record(t, audit.Decision{
		Time: day, Event: "decision", Session: evil, Principal: evil, Client: evil, Call: 1, ID: evil, Upstream: evil, Tool: evil, Names: []string{evil}, Uncertain: []string{evil}, Reads: []string{evil}, Arguments: evil, Args: record(t, audit.Switch{Event: evil}),
		Decision: "allow", Kind: evil, Nets: nets, Approval: evil, Channel: evil, Actor: evil, Reason: evil, Policy: evil, Would: &audit.Would{Decision: evil, Kind: evil, Nets: nets, Reason: evil},
	})
	odd := record(t, audit.Decision{Time: day.Add(1), Event: "decision", Session: evil, Tool: evil, Decision: evil, Kind: evil, Reason: evil, Nets: nets})
	stop := record(t, audit.Operator{Time: day, Event: "stop", Session: evil, Call: 1, Actor: evil, Reason: evil})
	b, _ := active(t, one, odd, stop, record(t, audit.Switch{Time: day, Event: "activate", Net: evil, Actor: evil}), record(t, audit.Outcome{Time: day, Event: "outcome", Session: evil, Call: 1, Tool: evil, Outcome: evil, By: evil}))
	b.desk.evil = evil
	b.desk.tools = []operator.ToolInfo{{Canonical: evil, Bare: evil + "b", Exposed: evil + "e", Upstream: evil, Session: evil, Decision: evil, Says: evil, Description: evil + "\n" + evil, Definition: evil, Nets: []operator.ToolVerdict{{Net: evil, Verdict: evil, Rule: evil}}}}
	b.desk.status = operator.Status{
		Version: "v1", Policy: evil, Config: evil, Listen: evil, ReloadProblem: evil, LeftOut: []string{evil}, Warnings: []string{evil}, Stopped: []operator.StopInfo{{Session: evil, Actor: evil, Reason: evil}},
		Upstreams: []operator.UpstreamStatus{{Name: evil, State: evil, Protocol: evil, Error: evil, Said: []string{evil}}}, Audit: &operator.AuditInfo{File: evil, Error: evil},
		State: operator.StateInfo{Driver: evil, Place: evil, Process: evil, Error: evil, Unknown: []operator.UnknownCall{{Session: evil, Process: evil, Tool: evil}}},
	}
	b.desk.approvals = []operator.ApprovalInfo{{ID: "ap_1", State: operator.Approved, Rules: []string{evil}}}
	for _, path := range []string{"/activity", "/activity/" + recordID(one), "/activity/" + recordID(odd), "/activity/" + recordID(stop), "/activity.jsonl", "/tools", "/health"} {
		r, page := b.do(b.request(http.MethodGet, path, nil))
		// The value of the form field is the unescaped session ID, so that the session can be
		// selected.
		shown := strings.ReplaceAll(page, "\x1b[2J\u202e&#34;onload=&#39;x&#39;\"", "")
		if r.StatusCode != http.StatusOK || strings.Contains(page, "<script>alert") && path != "/activity.jsonl" || strings.ContainsAny(shown, "\x1b\u202e") {
			at := strings.IndexAny(shown, "\x1b\u202e")
			t.Errorf("%s: %s, at %d: %.300s", path, r.Status, at, shown[max(at-150, 0):])
		}
	}
}
