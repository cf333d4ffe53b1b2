package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// A phone stands in for ntfy and its reader.
type phone struct{ got chan notification }

func (p *phone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n notification
	if r.URL.Path != "/" || r.Header.Get("Authorization") != "Bearer tk_1" || json.NewDecoder(r.Body).Decode(&n) != nil || n.Topic != "approvals" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	p.got <- n
}

// press does what the app does when someone presses a button.
func press(t *testing.T, n notification, label string) int {
	t.Helper()
	for _, a := range n.Actions {
		if a.Label == label {
			r, err := http.NewRequest(map[string]string{"http": a.Method, "view": "GET"}[a.Action], a.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			return response.StatusCode
		}
	}
	t.Fatalf("no button %q: %+v", label, n)
	return 0
}

func newTestGlue(t *testing.T) (url string, p *phone) {
	t.Helper()
	p = &phone{got: make(chan notification, 10)}
	ntfy := httptest.NewServer(p)
	t.Cleanup(ntfy.Close)
	g, err := newGlue(func(name string) string {
		return map[string]string{"PETRIGATE_HOOK_SECRET": secret, "NTFY_URL": ntfy.URL + "/approvals", "NTFY_TOKEN": "tk_1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL, p
}

// TestPhone checks that the phone shows a waiting call, and that the buttons allow or refuse it.
func TestPhone(t *testing.T) {
	url, p := newTestGlue(t)
	a := newAgent(t, url)
	a.deploy("2")
	n := <-p.got
	if n.Title != "Allow deploy on demo?" || !strings.Contains(n.Message, "deploy.rules:2:1") || n.Priority != 4 {
		t.Errorf("%+v", n)
	}
	if status := press(t, n, "Look"); status != 200 {
		t.Errorf("looking: %d", status)
	}
	if status := press(t, n, "Approve"); status != 200 {
		t.Errorf("approving: %d", status)
	}
	if said := a.read("2"); strings.Contains(said, `"isError":true`) && strings.Contains(said, "approval") {
		t.Error(said)
	}
	if ran, err := os.ReadFile(a.executed); err != nil || string(ran) != "deploy\n" {
		t.Errorf("executed %q: %v", ran, err)
	}
	if status := press(t, n, "Approve"); status != http.StatusConflict {
		t.Errorf("approving again: %d", status)
	}
	if n = <-p.got; n.Priority != 2 || !strings.Contains(n.Message, "by a signed link") || len(n.Actions) != 0 {
		t.Errorf("%+v", n)
	}
	a.deploy("3")
	if status := press(t, <-p.got, "Deny"); status != 200 {
		t.Errorf("denying: %d", status)
	}
	if said := a.read("3"); !strings.Contains(said, "A person denied deploy") {
		t.Error(said)
	}
	if ran, _ := os.ReadFile(a.executed); string(ran) != "deploy\n" {
		t.Errorf("executed %q", ran)
	}
	<-p.got
}

// TestOnlyPetrigate checks that no one else can send notifications to the phone.
func TestOnlyPetrigate(t *testing.T) {
	url, p := newTestGlue(t)
	for _, signature := range []string{"", "t=1,v1=00", "t=1,v1=" + strings.Repeat("00", 32)} {
		r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(`{"event":"asked"}`)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Petrigate-Signature", signature)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || len(p.got) != 0 {
			t.Errorf("%q: %s", signature, response.Status)
		}
	}
	if verify(secret, "t=1,v1=", nil, time.Now()) {
		t.Error("it takes no signature for one")
	}
}

// TestLong checks that the phone offers no button to approve a call that it does not show
// completely.
func TestLong(t *testing.T) {
	for _, m := range []message{{Event: "asked", Question: strings.Repeat("é", 3000)}, {Event: "asked", ArgumentsLeftOut: true}} {
		n := notificationOf(m)
		if len(n.Actions) != 2 || n.Actions[0].Action != "view" || n.Actions[1].Label != "Deny" || len(n.Message) > 4096 || !strings.Contains(n.Message, "not all of it") {
			t.Errorf("%+v", n)
		}
	}
}
