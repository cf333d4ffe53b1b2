package demo

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A project holds the files, backups and counters that the demo's tools work on. Everything is in
// memory.
type project struct {
	mu      sync.Mutex
	files   map[string]string
	backups map[string]string
	pushes  int
	builds  int
}

func newProject() *project {
	return &project{
		files: map[string]string{
			"notes.txt":   "remember the milk",
			"report.md":   "# Quarterly report",
			"invoice.csv": "4711,1200.00",
		},
		backups: map[string]string{},
	}
}

// A tool is one of the server's tools. Its args field declares the arguments in the form
// "path:string fail:boolean".
type tool struct {
	name, description, args string
	run                     func(mcp.CallToolRequest) (string, error)
}

func (p *project) tools() []tool {
	return []tool{
		{"list_files", "Lists the files of the project.", "", p.list},
		{"backup", "Copies a file to the backup store.", "path:string fail:boolean", p.backup},
		{"delete", "Deletes a file.", "path:string", func(c mcp.CallToolRequest) (string, error) { return p.remove(c.GetString("path", "")) }},
		{"bash", "Runs a shell command.", "command:string", p.bash},
		{"push", "Pushes a branch.", "branch:string", p.push},
		{"lint", "Lints the project.", "", p.lint},
		{"test", "Tests the project.", "fail:boolean", p.test},
		{"build", "Builds the project.", "", p.build},
		{"deploy", "Deploys the last build.", "env:string", p.deploy},
	}
}

// call runs the tool t. Before that, it writes the name of the tool to the log of executed tools.
// Only one tool runs at a time.
func (p *project) call(t tool, c mcp.CallToolRequest, executed io.Writer) (*mcp.CallToolResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := fmt.Fprintln(executed, t.name); err != nil {
		return nil, err
	}
	said, err := t.run(c)
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	return mcp.NewToolResultText(said), nil
}

func (p *project) list(mcp.CallToolRequest) (string, error) {
	return strings.Join(slices.Sorted(maps.Keys(p.files)), "\n"), nil
}

func (p *project) backup(c mcp.CallToolRequest) (string, error) {
	path := c.GetString("path", "")
	content, ok := p.files[path]
	switch {
	case c.GetBool("fail", false):
		return "", fmt.Errorf("backup of %s failed: the disk is full", path)
	case !ok:
		return "", fmt.Errorf("no such file: %s", path)
	}
	p.backups[path] = content
	return fmt.Sprintf("backed up %s (%d bytes)", path, len(content)), nil
}

func (p *project) remove(path string) (string, error) {
	if _, ok := p.files[path]; !ok {
		return "", fmt.Errorf("no such file: %s", path)
	}
	delete(p.files, path)
	return fmt.Sprintf("deleted %s, %d files are left", path, len(p.files)), nil
}

// bash simulates a shell command. It supports cat, echo, ls and rm.
func (p *project) bash(c mcp.CallToolRequest) (string, error) {
	words := strings.Fields(c.GetString("command", ""))
	if len(words) == 0 {
		return "", nil
	}
	last := words[len(words)-1]
	switch words[0] {
	case "ls":
		return p.list(c)
	case "echo":
		return strings.Join(words[1:], " "), nil
	case "rm":
		return p.remove(last)
	case "cat":
		if content, ok := p.files[last]; ok {
			return content, nil
		}
		return "", fmt.Errorf("cat: %s: no such file", last)
	}
	return "", fmt.Errorf("bash: %s: command not found", words[0])
}

func (p *project) push(c mcp.CallToolRequest) (string, error) {
	p.pushes++
	return fmt.Sprintf("pushed %s (push number %d)", c.GetString("branch", "main"), p.pushes), nil
}

func (p *project) lint(mcp.CallToolRequest) (string, error) { return "lint: no problems", nil }

func (p *project) test(c mcp.CallToolRequest) (string, error) {
	if c.GetBool("fail", false) {
		return "", errors.New("test: 1 of 42 tests failed")
	}
	return "test: 42 tests passed", nil
}

func (p *project) build(mcp.CallToolRequest) (string, error) {
	p.builds++
	return fmt.Sprintf("built version 1.0.%d", p.builds), nil
}

func (p *project) deploy(c mcp.CallToolRequest) (string, error) {
	return fmt.Sprintf("deployed version 1.0.%d to %s", p.builds, c.GetString("env", "production")), nil
}
