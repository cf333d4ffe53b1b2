package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Serve runs the demo's MCP server over stdio until EOF. If record is not empty, Serve appends a
// line to the file with that name for each tool call that it executes.
func Serve(ctx context.Context, in io.Reader, out io.Writer, record string) error {
	executed := io.Discard
	if record != "" {
		f, err := os.OpenFile(record, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("opening the record of the calls: %w", err)
		}
		defer func() { _ = f.Close() }()
		executed = f
	}
	if err := server.NewStdioServer(newServer(executed)).Listen(ctx, in, out); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// newServer returns a server with tools that work on a new project. Whenever a tool runs, the
// server writes the name of the tool to the log of executed tools.
func newServer(executed io.Writer) *server.MCPServer {
	s := server.NewMCPServer("petrigate-demo", "1.0.0", server.WithToolCapabilities(false))
	p := newProject()
	for _, t := range p.tools() {
		s.AddTool(mcp.NewToolWithRawSchema(t.name, t.description, schema(t.args)),
			func(_ context.Context, c mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return p.call(t, c, executed)
			})
	}
	return s
}

// schema converts a declaration such as "path:string fail:boolean" to a JSON schema for the
// arguments.
func schema(args string) json.RawMessage {
	var properties []string
	for arg := range strings.FieldsSeq(args) {
		name, kind, _ := strings.Cut(arg, ":")
		properties = append(properties, fmt.Sprintf(`%q:{"type":%q}`, name, kind))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)
}
