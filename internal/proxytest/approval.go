package proxytest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// PINHash is the hash of the PIN "correct horse". It uses the minimum number of iterations, so that
// checks are six times faster than with the default number.
const PINHash = "pbkdf2-sha256:100000:c2FsdCBvZiB0aGUgdGVzdA:-1O6tBFc88ZKIDgojvmnui_Bf0mc2SAWlPYcXiKWr30"

// A Question is a request for approval from the proxy to a client: an elicitation/create request
// or, in revision 2026-07-28, an input_required result.
type Question struct {
	Client     *Client
	Tool, Args string
	Call       string // ID of the call
	Elicit     string // ID of the elicitation/create request
	State      string // requestState of the input_required result, as JSON
	Params     []byte // params of the elicitation/create request
}

// Answers to the question of whether to approve a call.
const (
	Approve = `{"action":"accept","content":{"decision":"approve"}}`
	Deny    = `{"action":"accept","content":{"decision":"deny"}}`
	Decline = `{"action":"decline"}`
	Cancel  = `{"action":"cancel"}`
)

// Asks makes a call to a tool, waits until the proxy asks for approval, and returns the approval
// request.
func (c *Client) Asks(tool, args string) Question {
	c.T.Helper()
	return c.AwaitQuestion(tool, args, c.Call(tool, args))
}

// AwaitQuestion waits until the proxy asks for approval of the call with the given ID, and returns
// the proxy's question. The call must have been sent already. In revisions before 2026-07-28,
// AwaitQuestion returns the first question that the client has received, so no other call should be
// waiting for approval.
func (c *Client) AwaitQuestion(tool, args, id string) Question {
	c.T.Helper()
	q := Question{Client: c, Tool: tool, Args: args, Call: id}
	if !c.Leg.Modern {
		m := c.AwaitRequest("elicitation/create")
		q.Elicit, q.Params = m.ID, m.Params
		return q
	}
	r := c.Reply(id)
	q.State = Member(r.Result, "requestState")
	q.Params = []byte(Member(r.Result, "inputRequests", "approval", "params"))
	if Member(r.Result, "resultType") != `"input_required"` || q.State == "" || len(q.Params) == 0 {
		c.T.Fatalf("no question: %s", r.Raw)
	}
	return q
}

// Send sends a person's answer to the question. It returns the ID of the request whose response
// shows the outcome: the original call or, in revision 2026-07-28, the repeated call.
func (q Question) Send(result string) (id string) {
	if !q.Client.Leg.Modern {
		q.Client.Send([]byte(`{"jsonrpc":"2.0","id":`+q.Elicit+`,"result":`+result+`}`), nil)
		return q.Call
	}
	return q.Client.CallWith(q.Tool, q.Args, "", q.ReplyParams(result))
}

// ReplyParams returns the JSON members to add to the params when a client repeats the call with an
// answer to the question.
func (q Question) ReplyParams(result string) string {
	return `,"inputResponses":{"approval":` + result + `},"requestState":` + q.State
}

// Answer sends a person's answer to the question and waits for the response to the call.
func (q Question) Answer(result string) Message {
	q.Client.T.Helper()
	return q.Client.Reply(q.Send(result))
}

// Text returns the text shown to the person.
func (q Question) Text() string {
	var s string
	_ = json.Unmarshal([]byte(Member(q.Params, "message")), &s)
	return s
}

// ReceivedBy returns a copy of the question, addressed to client c.
func (q Question) ReceivedBy(c *Client) Question {
	q.Client = c
	return q
}

// OperatorSetup returns a setup where an operator at a terminal approves or denies calls. If the
// operator does not answer within the given time, the proxy parks the call: it tells the caller to
// retry later.
func OperatorSetup(hold time.Duration) Setup {
	return Setup{Change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: hold} }}
}

// ParkAtOnce is an argument for [OperatorSetup] that makes the proxy immediately park every call
// that requires approval.
const ParkAtOnce = time.Nanosecond

// Parks makes a call and returns the ID of the call's approval. It fails the test unless the proxy
// parks the call.
func (c *Client) Parks(tool, args string) string {
	c.T.Helper()
	r := c.Do(tool, args)
	for c.Leg.Modern && Member(r.Result, "resultType") == `"input_required"` { // this result tells the client to repeat the call later; it does not ask for approval
		r = c.Reply(c.CallWith(tool, args, "", `,"requestState":`+Member(r.Result, "requestState")))
	}
	id := r.Decision("approval")
	if !r.IsError() || r.Decision("decision") != "ask" || id == "" || !strings.Contains(r.Text(), id) {
		c.T.Fatalf("%s is not parked: %s", tool, r.Raw)
	}
	return id
}

// PinnedSetup returns a setup where the proxy pins the first definition of each tool.
func PinnedSetup(t *testing.T, enforce bool) (Setup, *proxy.Pins) {
	t.Helper()
	pins, err := proxy.OpenPins(filepath.Join(t.TempDir(), "tools.json"), enforce)
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Change: func(o *proxy.Options) {
		OperatorSetup(time.Hour).Change(o)
		o.Pins = pins
	}}, pins
}
