// Naive-agent calls a tool that a policy restricts. If the call is refused, the agent first calls
// the tools that the refusal suggests. It learns about the policy only from refusals.
//
//	naive-agent TOOL COMMAND [ARG...]
//
// COMMAND starts an MCP server over stdio, such as petrigate wrap.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: naive-agent TOOL COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2], os.Args[3:]...); err != nil {
		fmt.Fprintln(os.Stderr, "naive-agent:", err)
		os.Exit(1)
	}
}

// run starts the server, calls the tool, and stops the server.
func run(out io.Writer, tool, command string, args ...string) (err error) {
	server := exec.Command(command, args...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	defer func() {
		_ = in.Close()
		err = errors.Join(err, server.Wait())
	}()
	a := &agent{in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(stdout)), log: out}
	if err := a.greet(); err != nil {
		return err
	}
	if err := a.reach(tool); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s was reached with %d calls.\n", tool, a.calls)
	return nil
}

// An agent is an MCP client that calls one tool at a time.
type agent struct {
	in    *json.Encoder
	out   *json.Decoder
	log   io.Writer
	asked int // requests sent so far
	calls int // tool calls made so far
}

// wayOut matches the part of a refusal that names the tools to call first.
var wayOut = regexp.MustCompile("Way out: call (.*); after that ")

// reach calls the tool. If the call is refused, reach calls the tools named in the refusal and then
// tries again.
func (a *agent) reach(tool string) error {
	text, failed, err := a.call(tool)
	if err != nil || !failed {
		return err
	}
	way := wayOut.FindStringSubmatch(text)
	if way == nil {
		return fmt.Errorf("%s cannot be reached: %s", tool, text)
	}
	for _, step := range strings.Split(way[1], ", then ") {
		step = strings.Trim(step, "`")
		if text, failed, err := a.call(step); err != nil || failed {
			return errors.Join(err, fmt.Errorf("%s did not help: %s", step, text))
		}
	}
	text, failed, err = a.call(tool)
	if failed {
		return fmt.Errorf("%s is still refused: %s", tool, text)
	}
	return err
}

// call calls a tool without arguments.
func (a *agent) call(tool string) (text string, failed bool, err error) {
	a.calls++
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	params := map[string]any{"name": tool, "arguments": map[string]any{}}
	if err := a.request("tools/call", params, &result); err != nil {
		return "", true, fmt.Errorf("calling %s: %w", tool, err)
	}
	for _, c := range result.Content {
		text += c.Text
	}
	fmt.Fprintf(a.log, "> %s\n  %s\n", tool, text)
	return text, result.IsError, nil
}

func (a *agent) greet() error {
	params := map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "naive-agent", "version": "1"},
	}
	if err := a.request("initialize", params, nil); err != nil {
		return fmt.Errorf("initializing: %w", err)
	}
	return a.in.Encode(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// request sends a request and waits for the response. It skips all other messages.
func (a *agent) request(method string, params, result any) error {
	a.asked++
	if err := a.in.Encode(map[string]any{"jsonrpc": "2.0", "id": a.asked, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		var m struct {
			ID     any
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := a.out.Decode(&m); err != nil {
			return err
		}
		switch {
		case m.Method != "" || m.ID != float64(a.asked):
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}
