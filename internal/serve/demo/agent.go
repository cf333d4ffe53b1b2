package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/list"
)

// An agent is an MCP client that talks to the proxy over stdio. It makes one call at a time. If the
// proxy sends an elicitation/create request during the call, the scripted person answers it.
type agent struct {
	proxy  *client.Client
	log    *bytes.Buffer // the proxy's stderr; must not be read before close
	person func(question string, choices []string) answer
}

// A reply is the result of a call.
type reply struct {
	text    string
	outcome outcome
}

// startAgent starts a proxy with the configuration in dir and initializes a session, as an MCP
// client would.
func startAgent(ctx context.Context, exe, dir string) (*agent, error) {
	a := &agent{log: &bytes.Buffer{}}
	stdio := transport.NewStdioWithOptions(exe, nil, nil, transport.WithCommandFunc(
		func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			return a.command(ctx, exe, dir), nil
		}))
	a.proxy = client.NewClient(stdio, client.WithElicitationHandler(a))
	if err := a.proxy.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "demo-agent", Version: "1"}
	if _, err := a.proxy.Initialize(ctx, hello); err != nil {
		_ = a.close()
		return nil, fmt.Errorf("initializing a session with the proxy: %w%s", err, a.proxyLog())
	}
	return a, nil
}

func (a *agent) command(ctx context.Context, exe, dir string) *exec.Cmd {
	c := exec.CommandContext(ctx, exe, "serve", "--config", "petrigate.yaml")
	c.Dir, c.Stderr = dir, a.log
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PETRIGATE_") }) // leave out variables that would affect the configuration
	c.Env = append(c.Env, "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"))
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 3 * time.Second
	return c
}

// close stops the proxy by closing its standard input, as clients do.
func (a *agent) close() error {
	if err := a.proxy.Close(); err != nil {
		return fmt.Errorf("stopping the proxy: %w", err)
	}
	return nil
}

// proxyLog formats the proxy's stderr for use in an error message.
func (a *agent) proxyLog() string {
	if a.log.Len() == 0 {
		return ""
	}
	return "\nthe proxy said:\n" + strings.TrimRight(a.log.String(), "\n")
}

// call calls a tool and returns the reply. An error reply that contains petrigate's decision is a
// refusal. Any other error reply is a failure.
func (a *agent) call(ctx context.Context, tool, args string) (reply, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, json.RawMessage(args)
	result, err := a.proxy.CallTool(ctx, request)
	if err != nil {
		return reply{}, fmt.Errorf("calling %s: %w", tool, err)
	}
	texts := list.Map(result.Content, func(c mcp.Content) string { return mcp.GetTextFromContent(c) })
	r := reply{strings.Join(texts, "\n"), passed}
	switch {
	case result.IsError && result.Meta != nil && result.Meta.AdditionalFields["io.petrigate/decision"] != nil:
		r.outcome = refused
	case result.IsError:
		r.outcome = failed
	}
	return r, nil
}

// Elicit answers an elicitation/create request. The proxy sends such requests only during a call.
func (a *agent) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if a.person == nil {
		return nil, errors.New("there is no one to ask")
	}
	said := a.person(r.Params.Message, choices(r.Params.RequestedSchema))
	result := &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel}}
	if said.Decision != "" {
		content := map[string]any{"decision": said.Decision}
		if said.Reason != "" {
			content["reason"] = said.Reason
		}
		result.Action, result.Content = mcp.ElicitationResponseActionAccept, content
	}
	return result, nil
}

// choices returns the decisions that an elicitation schema offers to the person.
func choices(schema any) []string {
	var form struct {
		Properties struct {
			Decision struct{ Enum []string } `json:"decision"`
		} `json:"properties"`
	}
	if doc, err := json.Marshal(schema); err != nil || json.Unmarshal(doc, &form) != nil {
		return nil
	}
	return form.Properties.Decision.Enum
}
