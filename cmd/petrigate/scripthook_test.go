package main

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// playedEvent matches a line in a file of events: the expected decision, the text for the model,
// and the event.
var playedEvent = regexp.MustCompile(`^(pass|deny "(.*?)") (\{.*\})$`)

// playEvents implements the script command "events AGENT ADDRESS FILE", which sends the events in
// the file to the proxy at the address, as the agent would. Each line is a comment, "pass EVENT",
// or "deny "TEXT" EVENT". The latter expects a refusal in the agent's own format, with a reason
// that contains the text.
func playEvents(ts *testscript.TestScript, neg bool, args []string) {
	agent := argument(ts, neg, args, 3)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[2])), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := playedEvent.FindStringSubmatch(line)
		if m == nil {
			ts.Fatalf("%s:%d: not an event: %s", args[2], n+1, line)
		}
		r, err := client.Post("http://"+args[1]+"/hook/"+agent, "application/json", strings.NewReader(m[3]))
		ts.Check(err)
		answer, err := io.ReadAll(r.Body)
		ts.Check(err)
		_ = r.Body.Close()
		reason := denied(agent, answer)
		if m[1] == "pass" && string(answer) != "{}" || m[1] != "pass" && (reason == "" || !strings.Contains(reason, m[2])) {
			ts.Fatalf("%s:%d: %s\nwant %s\nhave %s", args[2], n+1, m[3], m[1], answer)
		}
	}
}

// denied returns the reason in an answer that the agent treats as a refusal. It returns "" if the
// agent treats the answer differently.
func denied(agent string, answer []byte) string {
	var a struct {
		HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
		Decision, Reason   string
		Permission         string
		Message            string `json:"agent_message"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return ""
	}
	inside := a.HookSpecificOutput
	switch {
	case agent == "cursor" && a.Permission == "deny":
		return a.Message
	case agent == "gemini-cli" && a.Decision == "deny":
		return a.Reason
	case (agent == "codex" || agent == "vscode") && inside.HookEventName == "PreToolUse" && inside.PermissionDecision == "deny":
		return inside.PermissionDecisionReason
	}
	return ""
}
