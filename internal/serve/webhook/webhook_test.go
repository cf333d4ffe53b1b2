package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/serve/webhook"
	"github.com/petrigate/petrigate/proxy"
)

// sign creates a signature as a system that follows the documentation does.
func sign(secret string, body []byte, at time.Time) string {
	t := fmt.Sprint(at.Unix())
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(m, t+"."+string(body))
	return "t=" + t + ",v1=" + hex.EncodeToString(m.Sum(nil))
}

// signed verifies a POST as such a system does.
func signed(h http.Header, body []byte) bool {
	given := h.Get("X-Petrigate-Signature")
	var t int64
	if _, err := fmt.Sscanf(given, "t=%d,", &t); err != nil {
		return false
	}
	return given == sign(secret, body, time.Unix(t, 0)) && time.Since(time.Unix(t, 0)).Abs() < time.Minute
}

// TestSignedAnswerEndsWait checks that a call waits for the system's answer, that the system learns
// what would run, and that it is notified when the approval has ended.
func TestSignedAnswerEndsWait(t *testing.T) {
	for decision, runs := range map[string]int{"approve": 1, "deny": 0} {
		t.Run(decision, func(t *testing.T) {
			s := start(t, setup{})
			call := s.call("deploy", `{"to":"prod"}`)
			d := s.next("asked")
			if d.Version != 1 || d.State != "pending" || d.Upstream != "up" || d.Tool != "deploy" || d.Size != 13 || len(d.SHA256) != 64 || d.Needs != 1 ||
				string(d.Arguments) != `{"to":"prod"}` || d.LeftOut || len(d.Rules) != 1 || !strings.HasPrefix(d.Rules[0], "safety.rules:1:1") {
				t.Errorf("%s", d.body)
			}
			if d.Client != `tes\u{202e}ter 1` || !strings.Contains(d.Question, "Allow deploy on upstream up?") || d.Answer != s.answers+"/answer" ||
				d.header.Get("X-Petrigate-Delivery") != d.Delivery || d.Delivery == "" {
				t.Errorf("%v\n%s", d.header, d.body)
			}
			s.ran("deploy", 0)
			if status, said := s.answer(say(d, decision, "ann@example.com")); status != 200 || said != `{"id":"`+d.ID+`","noted":"`+decision+`"}`+"\n" {
				t.Errorf("%d %s", status, said)
			}
			result := s.reply(call)
			s.ran("deploy", runs)
			if runs == 0 && !strings.Contains(result, "A person denied deploy: checked.") {
				t.Error(result)
			}
			d = s.next("ended")
			if want := map[string]string{"approve": "approved consumed", "deny": "denied"}[decision]; !strings.Contains(want, d.State) || d.Actor != "ann@example.com" ||
				d.Channel != "webhook" || d.Reason != "checked" || d.Nonce != "" || d.Approve != "" || d.Answer != "" {
				t.Errorf("%s", d.body)
			}
			if !strings.Contains(s.logged.String(), "by ann@example.com via webhook") {
				t.Errorf("the log does not say who: %s", s.logged)
			}
		})
	}
}

// TestLinkAnswersOnPostOnly checks that a GET request to a link changes nothing, and that a POST
// request counts once.
func TestLinkAnswersOnPostOnly(t *testing.T) {
	for _, approve := range []bool{true, false} {
		s := start(t, setup{})
		call := s.call("deploy", `{"to":"<b>prod</b>"}`)
		d := s.next("asked")
		link, other, button, runs := d.Deny, d.Approve, "Deny", 0
		if approve {
			link, other, button, runs = d.Approve, d.Deny, "Approve", 1
		}
		for _, method := range []string{"GET", "HEAD", "GET"} {
			if status, page := s.do(method, link, nil); status != 200 || method == "GET" && (!strings.Contains(page, ">"+button+"</button>") ||
				!strings.Contains(page, "&lt;b&gt;prod&lt;/b&gt;") || strings.Contains(page, "<b>") || strings.Contains(page, "<script")) {
				t.Errorf("%d %s", status, page)
			}
		}
		for _, method := range []string{"PUT", "DELETE", "OPTIONS"} {
			if status, _ := s.do(method, link, nil); status != 405 {
				t.Errorf("%s: %d", method, status)
			}
		}
		s.pending(d.ID)
		status, page := s.post(link, []byte("reason=because"), "Content-Type", "application/x-www-form-urlencoded")
		if status != 200 {
			t.Errorf("%d %s", status, page)
		}
		result := s.reply(call)
		s.ran("deploy", runs)
		if !approve && !strings.Contains(result, "A person denied deploy: because.") {
			t.Error(result)
		}
		for _, again := range []string{link, other} {
			if status, _ := s.post(again, nil); status != 409 {
				t.Errorf("used again: %d", status)
			}
			if status, page := s.do("GET", again, nil); status != 410 || strings.Contains(page, "<button") {
				t.Errorf("%d %s", status, page)
			}
		}
		s.ran("deploy", runs)
	}
}

// TestPageHeaders checks that the page runs no script, cannot be framed or cached, and does not
// reveal its address as a referrer.
func TestPageHeaders(t *testing.T) {
	s := start(t, setup{})
	s.call("deploy", `{}`)
	response, err := http.Get(s.next("asked").Approve)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	policy := response.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
			t.Errorf("%q lacks %q", policy, want)
		}
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"} {
		if response.Header.Get(name) != want {
			t.Errorf("%s: %q", name, response.Header.Get(name))
		}
	}
}

// TestForgedAnswersAreRefused covers C005 and C006: only a signed answer about exactly this
// approval counts.
func TestForgedAnswersAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	s.call("deploy", `{"n":1}`)
	one := s.next("asked")
	s.call("deploy", `{"n":2}`)
	two := s.next("asked")
	good := say(one, "approve", "ann")
	flipped := strings.Replace(one.Nonce, one.Nonce[:1], map[bool]string{true: "B", false: "A"}[one.Nonce[0] == 'A'], 1)
	for body, want := range map[string]int{
		strings.Replace(good, `"approve"`, `"Approve"`, 1):                       400,
		strings.Replace(good, `"approve"`, `"yes"`, 1):                           400,
		strings.Replace(good, `"approve"`, `true`, 1):                            400,
		strings.Replace(good, `"approve"`, `1`, 1):                               400,
		strings.Replace(good, `"approve"`, `["approve"]`, 1):                     400,
		strings.Replace(good, `"approve"`, `null`, 1):                            400,
		strings.Replace(good, `"decision":"approve"`, `"approved":"false"`, 1):   400,
		strings.Replace(good, `"decision":"approve"`, `"approved":1`, 1):         400,
		strings.Replace(good, `"decision":"approve"`, `"approved":true`, 1):      400,
		strings.Replace(good, `"decision"`, `"DECISION"`, 1):                     400,
		strings.Replace(good, `{`, `{"decision":"deny",`, 1):                     400,
		strings.Replace(good, `{`, `{"d\u0065cision":"deny",`, 1):                400,
		strings.Replace(good, `{`, `{"force":"1",`, 1):                           400,
		strings.Replace(good, `"ann"`, `"  "`, 1):                                400,
		strings.Replace(good, `"ann"`, `"`+strings.Repeat("a", 300)+`"`, 1):      400,
		strings.Replace(good, `"checked"`, `"`+strings.Repeat("a", 2000)+`"`, 1): 400,
		strings.Replace(good, `,"actor":"ann"`, ``, 1):                           400,
		strings.Replace(good, `"ann"`, `"ann\u200b"`, 1):                         400,
		good + good:                             400,
		"[" + good + "]":                        400,
		`"approve"`:                             400,
		"":                                      400,
		"approve":                               400,
		good[:len(good)-1]:                      400,
		strings.Replace(good, one.Nonce, "", 1): 400,
		strings.Replace(good, one.Nonce, one.Nonce+"A", 1):        400,
		strings.Replace(good, one.Nonce, flipped, 1):              403,
		strings.Replace(good, one.Nonce, two.Nonce, 1):            403,
		strings.Replace(good, one.ID, two.ID, 1):                  403,
		strings.Replace(good, one.ID, "ap_AAAAAAAA", 1):           404,
		strings.Replace(good, one.ID, strings.ToLower(one.ID), 1): 404,
		`{"x":"` + strings.Repeat("x", 20<<10) + `"}`:             413,
	} {
		if status, said := s.answer(body); status != want || !strings.HasPrefix(said, `{"error":"`) {
			t.Errorf("%.300s: %d %s, want %d", body, status, said, want)
		}
	}
	header := func(h string) []string { return []string{"X-Petrigate-Signature", h} }
	now := time.Now()
	right := sign(secret, []byte(good), now)
	for name, headers := range map[string][]string{
		"no signature":     nil,
		"another secret":   header(sign("another secret, also long", []byte(good), now)),
		"no secret":        header(sign("", []byte(good), now)),
		"another body":     header(sign(secret, []byte(good+" "), now)),
		"its own question": header(one.header.Get("X-Petrigate-Signature")),
		"old":              header(sign(secret, []byte(good), now.Add(-6*time.Minute))),
		"ahead":            header(sign(secret, []byte(good), now.Add(6*time.Minute))),
		"another time":     header(strings.Replace(right, "t=1", "t=2", 1)),
		"cut":              header(right[:len(right)-2]),
		"empty MAC":        header(right[:strings.Index(right, ",v1=")+4]),
		"twice":            append(header(right), header(right)...),
		"two in one":       header(right + "," + right),
		"plus":             header(strings.Replace(right, "t=", "t=+", 1)),
		"bearer":           {"Authorization", "Bearer " + secret},
	} {
		if status, said := s.post(s.answers+"/answer", []byte(good), headers...); status != 401 {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	for _, path := range []string{"/answer/" + one.ID + "/", "/answer/" + one.ID, "/answer/" + one.ID + "/" + one.Nonce, "/", "/answer/../answer/" + one.ID + "/x", "/approve/" + one.ID} {
		if status, said := s.post(s.answers+path, nil); status/100 != 4 && status/100 != 3 {
			t.Errorf("%s: %d %s", path, status, said)
		}
	}
	s.pending(one.ID)
	s.pending(two.ID)
	s.ran("deploy", 0)
	if strings.Contains(s.logged.String(), secret) || strings.Contains(s.logged.String(), "T0001") || strings.Contains(s.logged.String(), one.Nonce) {
		t.Errorf("the log tells a secret: %s", s.logged)
	}
}

// TestForgedLinksAreRefused checks that changing any byte of a link makes it invalid, and that it
// is valid for one approval only.
func TestForgedLinksAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	s.call("deploy", `{"n":1}`)
	one := s.next("asked")
	s.call("deploy", `{"n":2}`)
	two := s.next("asked")
	token := one.Approve[strings.LastIndex(one.Approve, "/")+1:]
	at := s.answers + "/answer/"
	links := []string{
		at + two.ID + "/" + token, at + "ap_AAAAAAAA/" + token, at + one.ID + "/" + token + "A", at + one.ID + "/" + token[1:], at + one.ID + "/x",
		at + strings.ToLower(one.ID) + "/" + token, at + one.ID + "%20/" + token,
	}
	for i := range token {
		other := "A"
		if token[i] == 'A' {
			other = "B"
		}
		links = append(links, at+one.ID+"/"+token[:i]+other+token[i+1:])
	}
	for _, link := range links {
		for _, method := range []string{"GET", "POST"} {
			if status, page := s.do(method, link, nil); status != 404 || strings.Contains(page, "deploy") {
				t.Errorf("%s %s: %d %s", method, link, status, page)
			}
		}
	}
	if status, _ := s.post(one.Approve, []byte(strings.Repeat("x", 20<<10))); status != 413 {
		t.Errorf("a long body: %d", status)
	}
	if status, _ := s.post(one.Approve, []byte("reason="+strings.Repeat("x", 2<<10)), "Content-Type", "application/x-www-form-urlencoded"); status != 400 {
		t.Errorf("a long reason: %d", status)
	}
	if status, _ := s.post(one.Approve, []byte("%zz=;"), "Content-Type", "application/x-www-form-urlencoded"); status != 400 {
		t.Errorf("a broken form: %d", status)
	}
	s.pending(one.ID)
	s.shift(16 * time.Minute)
	for _, method := range []string{"GET", "POST"} {
		if status, page := s.do(method, one.Approve, nil); status != 410 {
			t.Errorf("%s after its time: %d %s", method, status, page)
		}
	}
	s.shift(0)
	s.pending(one.ID)
	s.ran("deploy", 0)
}

// TestAnswerCountsOnce checks that an answer counts only once, and not for a later approval of the
// same call.
func TestAnswerCountsOnce(t *testing.T) {
	s := start(t, setup{})
	call := s.call("deploy", `{}`)
	one := s.next("asked")
	if status, said := s.answer(say(one, "approve", "ann")); status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	s.reply(call)
	s.next("ended")
	s.ran("deploy", 1)
	s.call("deploy", `{}`)
	two := s.next("asked")
	if two.ID == one.ID || two.Nonce == one.Nonce || two.Approve == one.Approve {
		t.Errorf("the questions are alike: %s", two.body)
	}
	for _, body := range []string{say(one, "approve", "ann"), say(one, "deny", "bob"), say(one, "approve", "bob")} {
		if status, said := s.answer(body); status != 409 {
			t.Errorf("%d %s", status, said)
		}
	}
	if status, _ := s.answer(strings.Replace(say(one, "approve", "ann"), one.ID, two.ID, 1)); status != 403 {
		t.Errorf("%d", status)
	}
	if status, _ := s.post(one.Approve, nil); status != 409 {
		t.Errorf("%d", status)
	}
	s.pending(two.ID)
	s.ran("deploy", 1)
}

// TestLateAnswerIsRefused checks that an answer has no effect once the approval has ended, and that
// silence does not approve anything.
func TestLateAnswerIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, setup{rules: "require human-approval via webhook before deploy\n", change: func(_ *webhook.Options, o *proxy.Options) {
		o.Approval.Expire = 2 * time.Second // the event is posted earlier than that
	}})
	call := s.call("deploy", `{}`)
	d := s.next("asked")
	if r := s.reply(call); !strings.Contains(r, "no one answered in time") {
		t.Error(r)
	}
	if ended := s.next("ended"); ended.State != "expired" {
		t.Errorf("%s", ended.body)
	}
	if status, said := s.answer(say(d, "approve", "ann")); status != 409 {
		t.Errorf("%d %s", status, said)
	}
	if status, _ := s.post(d.Approve, nil); status/100 != 4 {
		t.Errorf("%d", status)
	}
	s.ran("deploy", 0)
}

// TestFailingSystemApprovesNothing covers C005: no response to a POST can approve a call. Waiting
// calls remain open on other channels. The status reports the failure, and the log reports it once.
func TestFailingSystemApprovesNothing(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed: %s %s", r.Method, r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	answers := map[string]func(http.ResponseWriter, *http.Request){
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"401": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"no response": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for name, respond := range answers {
		t.Run(name, func(t *testing.T) {
			s := start(t, setup{respond: respond})
			call := s.call("deploy", `{}`)
			id := s.next("asked").ID
			s.next("asked") // the second attempt
			s.next("asked")
			if status := s.hook.Status(); status.Error == "" || status.Since == nil || status.Open != 1 || strings.Contains(status.Host+status.Error, "T0001") {
				t.Errorf("%+v", status)
			}
			s.pending(id)
			s.ran("deploy", 0)
			if err := s.proxy.Resolve(id, true, "ann", ""); err != nil {
				t.Fatal(err)
			}
			s.reply(call)
			s.ran("deploy", 1)
			if n := strings.Count(s.logged.String(), "the webhook does not accept approvals"); n != 1 || strings.Contains(s.logged.String(), "T0001") {
				t.Errorf("%d times: %s", n, s.logged)
			}
		})
	}
}

// TestUnknownCertificateIsRefused checks that events are posted only to a TLS server whose
// certificate is signed by a configured authority. For any other server, the log contains the
// reason, and the other channels still work.
func TestUnknownCertificateIsRefused(t *testing.T) {
	got := map[bool]chan string{true: make(chan string, 10), false: make(chan string, 10)} // expected requests under true, forbidden ones under false
	system := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got[r.URL.Path == "/hooks/T0001/known"] <- r.URL.Path
	}))
	system.Config.ErrorLog = log.New(io.Discard, "", 0) // ignore failed handshakes
	system.StartTLS()
	t.Cleanup(system.Close)
	roots := system.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, tt := range map[string]struct {
		tls   *tls.Config
		fails string
	}{
		"known":         {tls: &tls.Config{RootCAs: roots}},
		"of the system": {fails: "x509: certificate signed by unknown authority"},
		"other name":    {tls: &tls.Config{RootCAs: roots, ServerName: "gate.internal"}, fails: "not gate.internal"},
	} {
		t.Run(name, func(t *testing.T) {
			noted := make(chan struct{}, 100)
			s := start(t, setup{change: func(h *webhook.Options, _ *proxy.Options) {
				h.URL, h.TLS, h.Log = system.URL+"/hooks/T0001/"+strings.ReplaceAll(name, " ", ""), tt.tls, slog.New(told{h.Log.Handler(), noted})
			}})
			call := s.call("deploy", `{}`)
			if tt.fails == "" {
				<-got[true]
				return
			}
			<-noted
			if line := s.logged.String(); !strings.Contains(line, "the webhook does not accept approvals") || !strings.Contains(line, tt.fails) || strings.Contains(line, "T0001") {
				t.Errorf("%s", line)
			}
			if err := s.proxy.Resolve(s.proxy.Approvals()[0].ID, true, "ann", ""); err != nil {
				t.Fatal(err)
			}
			s.reply(call)
			s.ran("deploy", 1)
			if len(got[false]) > 0 {
				t.Error("a question was posted to it")
			}
		})
	}
}

// A told is a log that signals each line.
type told struct {
	slog.Handler
	lines chan<- struct{}
}

func (l told) Handle(ctx context.Context, r slog.Record) error {
	err := l.Handler.Handle(ctx, r)
	l.lines <- struct{}{}
	return err
}

// TestResponseIsIgnored checks that the response body of a POST is not interpreted.
func TestResponseIsIgnored(t *testing.T) {
	for _, body := range []string{
		`{"approved":true}`, `{"approved":"false"}`, `{"approved":1}`, `{"decision":"approve"}`, `approve`, "\x00\xff", `{"decision":`, strings.Repeat("x", 1<<20),
	} {
		s := start(t, setup{respond: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }})
		s.call("deploy", `{}`)
		s.pending(s.next("asked").ID)
		s.ran("deploy", 0)
	}
}

// TestUnresolvedHostGetsNothing covers C005: a host that does not resolve, or that resolves to
// another machine without encryption, gets nothing. Its call is finally denied if no other channel
// answers.
func TestUnresolvedHostGetsNothing(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://hooks.invalid/x", "http://192.0.2.1/x", "https://169.254.169.254/x"} {
		s := start(t, setup{rules: "require human-approval via webhook before deploy\n", change: func(h *webhook.Options, o *proxy.Options) {
			h.URL, o.Approval.Expire = url, 300*time.Millisecond
		}})
		if r := s.reply(s.call("deploy", `{}`)); !strings.Contains(r, "no one answered in time") {
			t.Error(r)
		}
		s.ran("deploy", 0)
	}
}

// TestSystemGetsMissedApprovals checks that a system that was down receives the approvals that are
// still pending.
func TestSystemGetsMissedApprovals(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	s := start(t, setup{respond: func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if tries++; tries < 3 {
			w.WriteHeader(503)
		}
	}})
	call := s.call("deploy", `{}`)
	first, second, third := s.next("asked"), s.next("asked"), s.next("asked")
	if first.Delivery != second.Delivery || second.Delivery != third.Delivery || first.Nonce != third.Nonce {
		t.Error("the attempts are different deliveries")
	}
	if status, said := s.answer(say(third, "approve", "ann")); status != 200 {
		t.Errorf("%d %s", status, said)
	}
	s.reply(call)
	s.next("ended")
	s.ran("deploy", 1)
	s.says("accepts approvals again")
	if s.hook.Status().Error != "" {
		t.Errorf("%+v", s.hook.Status())
	}
}

// TestConcurrentAnswersCountOnce checks that only one of several concurrent answers counts.
func TestConcurrentAnswersCountOnce(t *testing.T) {
	for range 5 {
		s := start(t, setup{})
		call := s.call("deploy", `{}`)
		d := s.next("asked")
		counted := make(chan bool, 40)
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				var status int
				approve := i%2 == 0
				switch {
				case i%4 < 2 && approve:
					status, _ = s.post(d.Approve, nil)
				case i%4 < 2:
					status, _ = s.post(d.Deny, nil)
				default:
					status, _ = s.answer(say(d, map[bool]string{true: "approve", false: "deny"}[approve], fmt.Sprint("person", i)))
				}
				if status == 200 {
					counted <- approve
				} else if status != 409 {
					t.Errorf("status %d", status)
				}
			})
		}
		all.Wait()
		if len(counted) != 1 {
			t.Fatalf("%d answers counted", len(counted))
		}
		s.reply(call)
		s.ran("deploy", map[bool]int{true: 1, false: 0}[<-counted])
	}
}

// TestMaskedArgumentsAreNotSent covers C026: no message and no page contains masked values. They
// contain only the names of these values, and the size and hash of all arguments.
func TestMaskedArgumentsAreNotSent(t *testing.T) {
	const args = `{"to":"prod","password":"hunter2","card":{"pin":"4711"}}`
	for mode, want := range map[string]string{
		"":       `{"to":"prod","password":"***","card":{"pin":"***"}}`,
		"masked": `{"to":"prod","password":"***","card":{"pin":"***"}}`,
		"full":   args,
		"none":   `"56 bytes, left out by the configuration"`,
	} {
		s := start(t, setup{change: func(h *webhook.Options, _ *proxy.Options) {
			if h.Arguments = mode; mode != "full" {
				h.Mask = []string{"$.card.pin"}
			}
		}})
		s.call("deploy", args)
		d := s.next("asked")
		if string(d.Arguments) != want || d.Size != len(args) || d.LeftOut != (mode == "none") || !strings.Contains(d.Question, d.SHA256) {
			t.Errorf("%s: %s", mode, d.body)
		}
		_, page := s.do("GET", d.Approve, nil)
		for _, text := range []string{string(d.body), page} {
			if shows := strings.Contains(text, "hunter2") || strings.Contains(text, "4711"); shows != (mode == "full") {
				t.Errorf("%s: %s", mode, text)
			}
		}
	}
}

// TestLongArgumentsAreLeftOut checks that arguments that are too long for a message are replaced
// with a note, and that the page that the link opens shows them in full.
func TestLongArgumentsAreLeftOut(t *testing.T) {
	s := start(t, setup{})
	long := `{"a":"` + strings.Repeat("x", 100<<10) + `rm -rf"}`
	s.call("deploy", long)
	d := s.next("asked")
	if want := fmt.Sprintf(`"%d bytes, left out since they are too long for a message"`, len(long)); string(d.Arguments) != want || !d.LeftOut ||
		d.Size != len(long) || len(d.body) > 10<<10 || !strings.Contains(d.Question, "left out") {
		t.Errorf("%s", d.body)
	}
	if _, page := s.do("GET", d.Approve, nil); !strings.Contains(page, "xxxrm -rf") {
		t.Errorf("the page does not show the end of %d bytes", len(long))
	}
}

// TestHiddenCharactersAreEscaped covers C011, C012 and C013: characters that could hide something
// are escaped in messages and pages.
func TestHiddenCharactersAreEscaped(t *testing.T) {
	s := start(t, setup{})
	s.call("deploy", `{"a":"\u001b[2J\u202eevil\u200b","b":"x\n\nTool: safe\nApprove?"}`)
	d := s.next("asked")
	_, page := s.do("GET", d.Approve, nil)
	for _, text := range []string{string(d.body), d.Question, page} {
		if strings.ContainsAny(text, "\x1b\u202e\u200b") || strings.Contains(text, "\nTool: safe") {
			t.Errorf("%q", text)
		}
	}
}

// TestAnswersOfOnePersonCountOnce checks that all answers from the webhook count as one person,
// unless the system names two people in signed answers.
func TestAnswersOfOnePersonCountOnce(t *testing.T) {
	link := func(s *site, d delivery) int { status, _ := s.post(d.Approve, nil); return status }
	by := func(actor string) func(*site, delivery) int {
		return func(s *site, d delivery) int { status, _ := s.answer(say(d, "approve", actor)); return status }
	}
	for name, c := range map[string]struct {
		first, second func(*site, delivery) int
		passes        bool
	}{
		"two persons":         {by("ann"), by("bob"), true},
		"one twice":           {by("ann"), by("ann"), false},
		"in other letters":    {by("ann"), by(" ANN "), false},
		"a link twice":        {link, link, false},
		"a link, then a name": {link, by("ann"), false},
		"a name, then a link": {by("ann"), link, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, setup{rules: "require 2 human-approvals before deploy\n"})
			call := s.call("deploy", `{}`)
			d := s.next("asked")
			if status := c.first(s, d); status != 200 || d.Needs != 2 {
				t.Errorf("the first: %d", status)
			}
			s.pending(d.ID)
			if status := c.second(s, d); (status == 200) != c.passes || status != 200 && status != 409 {
				t.Errorf("the second: %d", status)
			}
			if !c.passes {
				s.pending(d.ID)
				s.ran("deploy", 0)
				if err := s.proxy.Resolve(d.ID, true, "uid 1000", ""); err != nil {
					t.Error(err)
				}
			}
			s.reply(call)
			s.ran("deploy", 1)
		})
	}
}

// TestRuleForOtherChannelIsNotPosted checks that an approval is not posted if its rule requires a
// different channel.
func TestRuleForOtherChannelIsNotPosted(t *testing.T) {
	s := start(t, setup{rules: "require human-approval via cli before push\nrequire human-approval before deploy\n"})
	push := s.call("push", `{}`)
	if err := s.proxy.Resolve(s.waiting(), true, "ann", ""); err != nil {
		t.Error(err)
	}
	s.reply(push)
	s.call("deploy", `{}`)
	if d := s.next("asked"); d.Tool != "deploy" {
		t.Errorf("%s", d.body)
	}
}

// TestAnswerFasterThanResponse checks that a system may answer before it has responded to the POST.
func TestAnswerFasterThanResponse(t *testing.T) {
	release := make(chan struct{})
	s := start(t, setup{respond: func(http.ResponseWriter, *http.Request) { <-release }})
	defer close(release)
	call := s.call("deploy", `{}`)
	d := s.next("asked")
	if status, said := s.answer(say(d, "approve", "ann")); status != 200 {
		t.Errorf("%d %s", status, said)
	}
	s.reply(call)
	s.ran("deploy", 1)
}

// TestAnswerCountsAtAnyReplica checks that an answer counts at any process with the same database
// and secret, but only once in total, even if the process that has asked has ended.
func TestAnswerCountsAtAnyReplica(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state", "state.db")
		answeredElsewhere(t, func() (backend.Backend, error) { return journal.Open(t.Context(), journal.Options{Path: path}) })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		answeredElsewhere(t, func() (backend.Backend, error) { return postgres.Open(t.Context(), postgres.Options{DSN: dsn}) })
	})
}

func answeredElsewhere(t *testing.T, open func() (backend.Backend, error)) {
	replica := func(secret string) *site {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		return start(t, setup{change: func(h *webhook.Options, o *proxy.Options) { h.Secret, o.Database = secret, b }})
	}
	one, two, stranger := replica(secret), replica(secret), replica("a secret that nobody has told the others")
	call := one.call("deploy", `{"n":1}`)
	d := one.next("asked")
	body := say(d, "approve", "ann")
	if status, said := two.post(stranger.answers+"/answer", []byte(body), "X-Petrigate-Signature", sign(secret, []byte(body), time.Now())); status != 401 {
		t.Errorf("another secret: %d %s", status, said)
	}
	elsewhere := strings.Replace(d.Approve, one.answers, two.answers, 1)
	if status, page := two.do("GET", elsewhere, nil); status != 200 || !strings.Contains(page, "Approve</button>") {
		t.Errorf("%d %s", status, page)
	}
	if status, said := two.answer(strings.Replace(body, d.Nonce, "AAAAAAAAAAAAAAAAAAAAAA", 1)); status != 403 {
		t.Errorf("another nonce: %d %s", status, said)
	}
	one.ran("deploy", 0)
	if list := two.proxy.Approvals(); len(list) != 1 || list[0].ID != d.ID || string(list[0].Arguments) != `{"n":1}` {
		t.Errorf("the other process lists %+v", list)
	}
	if status, said := two.answer(body); status != 200 {
		t.Errorf("%d %s", status, said)
	}
	one.reply(call)
	one.ran("deploy", 1)
	one.next("ended")
	for _, link := range []string{d.Approve, d.Deny, elsewhere} {
		if status, _ := one.post(link, nil); status != 409 && status != 404 {
			t.Errorf("used again: %d", status)
		}
	}
	if len(two.got) != 0 {
		t.Errorf("another process has posted the question too")
	}
	one.ran("deploy", 1)
}
