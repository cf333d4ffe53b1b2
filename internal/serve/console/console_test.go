package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/operator"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// A desk is a proxy with approvals that a test sets.
type desk struct {
	mu        sync.Mutex
	approvals []operator.ApprovalInfo
	answers   []string
	changed   chan struct{}
	status    operator.Status
	tools     []operator.ToolInfo
	evil      string

	site   // provides nets and sessions
	unused // provides methods that the console does not call
}

// unused provides those methods of a proxy that must not be called.
type unused struct{ operator.Proxy }

func (d *desk) Status() operator.Status {
	s := d.status
	s.Version, s.Waiting = cmp.Or(s.Version, "v1"), len(d.waiting())
	return s
}

func (d *desk) waiting() (all []operator.ApprovalInfo) {
	for _, a := range d.Approvals() {
		if a.State == operator.Pending {
			all = append(all, a)
		}
	}
	return all
}

func (d *desk) Approvals() []operator.ApprovalInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.approvals)
}

func (d *desk) Approval(id string) (operator.ApprovalInfo, error) {
	for _, a := range d.Approvals() {
		if a.ID == id {
			return a, nil
		}
	}
	return operator.ApprovalInfo{}, fmt.Errorf("no approval %q", id)
}

func (d *desk) ApprovalsChanged() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

func (d *desk) Answer(id string, a operator.Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.approvals {
		if one := &d.approvals[i]; one.ID == id && one.State == operator.Pending {
			one.State, one.Channel, one.Actor, one.Reason = map[bool]operator.ApprovalState{true: operator.Approved, false: operator.Denied}[a.Approve], a.Channel, a.Actor, a.Reason
			d.answers = append(d.answers, fmt.Sprint(id, " ", a.Approve, " ", a.Channel, " ", a.Person, " ", a.Actor, " ", a.Reason))
			if a.PIN != "" {
				d.answers = append(d.answers, fmt.Sprint("with a PIN of ", len(a.PIN)))
			}
			if a.Grant != nil {
				d.answers = append(d.answers, fmt.Sprint("granted for ", a.Grant.For, " like ", a.Grant.Like, " session ", a.Grant.Session))
			}
			return nil
		}
	}
	return fmt.Errorf("approval %s is answered already", id)
}

func (d *desk) Grants() []operator.GrantInfo {
	return []operator.GrantInfo{{ID: "gr_1", Tool: "<i>" + d.evil, Session: d.evil, Like: []operator.GrantPin{{Field: "<i>" + d.evil, Value: "<i>"}}, Actor: d.evil, Until: time.Now().Add(time.Hour)}}
}

func (d *desk) Revoke(id, actor string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != "gr_1" {
		return fmt.Errorf("no grant %s is valid", id)
	}
	d.answers = append(d.answers, "revoked "+id+" "+actor)
	return nil
}

func (d *desk) told() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.answers, "; ")
}

func question(n int, tool string) operator.ApprovalInfo {
	return operator.ApprovalInfo{
		ID: fmt.Sprint("ap_", n), State: operator.Pending, Session: "s", Principal: "p", Upstream: "prod", Tool: tool, Arguments: json.RawMessage(`{}`),
		SHA256: "abcdef0123456789", Rules: []string{"a.rules:1:1"}, Created: time.Now(), Expires: time.Now().Add(time.Minute), Question: "Allow " + tool + "?",
	}
}

// A browser has a console's cookie, or none.
type browser struct {
	t      *testing.T
	server *httptest.Server
	desk   *desk
	cookie string
	token  string
}

var ann = Person{Name: "ann", ID: "uid 1000"}

// visit opens a console with the given approvals in a browser that is logged in.
func visit(t *testing.T, approvals ...operator.ApprovalInfo) (*browser, *Console) {
	t.Helper()
	b := &browser{t: t, desk: &desk{approvals: approvals, changed: make(chan struct{})}}
	b.server = httptest.NewUnstartedServer(nil)
	c := New(Options{Proxy: b.desk, Hosts: []string{b.server.Listener.Addr().String(), "console.example"}, Grants: true})
	b.server.Config.Handler = c
	b.server.Start()
	t.Cleanup(func() { c.Close(); b.server.Close() })
	b.enter(c.Code(ann))
	return b, c
}

func (b *browser) enter(code string) *http.Response {
	b.t.Helper()
	r, _ := b.do(b.request(http.MethodPost, "/login", url.Values{"code": {code}, "next": {"/inbox"}}))
	for _, c := range r.Cookies() {
		b.cookie = c.Name + "=" + c.Value
	}
	if _, page := b.get("/inbox"); strings.Contains(page, `name="token" value="`) {
		_, rest, _ := strings.Cut(page, `name="token" value="`)
		b.token, _, _ = strings.Cut(rest, `"`)
	}
	return r
}

// request returns a request as one of the console's pages would send it.
func (b *browser) request(method, path string, form url.Values) *http.Request {
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	return r
}

func (b *browser) do(r *http.Request) (*http.Response, string) {
	b.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response, string(page)
}

func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	r, page := b.do(b.request(http.MethodGet, path, nil))
	return r.StatusCode, page
}

// post sends a form with the session's token.
func (b *browser) post(path string, form url.Values) (int, string) {
	b.t.Helper()
	form.Set("token", b.token)
	r, page := b.do(b.request(http.MethodPost, path, form))
	return r.StatusCode, page
}

// TestCodeLogsInOnce checks that a code logs in one browser, once, as the right person, and that
// nothing is shown before that.
func TestCodeLogsInOnce(t *testing.T) {
	b, c := visit(t, question(1, "deploy"))
	stranger := &browser{t: t, server: b.server, desk: b.desk}
	for _, path := range []string{"/", "/inbox", "/inbox/ap_1", "/events", "/nothing"} {
		if code, page := stranger.get(path); code != http.StatusUnauthorized || strings.Contains(page, "deploy") {
			t.Errorf("%s: %d %s", path, code, page)
		}
	}
	if code, page := b.get("/inbox"); code != http.StatusOK || !strings.Contains(page, "<b>deploy</b>") {
		t.Errorf("%d %s", code, page)
	}
	code := c.Code(ann)
	for n, want := range []int{http.StatusSeeOther, http.StatusForbidden} { // the second use of the code fails
		if r := stranger.enter(code); r.StatusCode != want {
			t.Errorf("time %d: %s", n, r.Status)
		}
	}
	for _, wrong := range []string{"", "x", code + "A", strings.ToLower(c.Code(ann))} {
		if r := (&browser{t: t, server: b.server, desk: b.desk}).enter(wrong); r.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", wrong, r.Status)
		}
	}
	if status, _ := b.post("/logout", url.Values{}); status != http.StatusSeeOther {
		t.Errorf("leaving: %d", status)
	}
	if status, _ := b.get("/inbox"); status != http.StatusUnauthorized {
		t.Errorf("after it has left: %d", status)
	}
}

// TestCookieAttributes checks that the cookie is sent only to the console's pages and cannot be
// read by scripts.
func TestCookieAttributes(t *testing.T) {
	b, c := visit(t)
	r := b.enter(c.Code(ann))
	if got := r.Header.Get("Set-Cookie"); !strings.Contains(got, "; HttpOnly; SameSite=Strict") || !strings.Contains(got, "; Path=/") {
		t.Error(got)
	}
	r, _ = b.do(b.request(http.MethodGet, "/inbox", nil))
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := r.Header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.Header.Get("Content-Security-Policy"); strings.Contains(got, "unsafe") || !strings.Contains(got, "frame-ancestors 'none'") || !strings.Contains(got, "require-trusted-types-for 'script'") {
		t.Error(got)
	}
}

// TestSecureCookie checks that behind a TLS server the cookie is sent only over TLS, and that
// headers from another site do not help to log in.
func TestSecureCookie(t *testing.T) {
	b, c := visit(t)
	if r, _ := b.do((&browser{t: t, server: b.server}).request(http.MethodGet, "/inbox", nil)); r.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the login does not say where it is: %v", r.Header)
	}
	for _, tt := range []struct {
		host, origin, site string
		in, secure         bool
	}{
		{"", b.server.URL, "same-origin", true, false},
		{"", "null", "same-origin", true, false}, // sent by a browser that always applies no-referrer
		{"console.example", "https://console.example", "same-origin", true, true},
		{"console.example", "https://console.example", "", true, true},
		{"console.example", "http://console.example", "same-origin", true, false},
		{"", "https://console.example", "same-origin", true, true}, // the reverse proxy has replaced the host
		{"", "https://console.example", "", false, false},
		{"", "https://console.example", "same-site", false, false},
		{"", "https://evil.example", "same-origin", false, false},
		{"", "https://console.example.evil.example", "same-origin", false, false},
		{"console.example", "https://evil.example", "", false, false},
	} {
		code := c.Code(ann)
		r := b.request(http.MethodPost, "/login", url.Values{"code": {code}})
		r.Host = tt.host
		r.Header.Set("Origin", tt.origin)
		r.Header.Set("Sec-Fetch-Site", tt.site)
		response, _ := b.do(r)
		got := response.Header.Get("Set-Cookie")
		if (got != "") != tt.in || strings.Contains(got, "; Secure") != tt.secure {
			t.Errorf("%+v: %s, %q", tt, response.Status, got)
		}
	}
}

// TestCodesAndCookiesExpire checks that codes and cookies are valid only for a limited time.
func TestCodesAndCookiesExpire(t *testing.T) {
	now := time.Now()
	d := newLogins(nil, func() time.Time { return now })
	old := d.newCode(ann)
	now = now.Add(codeTime)
	if d.redeem(old) != "" {
		t.Error("an old code lets in")
	}
	cookie := d.redeem(d.newCode(ann))
	for range 3 {
		now = now.Add(sessionTime - 1)
		if _, ok := d.visitorFor(cookie); !ok {
			t.Fatal("a cookie that is used ends")
		}
	}
	now = now.Add(sessionTime)
	if _, ok := d.visitorFor(cookie); ok {
		t.Error("a cookie that is not used lasts")
	}
	first := d.redeem(d.newCode(ann))
	for range maxSessions {
		now = now.Add(time.Second)
		d.redeem(d.newCode(ann))
	}
	if _, ok := d.visitorFor(first); ok || len(d.sessions) != maxSessions {
		t.Errorf("%d sessions", len(d.sessions))
	}
	for range maxCodes + 1 {
		d.newCode(ann)
	}
	if len(d.codes) > maxCodes {
		t.Errorf("%d codes", len(d.codes))
	}
}

// TestEachRequestCheckRefuses covers C007 and C008: each check refuses a request by itself, even if
// the cookie and the token are right, and a GET changes nothing.
func TestEachRequestCheckRefuses(t *testing.T) {
	b, _ := visit(t, question(1, "deploy"))
	form := url.Values{"id": {"ap_1"}, "decision": {"approve"}, "token": {b.token}}
	for name, change := range map[string]func(r *http.Request){
		"a name that leads here":       func(r *http.Request) { r.Host = "evil.example" },
		"that name, with our port":     func(r *http.Request) { _, port, _ := strings.Cut(r.URL.Host, ":"); r.Host = "evil.example:" + port },
		"a page of another site":       func(r *http.Request) { r.Header.Set("Origin", "https://evil.example"); r.Header.Del("Sec-Fetch-Site") },
		"a page without a site":        func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Del("Sec-Fetch-Site") },
		"another port of this machine": func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1"); r.Header.Del("Sec-Fetch-Site") },
		"another site, as browsers say": func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		},
		"who says nothing of pages": func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Sec-Fetch-Site") },
		"no cookie":                 func(r *http.Request) { r.Header.Del("Cookie") },
		"another cookie":            func(r *http.Request) { r.Header.Set("Cookie", strings.Split(b.cookie, "=")[0]+"=AAAA") },
		"GET": func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
			r.URL.RawQuery = form.Encode()
		},
		"another token": func(r *http.Request) {
			own := url.Values{"id": {"ap_1"}, "decision": {"approve"}, "token": {"x"}}.Encode()
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(own)), int64(len(own))
		},
		"a token in the address": func(r *http.Request) {
			own := url.Values{"id": {"ap_1"}, "decision": {"approve"}}.Encode()
			r.Body, r.ContentLength, r.URL.RawQuery = io.NopCloser(strings.NewReader(own)), int64(len(own)), "token="+b.token
		},
		"too large": func(r *http.Request) {
			own := form.Encode() + "&x=" + strings.Repeat("x", maxForm)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(own)), int64(len(own))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(http.MethodPost, "/answer", form)
			change(r)
			response, _ := b.do(r)
			if response.StatusCode < 400 || b.desk.told() != "" {
				t.Errorf("%s, and answered: %s", response.Status, b.desk.told())
			}
		})
	}
	if r, _ := b.do(b.request(http.MethodPost, "/answer", form)); r.StatusCode != http.StatusSeeOther || b.desk.told() != "ap_1 true web uid 1000 ann " {
		t.Errorf("the form itself: %s, answered: %s", r.Status, b.desk.told())
	}
}

// TestAllowedHosts checks that a configured host name is accepted.
func TestAllowedHosts(t *testing.T) {
	b, _ := visit(t)
	for host, want := range map[string]int{"console.example": http.StatusUnauthorized, "Console.Example:99": http.StatusUnauthorized, "x.console.example": http.StatusForbidden, "": http.StatusOK} {
		r := b.request(http.MethodGet, "/inbox", nil)
		r.Host = host
		if response, _ := b.do(r); response.StatusCode != want { // the cookie belongs to a different port
			t.Errorf("%q: %s", host, response.Status)
		}
	}
}

// TestAnswersCountForNamedApprovals checks that an answer counts only for the approvals in the
// form, and that the next page reports it.
func TestAnswersCountForNamedApprovals(t *testing.T) {
	b, _ := visit(t, question(1, "deploy"), question(2, "push"), question(3, "drop"))
	if code, _ := b.post("/answer", url.Values{"id": {"ap_1"}, "decision": {"deny"}, "reason": {"no <b>way</b>"}, "next": {"//evil.example/"}}); code != http.StatusSeeOther {
		t.Error(code)
	}
	if _, page := b.get("/inbox"); !strings.Contains(page, "ap_1 is denied.") || !strings.Contains(page, "no &lt;b&gt;way&lt;/b&gt;") || strings.Contains(page, "<b>way") {
		t.Error(page)
	}
	if _, page := b.get("/inbox"); strings.Contains(page, "ap_1 is denied.") {
		t.Error("it is said twice")
	}
	for _, form := range []url.Values{
		{"id": {"ap_2"}, "decision": {"APPROVE"}}, {"id": {"ap_2"}}, {"decision": {"approve"}}, {"id": {"ap_9"}, "decision": {"approve"}},
		{"id": {"ap_2"}, "decision": {"approve"}, "reason": {strings.Repeat("x", maxReason+1)}},
		{"id": slices.Repeat([]string{"ap_2"}, questionsShown+1), "decision": {"approve"}, "confirmed": {"yes"}},
	} {
		if b.post("/answer", form); b.desk.told() != "ap_1 false web uid 1000 ann no <b>way</b>" {
			t.Errorf("%v: %s", form, b.desk.told())
		}
	}
	b.get("/inbox")

	// Answering several approvals requires confirmation for exactly these approvals.
	both := url.Values{"id": {"ap_1", "ap_2", "ap_3"}, "decision": {"approve"}}
	_, page := b.post("/answer", both)
	if !strings.Contains(page, "Approve 2 calls, each once?") || !strings.Contains(page, "ap_1 was answered or ended meanwhile") || strings.Count(b.desk.told(), ";") != 0 {
		t.Error(page)
	}
	both.Set("confirmed", "yes")
	b.post("/answer", both)
	if _, page := b.get("/inbox"); !strings.Contains(page, "ap_1 was not answered: approval ap_1 is answered already.") || !strings.Contains(page, "ap_3 is approved, once.") || !strings.Contains(page, "No calls waiting") {
		t.Error(page)
	}
	if got := b.desk.told(); strings.Count(got, "true web") != 2 {
		t.Error(got)
	}
}

// TestGrants checks that a person can create a grant, see it and revoke it.
func TestGrants(t *testing.T) {
	q := question(1, "deploy")
	q.Arguments = json.RawMessage(`{"to":"x","<b>":1}`)
	masked := question(2, "push")
	masked.Masked = 1
	b, _ := visit(t, q, masked)
	_, page := b.get("/inbox")
	if strings.Count(page, "Also approve similar calls") != 1 || !strings.Contains(page, "you can only allow what you see") || !strings.Contains(page, `name="like" value="&lt;b&gt;" checked`) || strings.Contains(page, "<i>") {
		t.Error(page)
	}
	for _, form := range []url.Values{{"id": {"ap_1"}}, {"for": {"10m"}}, {"id": {"ap_1"}, "for": {"always"}}} {
		if code, _ := b.post("/grant", form); code != http.StatusBadRequest || b.desk.told() != "" {
			t.Errorf("%v: %d %s", form, code, b.desk.told())
		}
	}
	b.post("/grant", url.Values{"id": {"ap_1"}, "for": {"10m"}, "like": {"to"}})
	b.post("/grant", url.Values{"id": {"ap_1"}, "for": {"10m"}})
	b.desk.approvals = append(b.desk.approvals, question(3, "deploy"))
	b.post("/grant", url.Values{"id": {"ap_3"}, "for": {"session"}})
	b.post("/revoke", url.Values{"id": {"gr_1"}})
	b.post("/revoke", url.Values{"id": {"gr_9"}})
	if want := "ap_1 true web uid 1000 ann ; granted for 10m0s like [to] session false; ap_3 true web uid 1000 ann ; granted for 0s like [] session true; revoked gr_1 ann"; b.desk.told() != want {
		t.Error(b.desk.told())
	}
	if _, page := b.get("/inbox"); !strings.Contains(page, "similar calls pass for 10m") || !strings.Contains(page, "is answered already") || !strings.Contains(page, `<p class="note wrong">Grant gr_9 was not revoked`) || !strings.Contains(page, `<p class="note">Grant gr_1 is revoked`) {
		t.Error(page)
	}
}

// TestRejections checks that a late answer appears in the history, can be found by a search, and is
// shown on the approval's page.
func TestRejections(t *testing.T) {
	a := question(1, "deploy")
	a.State, a.Actor, a.Channel = operator.Denied, "ann", "web"
	a.Rejections = []operator.Rejection{{Kind: "late", Approve: true, Channel: "cli", Actor: "<b>bob", Reason: "fine", At: time.Now()}}
	b, _ := visit(t, a)
	for _, path := range []string{"/inbox", "/inbox?q=too+late", "/inbox/ap_1"} {
		if _, body := b.get(path); !strings.Contains(body, "too late: approved by &lt;b&gt;bob via cli") {
			t.Errorf("%s: %s", path, body)
		}
	}
	if _, body := b.get("/inbox?q=too+early"); strings.Contains(body, "bob via cli") {
		t.Error("the history has it without its words")
	}
}

// TestManyQuestions checks that the oldest approvals come first and the others follow on further
// pages.
func TestManyQuestions(t *testing.T) {
	var many []operator.ApprovalInfo
	for n := range 60 {
		many = append(many, question(n, fmt.Sprint("tool", n)))
	}
	b, _ := visit(t, many...)
	for from, want := range map[string][2]string{"": {"ap_0", "ap_24"}, "?from=25": {"ap_25", "ap_49"}, "?from=50": {"ap_50", "ap_59"}, "?from=x": {"ap_0", "ap_24"}, "?from=99": {"ap_0", "ap_24"}} {
		_, page := b.get("/inbox" + from)
		first, last := strings.Index(page, `id="`+want[0]+`"`), strings.Index(page, `id="`+want[1]+`"`)
		if first < 0 || last < first || !strings.Contains(page, "60 calls waiting for approval") {
			t.Errorf("%q: %d %d", from, first, last)
		}
	}
	if code, page := b.get("/inbox/ap_55"); code != http.StatusOK || !strings.Contains(page, "<b>tool55</b>") {
		t.Error(code, page)
	}
	if code, _ := b.get("/inbox/ap_99"); code != http.StatusNotFound {
		t.Error(code)
	}
}

// TestEventsUntilClose checks that a page is notified of each change until the console is closed.
func TestEventsUntilClose(t *testing.T) {
	b, c := visit(t, question(1, "deploy"))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(b.request(http.MethodGet, "/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	read := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	read("event: approvals\ndata: 1\n\n")
	b.desk.mu.Lock()
	changed := b.desk.changed
	b.desk.approvals[0].State, b.desk.changed = operator.Expired, make(chan struct{})
	b.desk.mu.Unlock()
	close(changed)
	read("event: approvals\ndata: 0\n\n")
	c.Close()
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
}

// TestHostileText checks that text from others neither becomes markup nor imitates other text.
func TestHostileText(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[2J\u202e\"onload='x'"
	q := question(1, evil)
	q.Upstream, q.Session, q.Principal, q.Client, q.Warnings, q.Beside = evil, evil, evil, evil, []string{evil}, json.RawMessage("<img src=x>\u202e")
	q.Steps, q.Arguments = []operator.ApprovalStep{{Net: evil, Transition: evil, Rule: evil, Reason: evil}}, json.RawMessage("{\"<img src=x onerror=alert(1)>\":\"\u202e\"}")
	q.LastApproved, q.Differences = &q.Created, []operator.Difference{{Path: evil, Was: json.RawMessage("\"<script>alert\u202e\"")}}
	done := q
	done.ID, done.State, done.Actor, done.Reason = "ap_2", operator.Denied, evil, evil
	b, _ := visit(t, q, done)
	for _, path := range []string{"/inbox", "/inbox/ap_1", "/inbox/ap_2", "/inbox?q=" + url.QueryEscape(evil)} {
		_, page := b.get(path)
		own := strings.Contains(path, "?") // text that the person has typed is shown unchanged
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || !own && strings.ContainsAny(page, "\x1b\u202e") {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// TestTemplateNamesAreUnique checks that template names are unique, because a later template would
// replace an earlier one.
func TestTemplateNamesAreUnique(t *testing.T) {
	files, err := pageFiles.ReadDir("pages")
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]string{}
	for _, f := range files {
		page, err := pageFiles.ReadFile("pages/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\{\{define "(\w+)"`).FindAllStringSubmatch(string(page), -1) {
			if in[m[1]] != "" {
				t.Errorf("%s and %s define %q", in[m[1]], f.Name(), m[1])
			}
			in[m[1]] = f.Name()
		}
	}
	if len(in) < 10 {
		t.Errorf("only %d templates", len(in))
	}
}

// TestPINField checks that each form that approves asks for the PIN if the approval requires it,
// and that pressing Enter in the field does not press a button by accident.
func TestPINField(t *testing.T) {
	all := []operator.ApprovalInfo{question(1, "deploy"), question(2, "push")}
	b, _ := visit(t, all...)
	if _, page := b.get("/inbox"); strings.Contains(page, `name="pin"`) {
		t.Error("a PIN is asked for where there is none")
	}
	for i := range all {
		b.desk.approvals[i].PIN = true
	}
	_, page := b.get("/inbox")
	if n := strings.Count(page, `<input type="password" name="pin" autocomplete="off"`); n != 4 || strings.Count(page, "<button disabled hidden></button>") != 2 {
		t.Errorf("%d fields: %s", n, page)
	}
	_, page = b.post("/answer", url.Values{"id": {"ap_1", "ap_2"}, "decision": {"approve"}})
	if !strings.Contains(page, `name="pin"`) {
		t.Error("several at once are approved without it")
	}
	_, page = b.post("/answer", url.Values{"id": {"ap_1", "ap_2"}, "decision": {"deny"}})
	if strings.Contains(page, `name="pin"`) {
		t.Error("it is asked for to deny")
	}
	b.post("/answer", url.Values{"id": {"ap_1"}, "decision": {"approve"}, "pin": {"correct horse"}})
	b.post("/grant", url.Values{"id": {"ap_2"}, "for": {"10m"}, "pin": {"correct horse"}})
	if got := b.desk.told(); strings.Count(got, "with a PIN of 13") != 2 {
		t.Error(got)
	}
}

// TestPINFieldOfOrders checks that, if approvals require the PIN, all other forms that could let a
// call pass have a PIN field, while the form that stops calls has none.
func TestPINFieldOfOrders(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	b.desk.status.Stopped = []operator.StopInfo{{Actor: "ann"}}
	typed := "correct horse"
	stop := url.Values{"session": {""}}
	asking := func() (n int) {
		for _, path := range []string{"/tools", "/sessions?id=s1", "/sessions?id=s1&reset=ask"} {
			_, page := b.get(path)
			n += strings.Count(page, `name="pin"`)
		}
		_, page := b.post("/start", stop)
		return n + strings.Count(page, `name="pin"`)
	}
	if n := asking(); n != 0 {
		t.Errorf("%d fields where there is no PIN", n)
	}
	b.desk.status.PIN = true
	if n := asking(); n != 5 { // one to accept a tool, one for the call on each of two pages, one to reset, and one to start
		t.Errorf("%d fields", n)
	}
	if _, page := b.post("/stop", stop); strings.Contains(page, `name="pin"`) {
		t.Error("it is asked for to stop")
	}
	b.post("/sessions/reset", url.Values{"id": {"s1"}, "confirmed": {"yes"}, "pin": {typed}})
	b.post("/sessions/settle", url.Values{"id": {"s1"}, "call": {"7"}, "outcome": {"success"}, "pin": {typed}})
	b.post("/tools/accept", url.Values{"tool": {"fs.read"}, "hash": {"h1"}, "pin": {typed}})
	b.post("/start", url.Values{"session": {""}, "confirmed": {"yes"}, "pin": {typed}})
	if got := b.desk.site.told() + b.desk.told(); strings.Count(got, "ann"+typed) != 4 {
		t.Error(got)
	}
}
