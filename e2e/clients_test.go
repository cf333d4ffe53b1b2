package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A guest is a client that does not report the answer itself, but how it has interpreted the
// answer. The tests compare its reports with and without petrigate.
type guest struct {
	name string
	era  string // revision family that it uses with petrigate, if it says so
	run  func(t *testing.T, npm string, e endpoint) visit
}

// A visit is what a guest reports.
type visit struct {
	Era     string          `json:"era"`
	Tools   json.RawMessage `json:"tools"`
	Answers []answer        `json:"answers"`
}

// A toolCall is a call made by a guest.
type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func guests() []guest {
	return []guest{
		{name: "typescript-2", era: "legacy", run: func(t *testing.T, npm string, e endpoint) visit { return typescript2(t, npm, e, "legacy") }},
		{name: "typescript-2-auto", era: "modern", run: func(t *testing.T, npm string, e endpoint) visit { return typescript2(t, npm, e, "auto") }},
		{name: "go-sdk", run: func(t *testing.T, _ string, e endpoint) visit { return goSDK(t, e) }},
		{name: "inspector", run: inspector},
	}
}

// inspected is the number of calls that the Inspector makes. The number is small, because the
// Inspector starts everything anew for each call.
const inspected = 2

// guestCalls returns calls of the server named everything.
func guestCalls() []toolCall {
	return []toolCall{
		{"echo", map[string]any{"message": "<b>ünï & ok</b>"}},
		{"get-sum", map[string]any{"a": 1, "b": 2}},
		{"get-structured-content", map[string]any{"location": "Chicago"}},
		{"get-tiny-image", map[string]any{}},
		{"get-resource-links", map[string]any{"count": 2}},
		{"get-sum", map[string]any{"a": "no number"}},
	}
}

func TestGuestsSeeNoProxy(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	server := func(t *testing.T) endpoint { return scripts()[0].server(t, npm, "", false) }
	for _, g := range guests() {
		t.Run(g.name, func(t *testing.T) {
			direct := g.run(t, npm, server(t))
			for _, http := range []bool{false, true} {
				t.Run(kind(http), func(t *testing.T) {
					got := g.run(t, npm, wrap(t, binary, server(t), http))
					if got.Era != g.era {
						t.Errorf("era %q, want %q", got.Era, g.era)
					}
					sameVisit(t, got, direct)
				})
			}
		})
	}
}

func sameVisit(t *testing.T, got, want visit) {
	t.Helper()
	if a, b := canonical(t, got.Tools), canonical(t, want.Tools); !bytes.Equal(withoutExecution(a, got.Era), withoutExecution(b, got.Era)) {
		t.Errorf("tools:\n got %s\nwant %s", a, b)
	}
	if len(got.Answers) != len(want.Answers) || len(got.Answers) < inspected {
		t.Fatalf("%d answers, directly %d", len(got.Answers), len(want.Answers))
	}
	for i, c := range guestCalls()[:len(got.Answers)] {
		g, w := got.Answers[i], want.Answers[i]
		for _, pair := range [][2]json.RawMessage{{g.Result, w.Result}, {g.Error, w.Error}} {
			if a, b := steady(older(t, pair[0])), steady(older(t, pair[1])); !bytes.Equal(a, b) {
				t.Errorf("%s %v:\n got %s\nwant %s", c.Name, c.Arguments, a, b)
			}
		}
	}
}

// withoutExecution removes from tools what the newer revision family does not define, because the
// SDK drops it when it uses that family.
func withoutExecution(tools []byte, era string) []byte {
	if era != "modern" {
		return tools
	}
	return regexp.MustCompile(`"execution":\{[^{}]*\},`).ReplaceAll(tools, nil)
}

// canonical returns b with sorted keys.
func canonical(t *testing.T, b json.RawMessage) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %.200s", err, b)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// program runs a Node program and returns its output.
func program(t *testing.T, stdin []byte, env []string, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "node", args...)
	c.Env = append(os.Environ(), env...)
	c.Stdin = bytes.NewReader(stdin)
	c.WaitDelay = patience
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Logf("%s", stderr.Bytes())
	}
	return out, err
}

// typescript2 runs the newer major version of the official TypeScript SDK.
func typescript2(t *testing.T, npm string, e endpoint, mode string) visit {
	t.Helper()
	job, err := json.Marshal(struct {
		endpoint
		Mode  string     `json:"mode"`
		Calls []toolCall `json:"calls"`
	}{e, mode, guestCalls()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := program(t, job, []string{"E2E_PACKAGES=" + npm}, filepath.Join("testdata", "client2.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	var v visit
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// goSDK runs the official Go SDK.
func goSDK(t *testing.T, e endpoint) visit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var transport gosdk.Transport = &gosdk.StreamableClientTransport{Endpoint: e.URL}
	if e.URL == "" {
		c := exec.CommandContext(ctx, e.Command, e.Args...)
		c.Env = list(e.Env)
		transport = &gosdk.CommandTransport{Command: c}
	}
	session, err := gosdk.NewClient(&gosdk.Implementation{Name: "e2e", Version: "1.0.0"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }() // fails if the server has to be told twice
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := visit{Tools: encoded(t, listed.Tools)}
	for _, c := range guestCalls() {
		result, err := session.CallTool(ctx, &gosdk.CallToolParams{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			v.Answers = append(v.Answers, answer{Error: encoded(t, err.Error())})
			continue
		}
		v.Answers = append(v.Answers, answer{Result: encoded(t, result)})
	}
	return v
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inspector runs the command line of the MCP Inspector once for each request.
func inspector(t *testing.T, npm string, e endpoint) visit {
	t.Helper()
	var listed struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(inspect(t, npm, e, "tools/list"), &listed); err != nil {
		t.Fatal(err)
	}
	v := visit{Tools: listed.Tools}
	for _, c := range guestCalls()[:inspected] {
		args := []string{"--tool-name", c.Name}
		for name, value := range c.Arguments {
			text, isText := value.(string)
			if n, isNumber := value.(int); isNumber {
				text = strconv.Itoa(n)
			} else if !isText {
				t.Fatalf("no way to write %v", value)
			}
			args = append(args, "--tool-arg", name+"="+text)
		}
		v.Answers = append(v.Answers, answer{Result: inspect(t, npm, e, "tools/call", args...)})
	}
	return v
}

// inspect returns the Inspector's output. The exit code is ignored, because it only means that the
// result is an error.
func inspect(t *testing.T, npm string, e endpoint, method string, more ...string) json.RawMessage {
	t.Helper()
	main := filepath.Join(npm, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	args := append([]string{"--method", method}, more...)
	if e.URL != "" {
		args = append([]string{e.URL}, args...)
	} else {
		args = append(append(args, "--"), e.argv()...)
	}
	args = append([]string{main, "--cli"}, args...)
	env := append(list(e.Env), "HOME="+t.TempDir())
	out, err := program(t, nil, env, args...)
	if !json.Valid(out) {
		t.Fatalf("%v: %s %v: %.300s", err, method, more, out)
	}
	return out
}
