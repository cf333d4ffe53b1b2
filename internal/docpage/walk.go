package docpage

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Walk follows the steps in docs/tutorial.md and checks that the actual output equals the output
// on the page. The page assumes that the home directory is /home/me and that the program is in
// /usr/local/bin.
type Walk struct {
	Home    string                     // actual home directory, used in place of /home/me
	Program string                     // path of the program, as petrigate connect writes it
	Run     func(args []string) string // runs petrigate with args, answers yes to its questions, and returns the terminal output
	Env     []string                   // environment of the MCP client

	client *chatClient
}

// Page follows all steps on the page, and reports an error if the output of a command or the
// outcome of a call differs from that on the page. It also reports an error if the client's file
// does not have its original content at the end. Page returns the page, corrected to show the
// actual output of the commands.
func (w *Walk) Page(t testing.TB, page string) string {
	t.Helper()
	file := filepath.Join(w.Home, ".config", "Claude", "claude_desktop_config.json")
	var before []byte
	for _, b := range Parse("docs/tutorial.md", page) {
		switch b.Kind {
		case "json":
			before = []byte(w.here(b.Text))
			write(t, file, before)
			write(t, filepath.Join(w.Home, "notes", "a.txt"), []byte("buy milk\n"))
		case "transcript":
			w.chat(t, file, b.Text)
		}
		for _, s := range b.Sessions() {
			if strings.Contains(s.Command, "disconnect") {
				w.client.close()
			}
			got := w.onPage(w.Run(strings.Fields(s.Command)[1:]))
			if diff := cmp.Diff(maskDigests(s.Output), maskDigests(got)); diff != "" {
				t.Errorf("docs/tutorial.md:%d: %s: the page (-) and what is printed (+) differ:\n%s", b.Line, s.Command, diff)
				page = strings.Replace(page, s.Output, got, 1)
			}
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) || before == nil {
		t.Errorf("the file of the client came back otherwise: %v\n%s", err, after)
	}
	return page
}

// chat restarts the client, makes the calls in a transcript, and checks that they have the outcomes
// shown there. In a transcript, each line that begins with "> " contains a call, and the lines
// below it show the outcome.
func (w *Walk) chat(t testing.TB, file, text string) {
	t.Helper()
	w.client.close()
	w.client = startChat(t, file, w.Env)
	var shown strings.Builder
	for line := range strings.Lines(text) {
		if call, ok := strings.CutPrefix(line, "> "); ok {
			shown.WriteString(line + w.onPage(w.client.call(t, w.here(call))))
		}
	}
	if diff := cmp.Diff(text, shown.String()); diff != "" {
		t.Errorf("docs/tutorial.md: the calls of the page (-) and what becomes of them (+) differ:\n%s", diff)
	}
}

const homeOfPage, programOfPage = "/home/me", "/usr/local/bin/petrigate"

func (w *Walk) here(text string) string { return strings.ReplaceAll(text, homeOfPage, w.Home) }

func (w *Walk) onPage(text string) string {
	return strings.NewReplacer(w.Program, programOfPage, w.Home, homeOfPage).Replace(text)
}

// digests matches the parts of the output that differ from run to run: session names, names of file
// copies, and digests of paths in the audit log. It is read-only.
var digests = regexp.MustCompile(`\b[0-9a-f]{12,}\b|#[0-9a-f]{8}\b`)

func maskDigests(text string) string { return digests.ReplaceAllString(text, "DIGEST") }

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A chatClient acts as Claude Desktop: it starts the servers in the client's configuration file.
type chatClient struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startChat(t testing.TB, file string, env []string) *chatClient {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(src, &f); err != nil || len(f.MCPServers) != 1 {
		t.Fatalf("not one server: %v\n%s", err, src)
	}
	entry := f.MCPServers["petrigate"]
	return startServer(t, env, append([]string{entry.Command}, entry.Args...))
}

// Tools starts a server and returns the tools it lists.
func Tools(t testing.TB, env, argv []string) []map[string]any {
	t.Helper()
	c := startServer(t, env, argv)
	defer c.close()
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal(c.ask(t, "tools/list", "{}"), &list); err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// startServer starts a server and initializes the session.
func startServer(t testing.TB, env, argv []string) *chatClient {
	t.Helper()
	c := &chatClient{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Env = env
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	c.ask(t, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"1"}}`)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// call makes a call given in the form "tool {arguments}" and returns its outcome.
func (c *chatClient) call(t testing.TB, call string) string {
	t.Helper()
	name, args, _ := strings.Cut(strings.TrimSpace(call), " ")
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	reply := c.ask(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	switch err := json.Unmarshal(reply, &result); {
	case err != nil:
		t.Fatal(err)
	case result.IsError && len(result.Content) > 0:
		return "  refused  " + result.Content[0].Text + "\n"
	}
	return "  passed\n"
}

// ask sends a request and returns the result in the response.
func (c *chatClient) ask(t testing.TB, method, params string) json.RawMessage {
	t.Helper()
	c.id++
	c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params))
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", method, err)
		}
		var m struct {
			ID     any
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "" && m.ID == float64(c.id) {
			return m.Result
		}
	}
}

func (c *chatClient) send(t testing.TB, message string) {
	t.Helper()
	if _, err := io.WriteString(c.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
}

// close ends the client. It may be called repeatedly, and on a nil client.
func (c *chatClient) close() {
	if c == nil || c.cmd.ProcessState != nil {
		return
	}
	_ = c.in.Close()
	_ = c.cmd.Wait() // the exit status does not matter here
}
