// Package demo runs a scripted agent against a real proxy in front of a real MCP server, and prints
// which calls pass. The petrigate program itself acts as both the proxy and the server. The package
// compares each reply with the expected one, and checks the call totals against the audit log and
// the server's log.
package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

//go:embed demo.rules
var ruleText string

//go:embed demo.net.yaml
var netText string

// Run plays the script and prints it to out. It runs the program exe as the proxy ("serve") and as
// the proxy's server ("demo-upstream"; see [Serve]). When Run returns, no files or processes are
// left behind.
func Run(ctx context.Context, exe string, out io.Writer, ink text.Ink) error {
	dir, err := os.MkdirTemp("", "petrigate-demo-")
	if err != nil {
		return fmt.Errorf("creating a directory for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeFiles(dir, exe); err != nil {
		return err
	}
	p := &printer{out, ink}
	p.opening(ruleText, netText)
	a, err := startAgent(ctx, exe, dir)
	if err != nil {
		return err
	}
	made, err := p.play(ctx, a, script())
	if closing := a.close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("running the demo: %w%s", err, a.proxyLog())
	}
	seen, err := readRecords(dir)
	if err != nil {
		return err
	}
	return p.ending(made, seen)
}

// writeFiles writes the proxy's configuration to dir.
func writeFiles(dir, exe string) error {
	config := fmt.Sprintf(`version: 1
mcpServers:
  demo: { command: %s, args: [demo-upstream, --record, %s], prefix: "" }
rules: [{ file: demo.rules }]
nets: [{ file: demo.net.yaml }]
state: { driver: memory }
audit: { file: audit.jsonl }
log: { level: error }
`, quoted(exe), quoted(filepath.Join(dir, "calls.txt")))
	for name, text := range map[string]string{"petrigate.yaml": config, "demo.rules": ruleText, "demo.net.yaml": netText} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing the configuration of the demo: %w", err)
		}
	}
	return nil
}

// quoted quotes a path for use in the configuration file. It doubles dollar signs, because a single
// one introduces a variable.
func quoted(path string) string {
	text, err := json.Marshal(strings.ReplaceAll(path, "$", "$$"))
	if err != nil {
		panic(err) // cannot happen: any string can be marshaled
	}
	return string(text)
}
