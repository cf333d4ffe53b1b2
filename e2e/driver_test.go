package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// A step is a request to make.
type step struct {
	Method   string          `json:"method"`
	Params   json.RawMessage `json:"params,omitempty"`
	Progress bool            `json:"progress,omitempty"`
}

// An answer is the result of a step.
type answer struct {
	Result   json.RawMessage `json:"result,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
	Progress int             `json:"progress,omitempty"`
}

// A driver is an MCP client. It connects to e and makes the requests in order.
type driver struct {
	name   string
	modern bool // whether it uses the newer revision family with petrigate
	run    func(t *testing.T, e endpoint, steps []step) []answer
}

func drivers(npm string) []driver {
	return []driver{
		{name: "typescript", run: func(t *testing.T, e endpoint, steps []step) []answer {
			return typescript(t, npm, e, steps, nil).Answers
		}},
		{name: "mcp-go", run: func(t *testing.T, e endpoint, steps []step) []answer {
			return mcpgo(t, e, steps, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
		}},
		{name: "mcp-go-modern", modern: true, run: func(t *testing.T, e endpoint, steps []step) []answer {
			return mcpgo(t, e, steps)
		}},
	}
}

// A story is what the TypeScript client reports about its run.
type story struct {
	Answers []answer          `json:"answers"`
	Asked   []json.RawMessage `json:"asked"`
}

// typescript runs the official TypeScript SDK. elicit is the answer to every question; if it is
// nil, the client cannot be asked.
func typescript(t *testing.T, npm string, e endpoint, steps []step, elicit json.RawMessage) story {
	t.Helper()
	job, err := json.Marshal(struct {
		endpoint
		Elicit json.RawMessage `json:"elicit,omitempty"`
		Steps  []step          `json:"steps"`
	}{e, elicit, steps})
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "node", script)
	c.Env = append(os.Environ(), "E2E_PACKAGES="+npm)
	c.Stdin = bytes.NewReader(job)
	c.WaitDelay = patience
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the TypeScript client: %v\n%s", err, stderr.Bytes())
	}
	var s story
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// connect starts an mcp-go client that connects to e.
func connect(t *testing.T, e endpoint, options ...client.ClientOption) (*client.Client, transport.Interface) {
	t.Helper()
	var trans transport.Interface
	if e.URL != "" {
		h, err := transport.NewStreamableHTTP(e.URL)
		if err != nil {
			t.Fatal(err)
		}
		trans = h
	} else {
		command := func(ctx context.Context, name string, env, args []string) (*exec.Cmd, error) {
			c := exec.CommandContext(ctx, name, args...)
			c.Env = env
			return c, nil
		}
		trans = transport.NewStdioWithOptions(e.Command, list(e.Env), e.Args, transport.WithCommandFunc(command))
	}
	c := client.NewClient(trans, append(options, client.WithDiscoverTimeout(patience))...)
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	var init mcp.InitializeRequest
	init.Params.ClientInfo = mcp.Implementation{Name: "e2e", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, init); err != nil {
		t.Fatal(err)
	}
	return c, trans
}

// mcpgo runs an mcp-go client. It takes the raw results from the transport, below mcp-go's types.
func mcpgo(t *testing.T, e endpoint, steps []step, options ...client.ClientOption) []answer {
	t.Helper()
	modern := len(options) == 0
	_, trans := connect(t, e, options...)
	var answers []answer
	for i, s := range steps {
		r := transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId("e2e-" + strconv.Itoa(i)), Method: s.Method}
		if s.Params != nil {
			r.Params = s.Params
		}
		if modern {
			r.Params, r.Header = modernParams(s)
		}
		resp, err := trans.SendRequest(t.Context(), r)
		if err != nil {
			t.Fatalf("%s %s: %v", s.Method, s.Params, err)
		}
		a := answer{Result: resp.Result}
		if resp.Error != nil {
			a.Error, _ = json.Marshal(resp.Error)
		}
		answers = append(answers, a)
	}
	return answers
}

// modernParams adds what the newer revision family requires in each request.
func modernParams(s step) (json.RawMessage, http.Header) {
	meta := `"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"` + mcp.ProtocolVersion20260728 +
		`","` + mcp.MetaKeyClientCapabilities + `":{}}`
	params := json.RawMessage("{" + meta + "}")
	if rest := bytes.TrimPrefix(s.Params, []byte("{")); len(rest) > 1 {
		params = json.RawMessage("{" + meta + "," + string(rest))
	}
	header := http.Header{}
	for name, value := range mcp.StandardHeaders(mcp.ProtocolVersion20260728, mcp.MCPMethod(s.Method), params) {
		header.Set(name, value)
	}
	return params, header
}
