package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/draft"
)

const hostile = "<script>alert(1)</script>\u202e\"'&"

// study opens a console whose policy consists of the given rules.
func study(t *testing.T, rules string) *browser {
	t.Helper()
	return studyOver(t, "", rules)
}

// studyOver is like study, with a base policy unless base is empty.
func studyOver(t *testing.T, base, rules string) *browser {
	t.Helper()
	extends := ""
	if base != "" {
		extends = "extends: [ { file: base.yaml, digest: \"" + basefile.Digest([]byte(base)) + "\" } ]\n"
	}
	record, err := os.ReadFile("../draft/testdata/records.jsonl") // six calls; only delete was refused
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.rules": rules, "audit.jsonl": string(record), "base.yaml": base,
		"petrigate.yaml": extends + "mcpServers:\n  s: { command: go, env: { API_TOKEN: very-secret } }\nrules:\n  - file: a.rules\n  - inline: block rm_rf\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.Options{Path: "petrigate.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := policy.Build(policy.FromConfig(c))
	if err != nil {
		t.Fatal(err)
	}
	drafts := draft.New(draft.Options{
		InForce: func() (*config.Config, *policy.Result) { return c, result },
		Files:   func(c *config.Config) []audit.File { return []audit.File{{Name: "a.rules", SHA256: c.Sums["a.rules"]}} },
		Log:     func() *draft.Log { return &draft.Log{Source: trail.File("audit.jsonl"), Name: "audit.jsonl"} },
	})
	b := &browser{t: t, desk: &desk{changed: make(chan struct{})}}
	b.server = httptest.NewUnstartedServer(nil)
	console := New(Options{Proxy: b.desk, Drafts: drafts, Hosts: []string{b.server.Listener.Addr().String()}})
	b.server.Config.Handler = console
	b.server.Start()
	t.Cleanup(func() { console.Close(); b.server.Close(); drafts.Close() })
	b.enter(console.Code(ann))
	return b
}

// between returns the part of s between two texts.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestPolicyPage checks that the page shows the policy in force, its files and claims, and an
// editor for each text, but no secrets.
func TestPolicyPage(t *testing.T) {
	b := study(t, "\nlimit deploy to 2 per hour # "+hostile+"\nprove at-most 2 deploy per hour\nprove at-most 1 deploy per hour\n")
	status, page := b.get("/policy")
	for _, want := range []string{
		`2 claims`, `<td class="mono">prove at-most 2 deploy per hour</td>`, `<span class="state proved">proved</span>`, `<span class="state refuted">refuted</span> <a href="/policy?text=`,
		`<td class="mono">a.rules</td>`, `&lt;script&gt;alert(1)&lt;/script&gt;`, "<textarea", ">\n\nlimit deploy", "never saved or applied", `name="since"`, `<script src="/policy.js?v=`,
		`<td>yes</td><td>limit-deploy-2-per-hour</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if status != http.StatusOK || strings.Contains(page, "very-secret") || strings.Contains(page, "<script>alert") {
		t.Errorf("%d\n%s", status, page)
	}
	inline := between(page, `<a href="/policy?text=`, `#draft">petrigate.yaml`)
	inline = inline[strings.LastIndex(inline, "=")+1:]
	if _, page := b.get("/policy?text=" + inline); !strings.Contains(page, ">\nblock rm_rf</textarea>") || !strings.Contains(page, "only the inline rules") {
		t.Errorf("%s\n%s", inline, page)
	}
	for path, want := range map[string]string{
		"/policy?claim=1&step=0":                       "<b>", // on the first page
		"/policy?claim=1&step=2":                       "ready: 1, spent: 2",
		"/policy?claim=1&step=99&text=" + hostile[:1]:  "ready: 1, spent: 2",
		"/policy?claim=1&step=-1":                      "ready: 1, budget: 2",
		"/policy?claim=1&step=x":                       "ready: 1, budget: 2",
		"/policy?claim=0&step=0":                       "Claims",
		"/policy?claim=-1&step=0":                      "Claims",
		"/policy?claim=99999999999999999999999&step=0": "Claims",
	} {
		status, page := b.get(strings.ReplaceAll(path, "<", "%3C"))
		if want != "<b>" && !strings.Contains(page, want) || status != http.StatusOK || strings.Contains(page, `id="steps"`) != strings.Contains(path, "claim=1") {
			t.Errorf("%s: %d, %s is not in\n%s", path, status, want, page)
		}
	}
	if status, page := b.get("/policy.js"); status != http.StatusOK || !strings.Contains(page, "/policy/check") {
		t.Errorf("%d %.40s", status, page)
	}
	if status, _ := b.get("/policy/check"); status != http.StatusSeeOther {
		t.Errorf("%d", status)
	}
}

// TestDrafts checks that a draft is checked, compared and replayed, stays in the editor, and is not
// stored.
func TestDrafts(t *testing.T) {
	const rules = "limit deploy to 2 per hour\nprove at-most 2 deploy per hour\n"
	b := study(t, rules)
	_, page := b.get("/policy")
	id := between(page, `name="of" value="`, `"`)
	post := func(what string, form url.Values) string {
		t.Helper()
		form.Set("of", id)
		status, page := b.post("/policy/"+what, form)
		if status != http.StatusOK || strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") && !strings.Contains(between(page, "<textarea", "</textarea>"), "\u202e") {
			t.Errorf("%s: %d\n%s", what, status, page)
		}
		return page
	}
	for _, one := range []struct {
		what, text string
		form       url.Values
		want       []string
	}{
		{"check", rules, nil, []string{"ok: no problems", "Claims of the draft"}},
		{"check", "\r\nblokc " + hostile + "\r\n", nil, []string{
			`<a href="#text" data-line="2" data-column="1">a.rules:2:1</a> <b>error E003</b>`, "unknown statement &#34;blokc&#34;", `\u{202e}`, "did you mean", ">\n\r\nblokc &lt;script&gt;",
		}},
		{"check", "limit deploy to 2 per hour\nprove at-most 1 deploy per hour", url.Values{"at": {"0.1"}}, []string{
			`formaction="/policy/check#steps"`, `aria-current="step"`, "ready: 1, budget: 1, spent: 1", `value="0.2"`, `value="0.0"`,
		}},
		{"check", rules, url.Values{"at": {"7.x"}}, []string{"ok: no problems"}},
		{"check", rules, url.Values{"part": {"report"}}, []string{`<div id="problems">`, `<div id="report">`}},
		{"check", strings.Repeat("x", draft.MaxText+1), nil, []string{"not checked", "256 KiB"}},
		{"diff", "limit deploy to 1 per hour\n", nil, []string{"Against the policy in force: stricter", "allow before, refuse now", "changed</span>"}},
		{"diff", "blokc", nil, []string{"No result", "a.rules:1:1"}},
		{"replay", rules, url.Values{"since": {"1h"}}, []string{"What the draft would have changed", `<option value="1h" selected>`, "The draft is the policy in force", "The record contains no policy decisions"}},
		{"replay", "limit deploy to 1 per hour\nrequire human-approval before lint\n", nil, []string{
			"14 records, 6 decisions.", `<li class="stop"><b>1</b> would be refused</li>`, `<li class="wait"><b>1</b> would require approval</li>`, `<li class="pass"><b>1</b> would be allowed</li>`,
			"the first is record 6", `<td>limit-deploy-1-per-hour</td><td class="mono">a.rules:1:1</td>`, " ago</time>",
		}},
		{"replay", "blokc", nil, []string{"No result"}},
	} {
		form := url.Values{"text": {one.text}}
		for name, values := range one.form {
			form[name] = values
		}
		page := post(one.what, form)
		for _, want := range one.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s %.60q: %q is not in\n%.20000s", one.what, one.text, want, page)
			}
		}
	}
	if src, err := os.ReadFile("a.rules"); err != nil || string(src) != rules {
		t.Errorf("the file is %q, %v", src, err)
	}
	if status, _ := b.post("/policy/put", url.Values{"of": {id}}); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
	if status, page := b.post("/policy/check", url.Values{"of": {hostile}, "text": {"block a"}}); status != http.StatusOK || !strings.Contains(page, "has changed meanwhile") {
		t.Errorf("%d\n%s", status, page)
	}
	b.token = "x"
	if status, _ := b.post("/policy/check", url.Values{"of": {id}, "text": {"block a"}}); status != http.StatusForbidden {
		t.Errorf("without a token: %d", status)
	}
}

// TestNoPolicyPage checks that a console without a policy says so.
func TestNoPolicyPage(t *testing.T) {
	b, _ := visit(t)
	if status, page := b.get("/policy"); status != http.StatusNotFound || !strings.Contains(page, "does not show its policy") {
		t.Errorf("%d %s", status, page)
	}
}

// TestDraftOverBase checks that a draft that allows more than the base policy is an error, and that
// texts of a base cannot be edited.
func TestDraftOverBase(t *testing.T) {
	b := studyOver(t, "base: { name: acme, version: 1 }\nrules:\n  - inline: |\n      require test before push\n", "block rm\n")
	_, page := b.get("/policy")
	if !strings.Contains(page, "<textarea") || !strings.Contains(page, ">\nblock rm\n</textarea>") {
		t.Fatal(page)
	}
	id := between(page, `name="of" value="`, `"`)
	_, page = b.post("/policy/check", url.Values{"of": {id}, "text": {"block rm\nmap bash.command runs make as test\n"}})
	for _, want := range []string{`data-line="2" data-column="1">a.rules:2:1</a> <b>error E112</b>`, "allows what the base policy &#34;acme&#34; does not", "push: refuse before, allow now"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if _, page := b.post("/policy/check", url.Values{"of": {id}, "text": {"block rm\nblock rmdir\n"}}); strings.Contains(page, "error E1") {
		t.Error(page)
	}
	link := between(page, `<a href="/policy?text=`, `#draft">base.yaml`)
	base := link[strings.LastIndex(link, "=")+1:]
	if _, page := b.get("/policy?text=" + base); !strings.Contains(page, "base.yaml cannot be edited here: it belongs to the base policy") || strings.Contains(page, "<textarea") {
		t.Error(page)
	}
	if _, page := b.post("/policy/check", url.Values{"of": {base}, "text": {"allow push\n"}}); !strings.Contains(page, "it belongs to the base policy") {
		t.Error(page)
	}
}
