package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// A proxy is a petrigate process that serves the named session over stdio.
type proxy struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	said  strings.Builder // output for people
}

// start starts a proxy and initializes a session.
func (p *plant) start() (*proxy, error) {
	x := &proxy{cmd: exec.Command(p.binary, "serve", "--config", p.config, "--session", "crash")}
	x.cmd.Env, x.cmd.Stderr = p.environment, &x.said
	in, err := x.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	x.in, x.lines = in, bufio.NewScanner(out)
	x.lines.Buffer(nil, 1<<20)
	if _, err := io.WriteString(in, hello); err != nil || x.answer() == nil {
		x.kill()
		return nil, fmt.Errorf("a proxy does not start: %w, %s", err, x.said.String())
	}
	return x, nil
}

// answer returns the next answer to a request, or nil if there are no more.
func (x *proxy) answer() []byte {
	for x.lines.Scan() {
		var m struct{ ID, Method any }
		if json.Unmarshal(x.lines.Bytes(), &m) == nil && m.ID != nil && m.Method == nil {
			return x.lines.Bytes()
		}
	}
	return nil
}

// call calls a tool and waits for the answer.
func (x *proxy) call(tool, id string) (string, error) {
	_, err := fmt.Fprintf(x.in, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":{"id":%[1]q}}}`+"\n", id, tool)
	return string(x.answer()), err
}

// fails calls a tool that fails, and waits for the answer.
func (x *proxy) fails(tool, id string) (string, error) {
	_, err := fmt.Fprintf(x.in, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":{"id":%[1]q,"fail":true}}}`+"\n", id, tool)
	return string(x.answer()), err
}

func (x *proxy) kill() {
	_ = x.cmd.Process.Kill()
	_ = x.cmd.Wait()
}

// end lets the proxy end by itself.
func (x *proxy) end() error {
	return errors.Join(x.in.Close(), x.cmd.Wait())
}
