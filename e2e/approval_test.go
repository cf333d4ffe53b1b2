package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// approvals maps answers to a question to whether they let the call pass.
func approvals() map[string]bool {
	return map[string]bool{
		`{"action":"accept","content":{"decision":"approve"}}`: true,
		`{"action":"accept","content":{"decision":"deny"}}`:    false,
		`{"action":"decline"}`:                                 false,
	}
}

// approvalServer starts petrigate in front of a server. hold is how long a call waits for an
// approval.
func approvalServer(t *testing.T, binary, npm string, http bool, hold time.Duration) endpoint {
	upstream := map[string]endpoint{"everything": scripts()[0].server(t, npm, "", false)}
	settings := map[string]any{
		"rules":    "require human-approval before echo\n",
		"approval": map[string]any{"hold": hold.String()},
	}
	return serve(t, binary, upstream, settings, http)
}

const echoCall = `{"name":"echo","arguments":{"message":"deploy 4711"}}`

func TestApprovalByTheTypeScriptClient(t *testing.T) {
	binary, npm := need(t)
	for _, http := range []bool{false, true} {
		for elicit, passes := range approvals() {
			t.Run(kind(http)+"/"+elicit, func(t *testing.T) {
				e := approvalServer(t, binary, npm, http, patience)
				got := typescript(t, npm, e, []step{{Method: "tools/call", Params: json.RawMessage(echoCall)}}, json.RawMessage(elicit))
				if failed := isError(t, got.Answers[0]); failed == passes {
					t.Errorf("error %t: %s", failed, got.Answers[0].Result)
				}
				if len(got.Asked) != 1 || !strings.Contains(string(got.Asked[0]), "deploy 4711") || !strings.Contains(string(got.Asked[0]), `"decision"`) {
					t.Errorf("asked %s", got.Asked)
				}
			})
		}
	}
}

func TestApprovalIsParkedWhereNobodyCanBeAsked(t *testing.T) {
	binary, npm := need(t)
	for _, http := range []bool{false, true} {
		t.Run(kind(http), func(t *testing.T) {
			e := approvalServer(t, binary, npm, http, time.Second)
			steps := []step{
				{Method: "tools/call", Params: json.RawMessage(echoCall)},
				{Method: "tools/call", Params: json.RawMessage(`{"name":"get-sum","arguments":{"a":1,"b":2}}`)},
			}
			got := typescript(t, npm, e, steps, nil).Answers
			if !isError(t, got[0]) || !strings.Contains(string(got[0].Result), "A person has been asked") || strings.Contains(string(got[0].Result), "petrigate approvals") {
				t.Errorf("parked: %s", got[0].Result)
			}
			if isError(t, got[1]) {
				t.Errorf("another call: %s", got[1].Result)
			}
		})
	}
}

// An answerer gives the same answer to every question that an mcp-go client is asked.
type answerer struct {
	result mcp.ElicitationResult
	asked  []string
}

func (a *answerer) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	a.asked = append(a.asked, r.Params.Message)
	return &a.result, nil
}

func TestApprovalByMCPGo(t *testing.T) {
	binary, npm := need(t)
	for _, legacy := range []bool{false, true} {
		for _, http := range []bool{false, true} {
			for elicit, passes := range approvals() {
				name := "modern/"
				if legacy {
					name = "legacy/"
				}
				t.Run(name+kind(http)+"/"+elicit, func(t *testing.T) {
					a := &answerer{}
					if err := json.Unmarshal([]byte(elicit), &a.result); err != nil {
						t.Fatal(err)
					}
					options := []client.ClientOption{client.WithElicitationHandler(a)}
					if legacy {
						options = append(options, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
					}
					c, _ := connect(t, approvalServer(t, binary, npm, http, patience), options...)
					var call mcp.CallToolRequest
					if err := json.Unmarshal([]byte(echoCall), &call.Params); err != nil {
						t.Fatal(err)
					}
					r, err := c.CallTool(t.Context(), call)
					if err != nil {
						t.Fatal(err)
					}
					if r.IsError == passes {
						t.Errorf("error %t: %v", r.IsError, r.Content)
					}
					if len(a.asked) != 1 || !strings.Contains(a.asked[0], "deploy 4711") {
						t.Errorf("asked %q", a.asked)
					}
				})
			}
		}
	}
}
