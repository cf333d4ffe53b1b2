package proxytest

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/petrigate/petrigate/internal/testserver"
)

// CanAll are the capabilities of a client that can answer every request. AsksName are the params of
// an elicitation/create request that asks for a name, and NameGiven is the client's answer.
const (
	CanAll    = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`
	AsksName  = `{"message":"Who? \u003c","requestedSchema":{"type":"object","properties":{"n":{"type":"string","x":1.0}}}}`
	NameGiven = `{"action":"accept","content":{"n":"\u00e9","k":12345678901234567890}}`
)

// AskingTool returns a tool for revision 2025-11-25 that sends a request to its client and returns
// the client's response.
func AskingTool(method, params string) testserver.Tool {
	return testserver.Tool{Name: "curious", Run: testserver.AskClient(method, params)}
}

// Respond sends the result of a request from the proxy, and waits until the proxy has accepted it.
func (c *Client) Respond(id, result string) {
	c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`), nil)
	c.awaitAccepted()
}

// awaitAccepted waits until the proxy has accepted a message that has no response.
func (c *Client) awaitAccepted() {
	if c.Leg.HTTP {
		c.Await("202", func(m Message) bool { return m.Status == http.StatusAccepted })
	}
}

// AwaitRequest waits for a request with the given method from the proxy.
func (c *Client) AwaitRequest(method string) Message {
	c.T.Helper()
	return c.Await(method, func(m Message) bool { return m.Method == method })
}

// RoundsTool returns a tool for revision 2026-07-28 that asks the client for input. When the client
// repeats the call with the input, the tool returns the input.
func RoundsTool() testserver.Tool {
	return testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
		state := string(c.Params["requestState"])
		if state == "" {
			return json.RawMessage(`{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":` + AsksName +
				`}},"requestState":"st\u00e4te","x":1.0}`), nil
		}
		return json.RawMessage(`{"resultType":"complete","content":[],"heard":` + Member(c.Params["inputResponses"], "who") + `,"state":` + state + `}`), nil
	}}
}
