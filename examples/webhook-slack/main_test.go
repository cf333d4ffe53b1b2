package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// A channel stands in for Slack and its readers.
type channel struct {
	got     chan posted
	replies chan struct{} // one element for each message that is posted; if nil, replies do not wait for it
}

// A posted is a call of Slack's API.
type posted struct {
	method, text string
	blocks       json.RawMessage
	ts, user     string
}

func (c *channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Channel, Text, TS, User string
		Blocks                  json.RawMessage
	}
	if r.Header.Get("Authorization") != "Bearer xoxb-1" || json.NewDecoder(r.Body).Decode(&p) != nil || p.Channel != "C1" {
		_, _ = w.Write([]byte(`{"ok":false,"error":"invalid_auth"}`))
		return
	}
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	c.got <- posted{method: method, text: p.Text, blocks: p.Blocks, ts: p.TS, user: p.User}
	if method == "chat.postMessage" && c.replies != nil {
		<-c.replies
	}
	_, _ = w.Write([]byte(`{"ok":true,"ts":"17.42"}`))
}

const signing = "8f742231b10e8888abcd99yyyzzz85a5"

func newTestGlue(t *testing.T) (at string, c *channel) {
	t.Helper()
	c = &channel{got: make(chan posted, 10), replies: make(chan struct{}, 10)}
	api := httptest.NewServer(c)
	t.Cleanup(api.Close)
	g, err := newGlue(func(name string) string {
		return map[string]string{
			"PETRIGATE_HOOK_SECRET": secret, "SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": signing, "SLACK_CHANNEL": "C1",
			"SLACK_APPROVERS": "U1,U2", "SLACK_API": api.URL + "/api/",
		}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g.handler())
	t.Cleanup(server.Close)
	return server.URL, c
}

// press sends what Slack sends when a user presses a button, signed with the given secret.
func press(t *testing.T, glue, user, action, id, secret string, at time.Time) int {
	t.Helper()
	payload := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"actions":[{"action_id":%q,"value":%q}]}`, user, action, id)
	body := "payload=" + url.QueryEscape(payload)
	r, err := http.NewRequest(http.MethodPost, glue+"/slack", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	seconds := fmt.Sprint(at.Unix())
	r.Header.Set("X-Slack-Request-Timestamp", seconds)
	r.Header.Set("X-Slack-Signature", "v0="+mac(secret, "v0:"+seconds+":"+body))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestChannel checks that the channel shows a waiting call, and that the buttons allow or refuse it
// if the user may answer.
func TestChannel(t *testing.T) {
	glue, c := newTestGlue(t)
	a := newAgent(t, glue+"/petrigate")
	now := time.Now()
	c.replies <- struct{}{}
	a.deploy("2")
	p := <-c.got
	id := p.text[strings.LastIndex(p.text, " ")+1:]
	if p.method != "chat.postMessage" || !strings.HasPrefix(id, "ap_") || !strings.Contains(string(p.blocks), "deploy.rules:2:1") {
		t.Errorf("%+v", p)
	}
	if status := press(t, glue, "U1", "approve", id, "a guess", now); status != http.StatusUnauthorized {
		t.Errorf("not from Slack: %d", status)
	}
	if status := press(t, glue, "U1", "approve", id, signing, now.Add(-time.Hour)); status != http.StatusUnauthorized {
		t.Errorf("a replay: %d", status)
	}
	if status := press(t, glue, "U3", "approve", id, signing, now); status != 200 {
		t.Errorf("who may not: %d", status)
	}
	if p = <-c.got; p.method != "chat.postEphemeral" || p.user != "U3" || !strings.Contains(p.text, "not among those") {
		t.Errorf("%+v", p)
	}
	press(t, glue, "U1", "approve", "ap_AAAAAAAA", signing, now)
	press(t, glue, "U1", "perhaps", id, signing, now)
	if ran, _ := os.ReadFile(a.executed); len(ran) != 0 {
		t.Errorf("executed %q", ran)
	}
	if status := press(t, glue, "U1", "approve", id, signing, now); status != 200 {
		t.Errorf("who may: %d", status)
	}
	a.read("2")
	if ran, err := os.ReadFile(a.executed); err != nil || string(ran) != "deploy\n" {
		t.Errorf("executed %q: %v", ran, err)
	}
	if p = <-c.got; p.method != "chat.update" || p.ts != "17.42" || !strings.Contains(p.text, "by slack:U1") || strings.Contains(string(p.blocks), "button") {
		t.Errorf("%+v", p)
	}
	a.deploy("3")
	p = <-c.got
	press(t, glue, "U2", "deny", p.text[strings.LastIndex(p.text, " ")+1:], signing, now)
	if said := a.read("3"); !strings.Contains(said, "A person denied deploy") {
		t.Error(said)
	}
	c.replies <- struct{}{} // late: the answer comes before the reply
	if p = <-c.got; p.method != "chat.update" || p.ts != "17.42" {
		t.Errorf("%+v", p)
	}
	if ran, _ := os.ReadFile(a.executed); string(ran) != "deploy\n" {
		t.Errorf("executed %q", ran)
	}
}

// TestOnlyPetrigate checks that no one else can post to the channel.
func TestOnlyPetrigate(t *testing.T) {
	glue, c := newTestGlue(t)
	body := `{"event":"asked","id":"ap_1"}`
	now, old := fmt.Sprint(time.Now().Unix()), fmt.Sprint(time.Now().Add(-time.Hour).Unix())
	for name, signature := range map[string]string{
		"none": "", "of Slack": "t=" + now + ",v1=" + mac(signing, now+"."+body), "old": "t=" + old + ",v1=" + mac(secret, old+"."+body),
	} {
		r, err := http.NewRequest(http.MethodPost, glue+"/petrigate", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Petrigate-Signature", signature)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || len(c.got) != 0 {
			t.Errorf("%s: %s", name, response.Status)
		}
	}
}

// TestLong checks that the channel offers no button to approve a call that it does not show
// completely.
func TestLong(t *testing.T) {
	for _, m := range []message{{Question: strings.Repeat("é", 3000), Approve: "https://gate/x"}, {ArgumentsLeftOut: true, Approve: "https://gate/x"}} {
		c := &channel{got: make(chan posted, 1)}
		api := httptest.NewServer(c)
		s := &slack{api: api.URL + "/api/", token: "xoxb-1", channel: "C1", client: api.Client()}
		if _, err := s.post(m); err != nil {
			t.Error(err)
		}
		if p := <-c.got; strings.Contains(string(p.blocks), `"approve"`) || !strings.Contains(string(p.blocks), "https://gate/x") || !strings.Contains(string(p.blocks), `"deny"`) {
			t.Errorf("%s", p.blocks)
		}
		api.Close()
	}
}
