package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A demoAgent is a client of MCP over stdio, written by hand. It makes one call
// at a time, and passes on to its person what the proxy asks meanwhile.
type demoAgent struct {
	proxy  *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	log    *bytes.Buffer // what the proxy says on standard error; read it after close
	calls  int
	person func(question string, choices []string) demoAnswer
}

// demoAnswer is what the person chooses. Without a decision nobody answers.
type demoAnswer struct{ Decision, Reason string }

// demoReply is the result of a call.
type demoReply struct {
	text            string
	refused, failed bool // by petrigate, or by the tool
}

// demoMessage is any message of JSON-RPC.
type demoMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// startDemoAgent starts a proxy with the configuration in dir, as a client
// would, and shakes hands.
func startDemoAgent(ctx context.Context, exe, dir string) (*demoAgent, error) {
	a := &demoAgent{log: &bytes.Buffer{}}
	a.proxy = exec.CommandContext(ctx, exe, "serve", "--config", "petrigate.yaml")
	a.proxy.Dir = dir
	a.proxy.Env = append(demoEnviron(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"))
	a.proxy.Stderr = a.log
	a.proxy.Cancel = func() error { return a.proxy.Process.Signal(os.Interrupt) }
	a.proxy.WaitDelay = 3 * time.Second
	in, err := a.proxy.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := a.proxy.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := a.proxy.Start(); err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	_, err = a.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{"elicitation": map[string]any{}},
		"clientInfo":      map[string]any{"name": "demo-agent", "version": "1"},
	})
	if err == nil {
		err = a.send(map[string]any{"method": "notifications/initialized"})
	}
	if err != nil {
		_ = a.close()
		return nil, fmt.Errorf("shaking hands with the proxy: %w%s", err, a.said())
	}
	return a, nil
}

// demoEnviron is the environment without what would change the configuration.
func demoEnviron() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PETRIGATE_") {
			env = append(env, v)
		}
	}
	return env
}

// close ends the proxy as clients do, by the end of its input.
func (a *demoAgent) close() error {
	_ = a.in.Close()
	_, _ = io.Copy(io.Discard, a.out)
	if err := a.proxy.Wait(); err != nil {
		return fmt.Errorf("ending the proxy: %w", err)
	}
	return nil
}

// said is what the proxy had to say, for an error message.
func (a *demoAgent) said() string {
	if a.log.Len() == 0 {
		return ""
	}
	return "\nthe proxy said:\n" + strings.TrimRight(a.log.String(), "\n")
}

// call calls a tool. Its reply is refused where petrigate says that it refuses.
func (a *demoAgent) call(tool, args string) (demoReply, error) {
	params := map[string]any{"name": tool, "arguments": json.RawMessage(args)}
	raw, err := a.request("tools/call", params)
	if err != nil {
		return demoReply{}, fmt.Errorf("calling %s: %w", tool, err)
	}
	var result struct {
		Content []struct{ Text string } `json:"content"`
		IsError bool                    `json:"isError"`
		Meta    struct {
			Decision *struct{} `json:"io.petrigate/decision"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return demoReply{}, fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	var texts []string
	for _, c := range result.Content {
		texts = append(texts, c.Text)
	}
	refused := result.IsError && result.Meta.Decision != nil
	return demoReply{text: strings.Join(texts, "\n"), refused: refused, failed: result.IsError && !refused}, nil
}

// request sends a request and answers the proxy's own until the response is there.
func (a *demoAgent) request(method string, params any) (json.RawMessage, error) {
	a.calls++
	id := fmt.Sprint(a.calls)
	if err := a.send(map[string]any{"id": a.calls, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("waiting for the proxy: %w", err)
		}
		var m demoMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("reading what the proxy sent: %w", err)
		}
		switch {
		case m.Method != "" && m.ID != nil:
			if err := a.serve(m); err != nil {
				return nil, err
			}
		case m.Method != "": // a notification
		case string(m.ID) != id:
			return nil, fmt.Errorf("response to %s, which was not asked", m.ID)
		case m.Error != nil:
			return nil, fmt.Errorf("error %s", m.Error)
		default:
			return m.Result, nil
		}
	}
}

// serve answers a request of the proxy.
func (a *demoAgent) serve(m demoMessage) error {
	if m.Method == "ping" {
		return a.send(map[string]any{"id": m.ID, "result": map[string]any{}})
	}
	if m.Method != "elicitation/create" || a.person == nil {
		return a.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": "method not found"}})
	}
	var form struct {
		Message string `json:"message"`
		Schema  struct {
			Properties struct {
				Decision struct{ Enum []string } `json:"decision"`
			} `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(m.Params, &form); err != nil {
		return fmt.Errorf("reading a question: %w", err)
	}
	answer := a.person(form.Message, form.Schema.Properties.Decision.Enum)
	if answer.Decision == "" {
		return errors.New("the proxy asks a person where it should not")
	}
	content := map[string]any{"decision": answer.Decision}
	if answer.Reason != "" {
		content["reason"] = answer.Reason
	}
	return a.send(map[string]any{"id": m.ID, "result": map[string]any{"action": "accept", "content": content}})
}

func (a *demoAgent) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("sending to the proxy: %w", err)
	}
	return nil
}
