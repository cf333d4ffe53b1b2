package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A person answers the question about a call; see testdata/people.mjs.
type person struct {
	At     string `json:"at"`
	Answer string `json:"answer"`
	Parked bool   `json:"parked"`
}

// An occasion is a call by a client of the TypeScript SDK that waits for a person.
type occasion struct {
	SDK         string          `json:"sdk"`
	Elicitation json.RawMessage `json:"elicitation,omitempty"`
	Says        json.RawMessage `json:"says,omitempty"`
	Call        json.RawMessage `json:"call"`
	Calls       int             `json:"calls"`
	Timeout     int64           `json:"timeout"` // milliseconds
	Person      *person         `json:"person,omitempty"`
	Browser     string          `json:"browser,omitempty"`

	hold, expire time.Duration
	channels     []string
}

// An outcome describes how an occasion ended.
type outcome struct {
	Era     string            `json:"era"`
	Asked   []json.RawMessage `json:"asked"`
	Answers []answer          `json:"answers"`
	Shown   string            `json:"shown"`
	Left    []string          `json:"left"`

	allowed int // number of calls that have passed according to the audit log
}

// last returns the answer to the last call. If the client has reported an error, it fails the test.
func (o outcome) last(t *testing.T) answer {
	t.Helper()
	for _, a := range o.Answers {
		if a.Error != nil {
			t.Errorf("the client has an error: %s", a.Error)
		}
	}
	if len(o.Answers) == 0 {
		t.Fatal("no answer")
	}
	return o.Answers[len(o.Answers)-1]
}

// attend starts petrigate and lets the client and the person act as o describes.
func attend(t *testing.T, binary, npm string, http bool, o occasion) (got outcome) {
	t.Helper()
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	settings := map[string]any{
		"rules":    "require human-approval before echo\n",
		"approval": map[string]any{"hold": o.hold.String(), "expire": o.expire.String(), "channels": o.channels},
		"audit":    map[string]any{"file": record},
	}
	env := ours(t)
	e := serveIn(t, binary, env, map[string]endpoint{"everything": scripts()[0].server(t, npm, "", false)}, settings, http)
	o.Call = json.RawMessage(echoCall)
	job, err := json.Marshal(struct {
		endpoint
		occasion
		Binary      string            `json:"binary"`
		Environment map[string]string `json:"environment"`
	}{e, o, binary, env})
	if err != nil {
		t.Fatal(err)
	}
	out, err := program(t, job, []string{"E2E_PACKAGES=" + npm}, filepath.Join("testdata", "people.mjs"))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(written)) {
		if strings.Contains(line, `"allow"`) {
			got.allowed++
		}
	}
	return got
}

// lines maps the clients of the TypeScript SDK to the revision families that they use with
// petrigate.
var lines = map[string]string{"1": "legacy", "legacy": "legacy", "auto": "modern"}

// eachEra runs a test for a client of each revision family.
func eachEra(t *testing.T, f func(t *testing.T, sdk string)) {
	for _, sdk := range []string{"1", "auto"} {
		t.Run(sdk, func(t *testing.T) { f(t, sdk) })
	}
}

// atPage returns an occasion where the client opens pages and shows nothing itself.
func atPage(t *testing.T, sdk string, p *person) occasion {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil && p != nil {
		t.Skip("no browser to test with: chromium is missing")
	}
	return occasion{
		SDK: sdk, Elicitation: json.RawMessage(`{"url":{}}`), Says: json.RawMessage(`{"action":"accept"}`), Calls: 1, Person: p, Browser: browser,
		Timeout: patience.Milliseconds(), hold: patience, expire: patience, channels: []string{"elicit", "url"},
	}
}

// asksForPage fails the test unless the client was asked exactly once, to open a page.
func (o outcome) asksForPage(t *testing.T, sdk string) {
	t.Helper()
	if o.Era != lines[sdk] {
		t.Errorf("era %q", o.Era)
	}
	var asked struct{ Mode, URL, Message string }
	if len(o.Asked) != 1 || json.Unmarshal(o.Asked[0], &asked) != nil || asked.Mode != "url" || !strings.HasPrefix(asked.URL, "http://127.0.0.1:") || !strings.Contains(asked.Message, "echo") {
		t.Errorf("asked %s", o.Asked)
	}
}

// TestPageOfApproval checks that a client sends its person to the page of the approval, and that
// the person's answer there is the answer to the call.
func TestPageOfApproval(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	for sdk := range lines {
		t.Run("approve/"+sdk, func(t *testing.T) {
			got := attend(t, binary, npm, false, atPage(t, sdk, &person{At: "page", Answer: "approve"}))
			got.asksForPage(t, sdk)
			a := got.last(t)
			if isError(t, a) || got.allowed != 1 || !strings.Contains(string(a.Result), "deploy 4711") || !strings.Contains(got.Shown, "deploy 4711") {
				t.Errorf("%d have passed: %s, shown %q", got.allowed, a.Result, got.Shown)
			}
		})
	}
	eachEra(t, func(t *testing.T, sdk string) {
		got := attend(t, binary, npm, true, atPage(t, sdk, &person{At: "page", Answer: "deny"}))
		got.asksForPage(t, sdk)
		a := got.last(t)
		if !isError(t, a) || got.allowed != 0 || !strings.Contains(string(a.Result), "denied") || !strings.Contains(got.Shown, "deploy 4711") {
			t.Errorf("%d have passed: %s, shown %q", got.allowed, a.Result, got.Shown)
		}
	})
}

// TestPageAnsweredLate checks that if a person answers after the call has ended, the same call made
// again gets the answer.
func TestPageAnsweredLate(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	eachEra(t, func(t *testing.T, sdk string) {
		o := atPage(t, sdk, &person{At: "page", Answer: "approve", Parked: true})
		o.hold, o.Calls = 100*time.Millisecond, 2
		got := attend(t, binary, npm, true, o)
		got.asksForPage(t, sdk)
		if a := got.last(t); len(got.Answers) != 2 || isError(t, a) || got.allowed != 1 {
			t.Errorf("%d have passed: %+v", got.allowed, got.Answers)
		}
	})
}

// TestPageNobodyAnswers checks that opening the page does not count as an answer, and that without
// an answer the call is refused.
func TestPageNobodyAnswers(t *testing.T) {
	binary, npm := need(t)
	eachEra(t, func(t *testing.T, sdk string) {
		o := atPage(t, sdk, nil)
		o.hold, o.expire = 2*time.Second, 2*time.Second
		got := attend(t, binary, npm, false, o)
		got.asksForPage(t, sdk)
		if a := got.last(t); !isError(t, a) || got.allowed != 0 || len(got.Left) > 0 {
			t.Errorf("%d have passed: %s, left %s", got.allowed, a.Result, got.Left)
		}
	})
}

// TestImpatientClients checks that a call is executed exactly once after someone at a terminal has
// approved it, and that the client sees no error, regardless of what the client does while the
// person is thinking. The timeouts are shorter than those of real clients, but have the same order.
func TestImpatientClients(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	form, cancel := json.RawMessage(`{"form":{}}`), json.RawMessage(`{"action":"cancel"}`)
	clients := map[string]occasion{ // if a client is asked but does not answer, no one is looking at the form
		"usual":    {Timeout: 60_000, hold: 3 * time.Second, Elicitation: form},
		"hasty":    {Timeout: 10_000, hold: time.Second, Elicitation: form},
		"mute":     {Timeout: 60_000, hold: 100 * time.Millisecond},
		"headless": {Timeout: 60_000, hold: 100 * time.Millisecond, Elicitation: form, Says: cancel},
	}
	for name, o := range clients {
		t.Run(name, func(t *testing.T) {
			eachEra(t, func(t *testing.T, sdk string) {
				o := o
				if sdk == "auto" && o.Says == nil { // in this case, the client itself waits for its person
					o.Elicitation = nil
				}
				o.SDK, o.Calls, o.Person = sdk, 3, &person{At: "terminal", Answer: "approve", Parked: true}
				o.expire, o.channels = patience, []string{"elicit", "cli"}
				got := attend(t, binary, npm, name == "hasty", o)
				if a := got.last(t); len(got.Answers) < 2 || isError(t, a) || got.allowed != 1 || !strings.Contains(string(a.Result), "deploy 4711") {
					t.Errorf("%d have passed: %+v", got.allowed, got.Answers)
				}
				if asked := len(got.Asked); (asked > 0) != (o.Elicitation != nil) || !strings.Contains(got.Shown, "deploy 4711") {
					t.Errorf("asked %d times, shown %q", asked, got.Shown)
				}
			})
		})
	}
}
